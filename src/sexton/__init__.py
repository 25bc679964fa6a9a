"""Sexton looks after the sessions of long-running AI agents.

```python
with sexton.open() as sexton_, sexton_.worker() as worker:
    session = worker.session("telegram:42", source="telegram")
    session.append(role="user", content="hello")
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sexton.version import __version__

if TYPE_CHECKING:
    from sexton.errors import (
        BreakerOpen,
        BudgetExceeded,
        SessionEnded,
        SessionError,
        SessionFenced,
        SextonError,
    )
    from sexton.sessions.model import Opened, Previous
    from sexton.wiring import Sexton, open

__all__ = [
    "BreakerOpen",
    "BudgetExceeded",
    "Opened",
    "Previous",
    "SessionEnded",
    "SessionError",
    "SessionFenced",
    "Sexton",
    "SextonError",
    "__version__",
    "open",
]


def __getattr__(name: str) -> Any:
    """What there is, loaded when it is first named: `import sexton` alone stays cheap."""
    if name not in __all__:
        raise AttributeError(f"module 'sexton' has no attribute '{name}'")
    module = _ELSEWHERE.get(name, "sexton.errors")
    return getattr(__import__(module, fromlist=[name]), name)


_ELSEWHERE = {
    "Opened": "sexton.sessions.model",
    "Previous": "sexton.sessions.model",
    "Sexton": "sexton.wiring",
    "open": "sexton.wiring",
}
