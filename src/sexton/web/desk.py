"""What do the API and the pages work with?"""

from __future__ import annotations

from dataclasses import dataclass

from sexton.bootstrap import Sexton
from sexton.web.access.keys import Keys
from sexton.web.rendering import Templates


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The house and everything that is asked of it through the web."""

    house: Sexton
    keys: Keys
    templates: Templates
    is_keeping: bool = False
