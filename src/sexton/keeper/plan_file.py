"""How does a plan travel as a file, and how is an edited one noticed?

The digest covers everything but itself, in canonical form: white space is no edit, anything
else is. It is made with the ledger's key, so nobody without the ledger can write a plan.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, assert_never

from sexton.core.plan import (
    Action,
    ArchiveSession,
    EndSession,
    Held,
    Plan,
    ReapSession,
    Reason,
    RemoveFiles,
    Seen,
    TrashSession,
    WarnSession,
)
from sexton.core.session import Limit
from sexton.errors import PlanEdited, PlanForeign, PlanInvalid
from sexton.keeper.sealing import SCHEME, digest_of, is_digest_of

FORMAT = "sexton-plan"
VERSION = 2
LARGEST = 2**63 - 1
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def write_plan(plan: Plan, key: bytes) -> str:
    """The plan as text that `read_plan` turns into an equal plan, with the same key."""
    return json.dumps(plan_document(plan, key), indent=2) + "\n"


def plan_document(plan: Plan, key: bytes) -> dict[str, Any]:
    """The plan as the JSON object that is written, with its digest."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "id": plan.id,
        "ledger": plan.ledger,
        "policies": plan.policies,
        "made_at": _stamp(plan.made_at),
        "homes": list(plan.homes),
        "observed": list(plan.observed),
        "actions": [
            _write_action(action) | {"observed": action.seen.home in plan.observed}
            for action in plan.actions
        ],
        "held": [_write_held(held) for held in plan.held],
    }
    return {**content, "digest": digest_of(content, key)}


def read_plan(text: str, ledger: str, key: bytes) -> Plan:
    """The plan a text holds, made for the ledger with that id and key.

    PlanInvalid if the text is no plan, PlanForeign if the plan is another ledger's, PlanEdited if
    somebody else than Sexton wrote it or changed it.
    """
    content = _parse(text)
    digest = content.pop("digest", None)
    if not isinstance(digest, str):
        raise PlanInvalid("the file is not a plan: it has no digest")
    if not digest.startswith(SCHEME):
        raise PlanInvalid(
            "the digest of the plan was made without the key of a ledger",
            hint="Make a new plan with 'sexton plan'; this Sexton applies no plan of an older one.",
        )
    made_for = content.get("ledger")
    if isinstance(made_for, str) and made_for != ledger:
        raise PlanForeign(f"the plan was made for ledger {made_for}, this is {ledger}")
    if not is_digest_of(content, key, digest):
        raise PlanEdited("the plan was changed after it was made")
    if (content.get("format"), content.get("version")) != (FORMAT, VERSION):
        raise PlanInvalid(
            f"the file is no plan of version {VERSION}",
            hint="Make one with the Sexton that is to apply it.",
        )
    try:
        return _read_plan(content)
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as problem:
        raise PlanInvalid(f"the file is not a plan: {problem!r}") from None


def _parse(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text, object_pairs_hook=_unrepeated)
    except (ValueError, RecursionError) as problem:
        raise PlanInvalid(f"the file is not a plan: {problem}") from None
    if not isinstance(content, dict):
        raise PlanInvalid("the file is not a plan: it holds no JSON object")
    return content


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a name given twice would show a person one value and apply the other."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise PlanEdited("the plan was changed after it was made: it names something twice")
    return found


def _write_action(action: Action) -> dict[str, Any]:
    written: dict[str, Any] = {
        "kind": action.kind,
        "session": _write_seen(action.seen),
        "reason": _write_reason(action.reason),
        "reversible": action.reversible,
    }
    match action:
        case EndSession():
            return written
        case ReapSession(dead=dead):
            return written | {"dead": [list(each) for each in dead]}
        case WarnSession(limit=limit):
            return written | {"limit": int(limit)}
        case RemoveFiles(source=source, size=size, archived=archived):
            return written | {"source": source, "size": size, "archived": archived}
        case TrashSession():
            return written | _write_leaving(action)
        case ArchiveSession(tree=tree):
            return written | _write_leaving(action) | {"tree": tree}
        case _:
            assert_never(action)


