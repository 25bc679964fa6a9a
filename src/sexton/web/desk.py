"""What do the API and the pages work with?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sexton.operations.asker import Asker
from sexton.web.access.access_keys import Keys
from sexton.web.lookout import Lookout
from sexton.web.next_sweep import NextSweep
from sexton.web.proposals import Proposals
from sexton.web.rendering import Templates
from sexton.web.sweeps import Sweeps
from sexton.wiring import Sexton

if TYPE_CHECKING:
    from sexton.web.answers.activity import Activity
    from sexton.web.answers.overview_answers import Counts
    from sexton.web.events import News


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The house and everything that is asked of it through the web."""

    house: Sexton
    asker: Asker
    keys: Keys
    templates: Templates
    lookout: Lookout
    activity: Activity
    counts: Counts
    news: News
    proposals: Proposals
    next_sweep: NextSweep
    sweeps: Sweeps = field(default_factory=Sweeps)
    is_keeping: bool = False
    shows_messages: bool = True
