"""How fast are sessions put away, how small do they get, and how fast are their files found?"""

from __future__ import annotations

import gzip
import json
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from bench.figures import OURS, Row, Series, Unit, against, alone, at_most
from bench.scene import Scene
from bench.transcripts import Said, transcript
from sexton.homes.hermes.session_files import HermesFileNames
from sexton.retention.files.flat_directory import FlatFiles
from sexton.retention.files.own_directories import OwnFiles
from sexton.retention.home_storage import SessionFiles
from sexton.retention.model import Header, SessionContent, StoredMessage, VaultKind
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.vault_codec import Format, compressor
from sexton.retention.vault.vault_writing import write_sessions

NAME = "archive"
GZIP = "gzip -6"
FILES = 20_000
BUNDLE = 2_000
TINY = (b"please look at this again", b"I did, and it is the same as before.", b"thanks")
HEADER = Header(
    kind=VaultKind.ARCHIVE,
    home="native",
    ledger="bench",
    schema_version=1,
    made_at=datetime(2026, 1, 1, tzinfo=UTC),
)

Work = Callable[[], int]


def run(scene: Scene) -> Iterator[Row]:
    """Processor time, which other users of the machine hardly change; and bytes."""
    said = [transcript(seed) for seed in range(max(2, scene.sizes.store // 2000))]
    yield from _compression(scene, said)
    yield from _acts(scene, said)
    yield _bundles(scene)
    yield from _scans(scene)


def _compression(scene: Scene, said: Sequence[Said]) -> Iterator[Row]:
    raw = [_raw(each) for each in said]
    work: Mapping[str, Work] = {
        OURS: lambda: sum(len(compressor(Format.ZSTD).last(each)) for each in raw),
        GZIP: lambda: sum(len(zlib.compress(each, 6)) for each in raw),
    }
    times, sizes = _rounds(scene, work, len(said))
    what = f"a transcript of {sum(map(len, raw)) // len(raw) // 1000} KB"
    yield against(Series(NAME, f"{what} compressed", Unit.CPU, times), GZIP, 4)
    yield against(Series(NAME, f"{what}, its size", Unit.BYTES, sizes), GZIP, 1)


def _acts(scene: Scene, said: Sequence[Said]) -> Iterator[Row]:
    """With everything that belongs to it: written, synced, named, read back and compared."""
    vault = FileVault(scene.place / "archive")
    vault.establish()
    sessions = [_session(str(number), each) for number, each in enumerate(said)]
    work: Mapping[str, Work] = {
        OURS: lambda: sum(vault.write(vault.new_name(), HEADER, [each]).bytes for each in sessions),
        GZIP: lambda: sum(_put_away(scene.place / "gzip", each) for each in sessions),
    }
    times, _ = _rounds(scene, work, len(said))
    what = "a transcript put away, synced, read back"
    yield against(Series(NAME, what, Unit.CPU, times), GZIP)


def _bundles(scene: Scene) -> Row:
    vault = FileVault(scene.place / "trash")
    vault.establish()
    count = scene.sizes.store * 63 // 100
    tiny = [
        _session(f"20260101_120000_{number:06x}", [("user", text.decode()) for text in TINY])
        for number in range(count)
    ]

    def work() -> int:
        parts = [tiny[at : at + BUNDLE] for at in range(0, count, BUNDLE)]
        return sum(vault.write(vault.new_name(), HEADER, part).bytes for part in parts)

    times, _ = _rounds(scene, {OURS: work}, 1)
    return alone(Series(NAME, f"{count:,} tiny sessions put away", Unit.CPU, times))


def _scans(scene: Scene) -> Iterator[Row]:
    """Files as Hermes keeps them, in one directory, and as we do, in one for each session."""
    count = min(FILES, scene.sizes.store)
    flat, own = scene.place / "sessions", scene.place / "own"
    flat.mkdir()
    own.mkdir(mode=0o700)
    ours = OwnFiles(own, "native")
    for number in range(count):
        id = f"20260101_120000_{number:06x}"
        (flat / f"session_{id}.json").touch()
        (own / ours.owner(id)).mkdir()
        (own / ours.owner(id) / "report.txt").touch()
    yield _scan(scene, f"{count:,} session files scanned", FlatFiles(flat, HermesFileNames()))
    yield _scan(scene, f"{count:,} files in directories of their own scanned", ours)


def _scan(scene: Scene, what: str, files: SessionFiles) -> Row:
    count, taken = min(FILES, scene.sizes.store), []
    for _ in range(scene.sizes.few):
        begun = time.perf_counter()
        found = sum(1 for each in files.scan() if each.owner)
        taken.append(1000 * (time.perf_counter() - begun))
        if found != count:
            raise RuntimeError(f"a scan found {found} files instead of {count}")
    return at_most(Series(NAME, what, Unit.MILLISECONDS, {OURS: taken}), 2000)


def _rounds(
    scene: Scene, work: Mapping[str, Work], each: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Milliseconds and bytes by contender, of rounds that interleave."""
    scene.say(f"{NAME}: {', '.join(work)}")
    times: dict[str, list[float]] = {name: [] for name in work}
    sizes: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(scene.sizes.few):
        for name, job in work.items():
            begun = time.process_time()
            sizes[name].append(job() / each)
            times[name].append(1000 * (time.process_time() - begun) / each)
    return times, sizes


def _session(id: str, said: Said) -> SessionContent:
    messages = [
        StoredMessage(seq, 1_700_000_000_000_000 + seq * 7_654_321, role, 1, text.encode(), None)
        for seq, (role, text) in enumerate(said, 1)
    ]
    numbers = dict.fromkeys([f"column_{number}" for number in range(24)], 0)
    row = {"id": id, "key": f"telegram:{id}", "source": "telegram", "state": "ended", **numbers}
    return SessionContent(row=row, messages=messages)


def _raw(said: Said) -> bytes:
    parts: list[bytes] = []
    write_sessions(HEADER, [_session("s", said)], parts.append)
    return b"".join(parts)


def _put_away(target: Path, session: SessionContent) -> int:
    """The same act as one would write it with what Python has."""
    part, digest = target.with_suffix(".part"), sha256()
    with open(part, "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", compresslevel=6) as stream:
            for message in session.messages:
                fields = {**message._asdict(), "content": (message.content or b"").decode()}
                line = json.dumps(fields, ensure_ascii=False).encode() + b"\n"
                digest.update(line)
                stream.write(line)
        file.flush()
        os.fsync(file.fileno())
    os.rename(part, target)
    again = sha256()
    with gzip.open(target, "rb") as stream:
        while block := stream.read(1 << 17):
            again.update(block)
    if again.digest() != digest.digest():
        raise RuntimeError("gzip gave back something else")
    return target.stat().st_size