def _write_leaving(action: TrashSession | ArchiveSession) -> dict[str, Any]:
    return {
        "source": action.source,
        "size": action.size,
        "conversation": action.conversation,
    }


def _write_held(held: Held) -> dict[str, Any]:
    return {
        "session": _write_seen(held.seen),
        "wanted": _write_reason(held.wanted),
        "holding": _write_reason(held.holding),
        "by": held.by,
    }


def _write_seen(seen: Seen) -> dict[str, Any]:
    return {
        "ref": seen.ref,
        "home": seen.home,
        "id": seen.id,
        "epoch": seen.epoch,
        "active_at": _stamp(seen.active_at),
        "message_count": seen.message_count,
        "turn_count": seen.turn_count,
        "pinned": seen.pinned,
    }


def _write_reason(reason: Reason) -> dict[str, str]:
    return {"code": reason.code, "text": reason.text}


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _read_plan(content: Mapping[str, Any]) -> Plan:
    return Plan(
        id=_text(content["id"]),
        ledger=_text(content["ledger"]),
        policies=_text(content["policies"]),
        made_at=_moment(content["made_at"]),
        actions=tuple(_read_action(action) for action in content["actions"]),
        held=tuple(_read_held(held) for held in content["held"]),
        observed=tuple(_text(home) for home in content["observed"]),
        homes=tuple(_text(home) for home in content.get("homes", ())),  # an earlier one has none
    )


def _read_action(written: Mapping[str, Any]) -> Action:
    seen, reason = _read_seen(written["session"]), _read_reason(written["reason"])
    match written["kind"]:
        case "end":
            return EndSession(seen=seen, reason=reason)
        case "reap":
            dead = tuple((_text(worker), _number(beat)) for worker, beat in written["dead"])
            return ReapSession(seen=seen, reason=reason, dead=dead)
        case "warn":
            return WarnSession(seen=seen, reason=reason, limit=_limit(written["limit"]))
        case "remove_files":
            return RemoveFiles(
                seen=seen,
                reason=reason,
                source=_text(written["source"]),
                size=_number(written["size"]),
                archived=_flag(written["archived"]),
            )
        case "trash":
            return TrashSession(seen=seen, reason=reason, **_read_leaving(written))
        case "archive":
            tree = _maybe_text(written["tree"])
            return ArchiveSession(seen=seen, reason=reason, tree=tree, **_read_leaving(written))
        case kind:
            raise ValueError(f"unknown action {kind!r}")


def _read_leaving(written: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "source": _text(written["source"]),
        "size": _number(written["size"]),
        "conversation": _maybe_text(written["conversation"]),
    }


def _read_held(written: Mapping[str, Any]) -> Held:
    return Held(
        seen=_read_seen(written["session"]),
        wanted=_read_reason(written["wanted"]),
        holding=_read_reason(written["holding"]),
        by=_text(written.get("by", "")),  # a plan of an earlier Sexton does not say
    )


def _read_seen(written: Mapping[str, Any]) -> Seen:
    return Seen(
        ref=_number(written["ref"]),
        home=_text(written["home"]),
        id=_text(written["id"]),
        epoch=_number(written["epoch"]),
        active_at=_moment(written["active_at"]),
        message_count=_number(written["message_count"]),
        turn_count=_number(written["turn_count"]),
        pinned=_flag(written["pinned"]),
    )


def _read_reason(written: Mapping[str, Any]) -> Reason:
    return Reason(_text(written["code"]), _text(written["text"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not text")
    if _UNSTORABLE.search(value):
        raise ValueError(f"{value!r} contains a NUL character or a lone surrogate")
    return value


def _maybe_text(value: object) -> str | None:
    return None if value is None else _text(value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is not true or false")
    return value


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is not a whole number")
    if not 0 <= value <= LARGEST:
        raise ValueError(f"{value!r} is not a number a ledger can hold")
    return value


def _limit(value: object) -> Limit:
    number = _number(value)
    if number > sum(Limit):
        raise ValueError(f"{value!r} is not a limit")
    return Limit(number)


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_text(value))
    if moment.tzinfo is None:
        raise ValueError(f"{value!r} names no time zone")
    return moment.astimezone(UTC)
