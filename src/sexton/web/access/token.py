"""Which token opens the API? One from the environment, or a file that only its user can read."""

from __future__ import annotations

import hmac
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sexton.errors import TokenUnsafe

VARIABLE = "SEXTON_TOKEN"
SHORTEST = 16
LONGEST = 1024


class Token:
    """The secret of this server, and where its user finds it."""

    def __init__(self, secret: str, file: Path | None) -> None:
        self._secret = secret.encode()
        self.file = file

    def matches(self, given: str) -> bool:
        """Whether somebody knows it; takes the same time whatever is given."""
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), self._secret)

    def sign(self, purpose: str, text: str) -> str:
        """A signature that only who knows the token can make, for one purpose."""
        return hmac.new(self._secret, f"{purpose}\0{text}".encode(), "sha256").hexdigest()

    def __repr__(self) -> str:
        return "Token(...)"


def find_token(environ: Mapping[str, str], file: Path) -> Token:
    """The token of the environment, else that of the file, which is made if need be."""
    given = environ.get(VARIABLE)
    if given is not None:
        _check(given, VARIABLE)
        return Token(given, None)
    try:
        return Token(_read(file), file)
    except FileNotFoundError:
        _make(file)
    return Token(_read(file), file)  # of several that start together the first one's counts


def _read(file: Path) -> str:
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise TokenUnsafe(f"the token in {file} can not be read: {problem.strerror}") from None
    with open(descriptor, encoding="utf-8", errors="replace") as opened:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise TokenUnsafe(f"{file} is no regular file")
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise TokenUnsafe(f"the token in {file} can be read or changed by others")
        found = opened.read(LONGEST + 2).removesuffix("\n")
    _check(found, str(file))
    return found


def _check(token: str, where: str) -> None:
    if not SHORTEST <= len(token) <= LONGEST or not token.isascii() or not token.isprintable():
        raise TokenUnsafe(
            f"the token of {where} is no token: {SHORTEST} printable characters at least",
            hint="Make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )


def _make(file: Path) -> None:
    """Write a fresh token under its name only when it is complete, over nothing."""
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "w", encoding="utf-8") as opened:
                opened.write(secrets.token_urlsafe(32) + "\n")
                opened.flush()
                os.fsync(descriptor)
            with suppress(FileExistsError):
                os.link(draft, file)
        finally:
            draft.unlink()
    except OSError as problem:
        raise TokenUnsafe(
            f"the token can not be written to {file}: {problem.strerror}",
            hint="Give a token in SEXTON_TOKEN, or make the directory writable for this user.",
        ) from None
