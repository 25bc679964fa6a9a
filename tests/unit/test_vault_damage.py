"""A vault file that is not what was written is refused, whatever happened to it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.record import replace
from sexton.errors import VaultDamaged
from sexton.retention.model import SessionContent, Written
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.lines import header_line
from sexton.retention.vault.reading import Reader
from sexton.retention.vault.seals import FILE, MESSAGE, SEAL, CheckedLines, Seals
from sexton.retention.vault.vault_codec import Format, compressor, decompressed
from sexton.retention.vault.vault_writing import write_sessions
from tests.golden import golden
from tests.unit.vault_scene import HEADER, Plain, file, plain, put, session, taken

CONTENTS = [
    session("s1", [b"hello", b"\xff"], [file("a", "b.txt", data=b"some text"), file("c")]),
    replace(session("s2", [b"more"]), finalizations=[{"state": "done", "memo": b"\x80"}]),
]


class Hurt:
    """A file of two sessions to be damaged, on disk."""

    def __init__(self, place: Path, format: Format) -> None:
        self.vault = FileVault(place, format)
        self.vault.establish()
        self.name, self.written = put(self.vault, *CONTENTS)
        self.path = place / self.name
        self.whole = self.path.read_bytes()
        self.format = format

    def is_refused(self, data: bytes, expected: Written) -> bool:
        """Whether both ways of reading refuse that; if not, what comes back must be the same."""
        self.path.write_bytes(data)
        if _raises(lambda: self.vault.verify(self.name, expected)):
            assert _raises(lambda: taken(self.vault, self.name, expected))
            return True
        assert taken(self.vault, self.name, expected) == [plain(each) for each in CONTENTS]
        return False

    def known_by(self, data: bytes) -> Written:
        """What the ledger would hold if somebody had changed that, too."""
        return replace(self.written, bytes=len(data), sha256=sha256(data).hexdigest())

    def packed(self, lines: list[bytes]) -> bytes:
        return compressor(self.format).last(b"".join(lines))


def _raises(act: Callable[[], object]) -> bool:
    try:
        act()
    except VaultDamaged:
        return True
    return False


@pytest.fixture(params=list(Format))
def hurt(request: pytest.FixtureRequest, tmp_path: Path) -> Hurt:
    return Hurt(tmp_path / "vault", request.param)


def test_a_file_cut_off_at_any_byte_is_refused(hurt: Hurt) -> None:
    for end in range(len(hurt.whole)):
        assert hurt.is_refused(hurt.whole[:end], hurt.written)


def test_a_file_cut_off_at_any_byte_is_refused_by_what_is_in_it_alone(hurt: Hurt) -> None:
    for end in range(len(hurt.whole)):
        data = hurt.whole[:end]
        assert hurt.is_refused(data, hurt.known_by(data))


def test_a_bit_turned_anywhere_is_noticed(hurt: Hurt) -> None:
    chance = random.Random(5)
    for _ in range(1000):
        assert hurt.is_refused(turned(hurt.whole, chance), hurt.written)


def test_a_bit_turned_anywhere_is_noticed_by_what_is_in_it_alone_or_changes_nothing(
    hurt: Hurt,
) -> None:
    chance = random.Random(6)
    flipped = [turned(hurt.whole, chance) for _ in range(1000)]
    refused = sum(hurt.is_refused(data, hurt.known_by(data)) for data in flipped)
    assert refused > 900


@pytest.mark.parametrize("more", [b"\0", b"{}\n", b"x" * 1000])
def test_something_behind_the_end_is_refused(more: bytes, hurt: Hurt) -> None:
    data = hurt.whole + more
    assert hurt.is_refused(data, hurt.known_by(data))


@pytest.mark.parametrize("format", list(Format))
def test_in_whatever_pieces_a_stream_comes_its_end_is_its_end(format: Format) -> None:
    whole = compressor(format).last(b"hello" * 1000)
    for cut in range(1, len(whole)):
        pieces = [whole[:cut], whole[cut:]]
        assert b"".join(decompressed(pieces, format, 5000)) == b"hello" * 1000
        with pytest.raises(VaultDamaged):
            list(decompressed([*pieces, b"x"], format, 5000))


def test_a_second_stream_behind_the_first_is_refused(hurt: Hurt) -> None:
    for more in (hurt.packed([b"{}\n"]), hurt.packed([])):
        data = hurt.whole + more
        assert hurt.is_refused(data, hurt.known_by(data))


def test_lines_that_were_dropped_doubled_swapped_or_changed_are_noticed(hurt: Hurt) -> None:
    lines = lines_of(CONTENTS)
    generous = replace(hurt.written, raw_bytes=hurt.written.raw_bytes * 2)
    for at in range(len(lines)):
        for changed in (
            lines[:at] + lines[at + 1 :],
            [*lines[:at], lines[at], *lines[at:]],
            [*lines[:at], *lines[at + 1 : at + 2], lines[at], *lines[at + 2 :]],
            [*lines[:at], lines[at].replace(b"1", b"2", 1), *lines[at + 1 :]],
        ):
            if changed != lines:
                data = hurt.packed(changed)
                known = replace(hurt.known_by(data), raw_bytes=generous.raw_bytes)
                assert hurt.is_refused(data, known)


def test_a_session_that_was_left_out_or_moved_as_a_whole_is_noticed() -> None:
    lines = lines_of(CONTENTS)
    end = next(at for at, line in enumerate(lines) if line.startswith(SEAL)) + 1
    first, second = lines[1:end], lines[end:-1]
    for middle in ([], second, first, [*second, *first], [*first, *second, *second]):
        with pytest.raises(VaultDamaged):
            exhaust([lines[0], *middle, lines[-1]])


def test_what_no_seal_covers_is_noticed_without_understanding_it() -> None:
    *lines, manifest = lines_of(CONTENTS)
    for changed in (
        lines,
        [*lines, b"{}\n", manifest],
        [*lines, *lines[1:3], manifest],
        [*lines, manifest, b"{}\n"],
        [*lines, manifest, b"x"],
        [*lines, manifest[:-1]],
    ):
        with pytest.raises(VaultDamaged):
            list(CheckedLines(changed))
    assert list(CheckedLines([*lines, manifest])) == [*lines, manifest]


def test_damage_of_a_session_is_told_before_the_next_one_is_given() -> None:
    lines = lines_of(CONTENTS)
    lines[2] = lines[2].replace(b"hello", b"hellO")
    sessions = Reader(CheckedLines(lines)).sessions()
    assert next(sessions).row["id"] == "s1"
    with pytest.raises(VaultDamaged):
        next(sessions)


def test_another_file_in_its_place_is_refused(hurt: Hurt) -> None:
    name, written = put(hurt.vault, session("other"))
    other = (hurt.path.parent / name).read_bytes()
    assert hurt.is_refused(other, hurt.written)
    assert hurt.is_refused(other, replace(written, sessions=2))


@pytest.mark.parametrize(
    "path",
    [
        ("..",),
        ("a", "..", "b"),
        (".",),
        ("",),
        ("/etc/passwd",),
        ("a/../../b",),
        ("a\0b",),
        (),
        ("d",) * 33,
        ("n" * 256,),
    ],
)
def test_a_path_that_leads_out_of_its_directory_is_refused(path: tuple[str, ...]) -> None:
    lines = lines_of([session(files=[replace(file("f"), path=path)])])
    with pytest.raises(VaultDamaged):
        exhaust(lines)


@pytest.mark.parametrize(
    ("old", "new"), [(b"some text", b"some texT"), (b'"size":9,', b'"size":8,')]
)
def test_a_file_whose_own_digest_or_size_is_wrong_is_refused(old: bytes, new: bytes) -> None:
    lines = [line.replace(old, new) for line in lines_of(CONTENTS)]
    with pytest.raises(VaultDamaged) as refused:
        exhaust(sealed(lines[0], lines[1:-1]))
    golden("archive", "damaged: a file in it", str(refused.value))


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"{}\n",
        b"[]\n",
        b"hello\n",
        b"\xff\n",
        header_line(HEADER).replace(b'"sexton_vault":1', b'"sexton_vault":2'),
        header_line(HEADER).replace(b'"trash"', b'"other"'),
        header_line(HEADER).replace(b'"2026', b'"nonsense'),
        b'{"sexton_vault":1}\n',
    ],
)
def test_a_first_line_that_is_none_of_ours_is_refused(first: bytes) -> None:
    with pytest.raises(VaultDamaged):
        exhaust(sealed(first, lines_of(CONTENTS)[1:-1]))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("====="),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.data())
def test_whatever_a_well_sealed_line_says_nothing_but_damage_is_told(data: st.DataObject) -> None:
    lines = lines_of(CONTENTS)
    at = data.draw(st.integers(1, len(lines) - 2))
    line: dict[str, Any] = json.loads(lines[at])
    field = data.draw(st.sampled_from([*line, "text", "base64", "content_lines", "row_base64"]))
    line[field] = data.draw(JSON)
    if not lines[at].startswith(SEAL):
        lines[at] = json.dumps(line, separators=(",", ":")).encode() + b"\n"
    with suppress(VaultDamaged):
        exhaust(sealed(lines[0], lines[1:-1]))


@given(st.lists(st.binary(max_size=50), max_size=5))
def test_whatever_lines_there_are_nothing_but_damage_is_told(noise: list[bytes]) -> None:
    lines = [header_line(HEADER), *(each + b"\n" for each in noise)]
    for given_lines in (lines, sealed(lines[0], lines[1:])):
        with pytest.raises(VaultDamaged):
            exhaust([*given_lines, b"{}\n"])


def turned(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def lines_of(contents: list[SessionContent]) -> list[bytes]:
    raw: list[bytes] = []
    write_sessions(HEADER, contents, raw.append)
    return b"".join(raw).splitlines(keepends=True)


def sealed(first: bytes, lines: list[bytes]) -> list[bytes]:
    """The lines with seals that hold, as somebody would write them who knows how."""
    seals = Seals(first)
    done, part = [first], list[bytes]()
    for line in [*lines, SEAL]:
        if not line.startswith(SEAL):
            part.append(line)
        elif part:
            raw = b"".join(part)
            messages, files = (
                sum(each.startswith(kind) for each in part) for kind in (MESSAGE, FILE)
            )
            digest = sha256(raw).hexdigest()
            done += [raw, seals.seal(messages, files, raw.count(b"\n"), len(raw), digest)]
            part = []
    return [*done, seals.manifest()[0]]


def exhaust(lines: list[bytes]) -> list[Plain]:
    return [plain(each) for each in Reader(CheckedLines(lines)).sessions()]
