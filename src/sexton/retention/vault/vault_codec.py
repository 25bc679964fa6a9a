"""How is a vault file compressed, and how is one opened that somebody may have tampered with?

What comes out is bounded by what the ledger says went in, a block at a time, so that a file
which claims to be small and is not costs neither memory nor time.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import ClassVar, Protocol

from sexton.errors import VaultDamaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK = 1 << 17
_ZSTD: dict[int, int] = {
    zstd.CompressionParameter.compression_level: 3,
    zstd.CompressionParameter.checksum_flag: 1,  # so that `zstd -t` can tell, too
}
_LARGEST_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
_GZIP_LEVEL = 6
_GZIP_STREAM = 31


class Format(StrEnum):
    """How vault files are compressed; the value is how their names end."""

    ZSTD = "zst"
    GZIP = "gz"


class Compressor(Protocol):
    """Takes bytes as they come; what it gives back is the file."""

    def more(self, data: bytes) -> bytes:
        """What can be written of the stream so far."""

    def last(self, data: bytes) -> bytes:
        """The rest of the stream."""


def compressor(format: Format) -> Compressor:
    """Begin a compressed stream."""
    return _Gzip() if format is Format.GZIP else _Zstd()


class _Gzip:
    def __init__(self) -> None:
        self._stream = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_STREAM)

    def more(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def last(self, data: bytes) -> bytes:
        return self._stream.compress(data) + self._stream.flush()


class _Zstd:
    """A stream of a compressor that is used again: to make one costs as much as a small file."""

    _idle: ClassVar[list[zstd.ZstdCompressor]] = []

    def __init__(self) -> None:
        try:
            self._stream = self._idle.pop()
        except IndexError:
            self._stream = zstd.ZstdCompressor(options=_ZSTD)

    def more(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def last(self, data: bytes) -> bytes:
        rest = self._stream.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)
        self._idle.append(self._stream)
        return rest


def decompressed(chunks: Iterable[bytes], format: Format, limit: int) -> Iterator[bytes]:
    """The contents of exactly one stream, in blocks; VaultDamaged beyond the limit."""
    opened = _Gunzip() if format is Format.GZIP else zstd.ZstdDecompressor(options=_LARGEST_WINDOW)
    total = 0
    try:
        for block in _blocks(opened, chunks):
            total += len(block)
            if total > limit:
                raise VaultDamaged(f"there is more in it than the {limit} bytes written")
            yield block
    except (zstd.ZstdError, zlib.error) as problem:
        raise VaultDamaged(f"it can not be decompressed: {problem}") from None
    if not opened.eof:
        raise VaultDamaged("it ends too early")


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def _blocks(opened: _Decompressor, chunks: Iterable[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        if opened.eof:
            raise VaultDamaged("something follows its end")
        data = chunk
        while True:
            block = opened.decompress(data, BLOCK)
            if block:
                yield block
            if opened.eof or opened.needs_input:
                break
            data = b""
        if opened.unused_data:
            raise VaultDamaged("something follows its end")


class _Gunzip:
    """A gzip stream that is read as a zstd one is."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP_STREAM)
        self._full = False

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def needs_input(self) -> bool:
        return not self._full

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        block = self._stream.decompress(self._stream.unconsumed_tail + data, max_length)
        self._full = len(block) == max_length
        return block
