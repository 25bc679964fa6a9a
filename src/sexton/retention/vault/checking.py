"""Are these the lines that were written, all of them and nothing else?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

from sexton.errors import VaultDamaged
from sexton.retention.vault.lines import LONGEST
from sexton.retention.vault.seals import MANIFEST, SEAL, Seals, Tally

MESSAGE = b'{"type":"message",'
FILE = b'{"type":"file",'


def split_lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a stream, each with its end."""
    waiting: list[bytes] = []
    weight = 0
    for block in blocks:
        end = block.rfind(b"\n") + 1
        if end:
            yield from b"".join((*waiting, block[:end])).splitlines(keepends=True)
            waiting.clear()
            weight = 0
        waiting.append(block[end:])
        weight += len(block) - end
        if weight > LONGEST:
            raise VaultDamaged("a line of it is too long")
    if weight:
        raise VaultDamaged("its last line is not complete")


class CheckedLines:
    """The lines of a stream as they go by; seals and the manifest only if they hold."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._lines = split_lines(blocks)
        self.tally: Tally | None = None
        """What there was, once the last line went by."""

    def __iter__(self) -> Iterator[bytes]:
        first = next(self._lines, b"")
        yield first
        seals, digest = Seals(first), sha256()
        messages = files = lines = size = 0
        for line in self._lines:
            if line.startswith(SEAL):
                if line != seals.seal(messages, files, lines, size, digest.hexdigest()):
                    raise VaultDamaged("a session in it is not as it was written")
                digest = sha256()
                messages = files = lines = size = 0
            elif line.startswith(MANIFEST):
                self._end(line, seals, lines)
            else:
                digest.update(line)
                lines += 1
                size += len(line)
                messages += line.startswith(MESSAGE)
                files += line.startswith(FILE)
            yield line
        if self.tally is None:
            raise VaultDamaged("its manifest is missing")

    def _end(self, line: bytes, seals: Seals, unsealed: int) -> None:
        manifest, self.tally = seals.manifest()
        if unsealed or line != manifest:
            raise VaultDamaged("its manifest does not match what is in it")
        if next(self._lines, None) is not None:
            raise VaultDamaged("something follows its manifest")
