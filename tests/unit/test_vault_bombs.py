"""A vault file that is much more than it seems costs neither memory nor work."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from sexton.errors import VaultDamaged
from sexton.retention.model import Written
from sexton.retention.vault import directory
from sexton.retention.vault import vault_codec as codec
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.lines import LONGEST, header_line
from sexton.retention.vault.vault_codec import BLOCK, Format, compressor, decompressed
from tests.unit.vault_scene import HEADER, taken, zstd

pytestmark = pytest.mark.slow

MB = 1_000_000


@pytest.fixture(params=list(Format))
def format(request: pytest.FixtureRequest) -> Format:
    chosen: Format = request.param
    return chosen


def test_bombs_are_refused_in_little_memory_and_work(format: Format, tmp_path: Path) -> None:
    bomb = packed(format, header_line(HEADER), b'{"type":"data","text":"%b"}\n' % (b"0" * MB), 100)
    vault, name = planted(tmp_path, format, bomb)
    # Of 100 MB: what was written and a block, once to verify and twice to read.
    with bounded(memory=8 * MB, unpacked=3 * (MB + BLOCK)):
        refuse(vault, name, known(bomb, raw_bytes=MB))


def test_a_line_without_an_end_is_refused_in_bounded_memory(format: Format, tmp_path: Path) -> None:
    bomb = packed(format, header_line(HEADER), b"0" * MB, 120)
    vault, name = planted(tmp_path, format, bomb)
    with bounded(memory=2 * LONGEST, unpacked=3 * (LONGEST + BLOCK)):
        refuse(vault, name, known(bomb, raw_bytes=500 * MB))


def test_nothing_is_read_of_a_file_whose_digest_is_wrong(format: Format, tmp_path: Path) -> None:
    bomb = packed(format, header_line(HEADER), b"\n" * MB, 60)
    vault, name = planted(tmp_path, format, bomb)
    with bounded(memory=2 * MB, unpacked=0):
        refuse(vault, name, known(bomb + b"!", raw_bytes=500 * MB))


def test_a_nest_of_brackets_is_refused(format: Format, tmp_path: Path) -> None:
    for nest in (b"[" * 500_000, b'{"a":' * 500_000):
        for first in (b"", header_line(HEADER)):
            bomb = packed(format, first + nest + b"\n", b"", 0)
            vault, name = planted(tmp_path, format, bomb)
            refuse(vault, name, known(bomb, raw_bytes=MB * 5), verify=False)


def test_a_file_that_grew_huge_is_not_even_read(tmp_path: Path) -> None:
    vault, name = planted(tmp_path, Format.ZSTD, b"small")
    os.truncate(tmp_path / "vault" / name, 4_000 * MB)
    with bounded(memory=MB, unpacked=0, read=0):
        refuse(vault, name, known(b"small", raw_bytes=MB))


def test_a_stream_that_asks_for_a_huge_window_is_refused() -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    stream = zstd.ZstdCompressor(options=options)
    bomb = stream.compress(b"x") + stream.flush()
    with bounded(memory=MB, unpacked=0), pytest.raises(VaultDamaged) as refused:
        list(decompressed([bomb], Format.ZSTD, 1000))
    assert isinstance(refused.value.__context__, zstd.ZstdError)


def test_an_export_stops_where_the_file_should_end(format: Format, tmp_path: Path) -> None:
    bomb = packed(format, b"", b"\n" * MB, 60)
    vault, name = planted(tmp_path, format, bomb)
    target = tmp_path / "export.jsonl"
    with bounded(memory=3 * MB, unpacked=MB + BLOCK), pytest.raises(VaultDamaged):
        vault.export(name, known(bomb, raw_bytes=MB), target)
    assert not target.exists()


def packed(format: Format, first: bytes, block: bytes, times: int) -> bytes:
    stream = compressor(format)
    return (
        stream.more(first) + b"".join(stream.more(block) for _ in range(times)) + stream.last(b"")
    )


def planted(tmp_path: Path, format: Format, data: bytes) -> tuple[FileVault, str]:
    vault = FileVault(tmp_path / "vault", format)
    vault.establish()
    name = vault.new_name()
    (tmp_path / "vault" / name).write_bytes(data)
    return vault, name


def known(data: bytes, raw_bytes: int) -> Written:
    return Written(
        bytes=len(data),
        raw_bytes=raw_bytes,
        sha256=sha256(data).hexdigest(),
        sessions=1,
        messages=0,
        files=0,
    )


def refuse(vault: FileVault, name: str, expected: Written, *, verify: bool = True) -> None:
    if verify:
        with pytest.raises(VaultDamaged):
            vault.verify(name, expected)
    with pytest.raises(VaultDamaged):
        taken(vault, name, expected)


@contextmanager
def bounded(memory: float, unpacked: int, read: float = MB) -> Iterator[None]:
    """At most so many bytes are in memory at once, come out of a stream, and are read of a file."""
    seen = {"unpacked": 0, "read": 0}
    with pytest.MonkeyPatch.context() as patch:
        counted(patch, codec, "_blocks", seen, "unpacked")
        counted(patch, directory, "_chunks", seen, "read")
        tracemalloc.start()
        try:
            yield
            assert tracemalloc.get_traced_memory()[1] < memory
        finally:
            tracemalloc.stop()
    assert seen["unpacked"] <= unpacked
    assert seen["read"] <= read


def counted(
    patch: pytest.MonkeyPatch, module: ModuleType, name: str, seen: dict[str, int], what: str
) -> None:
    """Count the bytes that a generator of a module gives."""
    real = getattr(module, name)

    def counting(*given: object) -> Iterator[bytes]:
        for block in real(*given):
            seen[what] += len(block)
            yield block

    patch.setattr(module, name, counting)
