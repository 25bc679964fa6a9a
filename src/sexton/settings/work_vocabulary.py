"""Which kinds of value do the settings of finalizers and notifications have?

An address or the name of a variable is never shown in a message: what was written there by mistake
may be a secret.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

from sexton.settings.kinds import Kind, Refused, only, whole_guess, within
from sexton.settings.settings_problems import did_you_mean
from sexton.settings.settings_values import EVENTS, PREFIX, FinalizerKind
from sexton.settings.vocabulary import MOST, PATH

LEAST_TOKENS: Final = 1000
MOST_AT_ONCE: Final = 256
MOST_PORT: Final = 65535

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_SECRET = re.compile(
    r"(sk|pk|rk|gsk|hf|gh[a-z]|glpat|xox[a-z]|whsec)[-_].*|AKIA[A-Z0-9]{12,}"
    r"|.*://.*|(?=.*[a-z])(?=.*[0-9]).{20,}"
)
_PLACE_OF_CHATS = "/chat/completions"


def _plain_name(value: object) -> str:
    text = only(str, value)
    if not _PLAIN_NAME.fullmatch(text):
        raise Refused
    return text


def _kind(value: object) -> FinalizerKind:
    text = only(str, value)
    if text not in set(FinalizerKind):
        near = did_you_mean(text.lower(), map(str, FinalizerKind))
        raise Refused(f"did you mean '{near}'?" if near else "")
    return FinalizerKind(text)


def _event(value: object) -> str:
    text = only(str, value)
    if text not in EVENTS:
        near = did_you_mean(text.lower().replace("-", "_"), EVENTS)
        raise Refused(f"did you mean '{near}'?" if near else "")
    return text


def _command(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        raise Refused("write the program and each argument as an item of a list")
    words = only(list, value)
    for place, word in enumerate(words):
        if not isinstance(word, str):
            raise Refused(f"item {place + 1} is no text; put it in quotes")
        if "\0" in word or any("\ud800" <= character <= "\udfff" for character in word):
            raise Refused(f"item {place + 1} can not be given to a program")
    if not words or not words[0]:
        raise Refused("the first item is the program to run")
    return tuple(words)


def _variable(value: object) -> str:
    text = only(str, value, "write the name of a variable")
    if _SECRET.fullmatch(text):
        raise Refused("this looks like the secret itself: put it in a variable and write its name")
    if not _VARIABLE.fullmatch(text):
        raise Refused("a name has letters, digits and underscores only")
    if text.startswith(PREFIX):
        raise Refused(f"names that start with {PREFIX} are for settings")
    return text


def _address(value: object) -> str:
    text = only(str, value)
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise Refused from None
    if not text.isascii() or not text.isprintable() or " " in text:
        raise Refused("it has characters that an address can not have")
    if parts.scheme not in ("http", "https"):
        raise Refused("it must start with http:// or https://")
    if "@" in parts.netloc:
        raise Refused("it holds a user or a password; name a variable for the secret instead")
    if not host or port == 0:
        raise Refused("the server is missing")
    return text


def _endpoint(value: object) -> str:
    text = _address(value)
    if text.rstrip("/").endswith(_PLACE_OF_CHATS):
        raise Refused(f"leave out {_PLACE_OF_CHATS}")
    if "?" in text or "#" in text:
        raise Refused("leave out what begins with ? or #, for more is added at the end")
    return text


def _from(minimum: int, maximum: int) -> Kind:
    """Whole numbers between the two."""
    bound = f"from {minimum} to {maximum}" if maximum < MOST else f"at least {minimum}"

    def read(value: object) -> int:
        guess = whole_guess(value)
        hint = f"write {guess}" if guess else ""
        return within(only(int, value, hint), minimum, maximum)

    return Kind(
        words=f"a whole number, {bound}",
        read=read,
        schema={"type": "integer", "minimum": minimum, "maximum": maximum},
    )


FINALIZER_NAME = Kind(
    words="a name of letters, digits, dots, dashes and underscores",
    read=_plain_name,
    schema={"type": "string", "pattern": f"^{_PLAIN_NAME.pattern}$"},
)
FINALIZER_KIND = Kind(
    words="one of memory, command, webhook, python",
    read=_kind,
    schema={"type": "string", "enum": [str(kind) for kind in FinalizerKind]},
    show=str,
)
EVENT = Kind(
    words=f"one of {', '.join(EVENTS)}",
    read=_event,
    schema={"type": "string", "enum": list(EVENTS)},
)
COMMAND = Kind(
    words="a list of a program and its arguments",
    read=_command,
    schema={"type": "array", "items": {"type": "string"}, "minItems": 1},
    show=list,
)
VARIABLE = Kind(
    words="the name of an environment variable, like OPENAI_API_KEY",
    read=_variable,
    schema={"type": "string", "pattern": f"^{_VARIABLE.pattern}$"},
    secret=True,
)
ADDRESS = Kind(
    words="an address like https://example.org/hook",
    read=_address,
    schema={"type": "string", "pattern": "^https?://"},
    secret=True,
)
ENDPOINT = Kind(
    words="an address like http://127.0.0.1:8080/v1",
    read=_endpoint,
    schema={"type": "string", "pattern": "^https?://"},
    secret=True,
)
FILE = Kind(words="a file", read=PATH.read, schema=PATH.schema)
TOKENS = _from(LEAST_TOKENS, MOST)
AT_ONCE = _from(1, MOST_AT_ONCE)
PORT = _from(1, MOST_PORT)
