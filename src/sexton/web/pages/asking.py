"""What may the address of a page ask for?"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from sexton.core.session import NAME_LIMIT
from sexton.web.api.inputs import LARGEST, Storable

Word = Annotated[str, Query(min_length=1, max_length=NAME_LIMIT), Storable]
Row = Annotated[int, Query(ge=0, le=LARGEST)]
