"""What is put into a vault comes back the same, to the byte."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sexton.core.record import replace
from sexton.errors import VaultError
from sexton.retention.model import FileContent, SessionContent, StoredMessage
from sexton.retention.vault import lines
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.reading import Reader
from sexton.retention.vault.seals import CheckedLines
from sexton.retention.vault.vault_codec import Format
from sexton.retention.vault.vault_writing import write_sessions
from tests.contract.examples import examples
from tests.golden import golden
from tests.unit.vault_scene import HEADER, Plain, file, plain, put, session, taken

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SPLITTING = st.sampled_from(
    [b"\xed\xa0\x80", b"\0", b"\n", b"\r", "\u2028".encode(), b"\xc3", b"\xf0\x9f", "é🎉".encode()]
)
CONTENTS = st.one_of(st.binary(), st.lists(SPLITTING).map(b"".join), TEXTS.map(str.encode))
MESSAGES = st.builds(
    StoredMessage,
    st.integers(),
    st.integers(),
    TEXTS,
    st.integers(0, 1),
    st.none() | CONTENTS,
    st.none() | CONTENTS,
)
VALUES = st.one_of(
    st.none(), st.integers(), TEXTS, st.binary(), st.floats(allow_nan=False, allow_infinity=False)
)
ROWS = st.dictionaries(TEXTS, VALUES, max_size=5)
NAMES = st.binary(min_size=1, max_size=60).filter(
    lambda name: name not in {b".", b".."} and not {0, 47} & set(name)
)
PATHS = st.lists(NAMES.map(lambda name: name.decode("utf-8", "surrogateescape")), min_size=1)
FILES = st.builds(
    lambda path, data, mode, at: file(*path, data=data, mode=mode, mtime_ns=at),
    PATHS.map(lambda path: path[:5]),
    CONTENTS,
    st.integers(0, 0o7777),
    st.integers(),
)
SESSIONS = st.builds(
    SessionContent,
    row=ROWS,
    messages=st.lists(MESSAGES, max_size=5),
    finalizations=st.lists(ROWS, max_size=2),
    directories=st.lists(st.just(()) | PATHS.map(lambda path: tuple(path[:5])), max_size=2),
    owner=st.none() | TEXTS,
    files=st.lists(FILES, max_size=3),
)


@pytest.fixture(params=list(Format))
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> FileVault:
    made = FileVault(tmp_path / "vault", request.param)
    made.establish()
    return made


@given(st.lists(SESSIONS, max_size=4))
@pytest.mark.slow
def test_any_sessions_come_back_as_they_were(contents: list[SessionContent]) -> None:
    assert read_again(contents) == [plain(each) for each in contents]


@given(st.lists(CONTENTS, min_size=1, max_size=4), st.integers(1, 5))
def test_contents_of_any_length_may_be_cut_anywhere(said: list[bytes], piece: int) -> None:
    usual, lines.PIECE = lines.PIECE, piece
    try:
        content = session(said=said, files=[file("f", data=b"".join(said))])
        content = replace(content, files=[chopped(each, piece) for each in content.files])
        assert read_again([content]) == [plain(content)]
    finally:
        lines.PIECE = usual


@given(st.lists(SESSIONS, max_size=3), st.data())
@pytest.mark.slow
def test_what_a_user_does_not_look_at_is_passed_over(
    contents: list[SessionContent], data: st.DataObject
) -> None:
    raw = b"".join(written_lines(contents))
    for found, put_in in zip(Reader(CheckedLines([raw])).sessions(), contents, strict=True):
        assert found.row == put_in.row
        for each in found.files if data.draw(st.booleans()) else ():
            if data.draw(st.booleans()):
                next(iter(each.chunks()), None)


@pytest.mark.parametrize("size", [10_000_000, lines.PIECE, lines.PIECE + 1])
@pytest.mark.parametrize("byte", [b"\0", b"\xff", b"x"])
@pytest.mark.slow
def test_a_huge_message_comes_back(size: int, byte: bytes, vault: FileVault) -> None:
    content = session(id="i" * 4096, said=[byte * size, "é".encode() * (size // 2)])
    assert taken(vault, *put(vault, content)) == [plain(content)]


def test_many_sessions_in_one_file_come_back_in_order(vault: FileVault) -> None:
    contents = [
        session(id=f"s{n}", said=[b"%d" % n] * (n % 4), files=[file("a", "b", data=b"%d" % n)])
        for n in range(300)
    ]
    name, written = put(vault, *contents)
    assert (written.sessions, written.messages, written.files) == (300, 450, 300)
    assert taken(vault, name, written) == [plain(each) for each in contents]


def test_a_file_with_nothing_in_it_can_be_read(vault: FileVault) -> None:
    assert taken(vault, *put(vault)) == []


@pytest.mark.slow
def test_a_stream_of_any_length_is_written_and_read_in_little_memory(vault: FileVault) -> None:
    def messages() -> Iterator[StoredMessage]:
        for seq in range(60):
            yield StoredMessage(seq, 0, "user", 1, b"%d" % (seq % 10) * 500_000, None)

    def chunks() -> Iterator[bytes]:
        for _ in range(120):
            yield b"y" * 250_000

    large = replace(file("big"), size=30_000_000, chunks=chunks)
    content = SessionContent(row={"id": "s"}, messages=messages(), files=[large])
    tracemalloc.start()
    try:
        name, written = put(vault, content)
        _, sessions = vault.read(name, written)
        for each in sessions:
            assert sum(len(message.content or b"") for message in each.messages) > 29_000_000
            assert sum(len(chunk) for file in each.files for chunk in file.chunks()) == large.size
        assert tracemalloc.get_traced_memory()[1] < 18_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("value", ["\ud800", float("nan"), object(), {"a": object()}])
def test_a_row_that_would_not_come_back_is_refused(value: object, vault: FileVault) -> None:
    with pytest.raises(VaultError):
        put(vault, SessionContent(row={"id": "s", "odd": value}))
    assert list(vault.names()) == []


def test_a_row_that_no_reader_would_take_is_refused(vault: FileVault) -> None:
    with pytest.raises(VaultError) as refused:
        put(vault, SessionContent(row={"id": "s", "memo": "x" * lines.LONGEST}))
    golden("archive", "a row that is too long", str(refused.value))


@given(TEXTS, st.integers(1, 5))
def test_text_stays_text_wherever_it_is_cut(text: str, piece: int) -> None:
    content = session(said=[], files=[chopped(file("f", data=text.encode()), piece)])
    raw = b"".join(written_lines([content]))
    assert b'"base64"' not in raw


@examples(30)
@given(st.lists(st.binary(max_size=30), min_size=1, max_size=3))
def test_a_file_that_is_not_as_long_as_was_said_is_refused(chunks: list[bytes]) -> None:
    short = replace(file("f"), size=sum(map(len, chunks)) + 1, chunks=lambda: iter(chunks))
    with pytest.raises(VaultError) as refused:
        written_lines([session(files=[short])])
    numbers = {int(each) for each in re.findall(r"\b\d+\b", str(refused.value))}
    assert {short.size, short.size - 1} <= numbers


def read_again(contents: list[SessionContent]) -> list[Plain]:
    reader = Reader(CheckedLines([b"".join(written_lines(contents))]))
    assert reader.header == HEADER
    return [plain(each) for each in reader.sessions()]


def written_lines(contents: list[SessionContent]) -> list[bytes]:
    raw: list[bytes] = []
    write_sessions(HEADER, contents, raw.append)
    return raw


def chopped(each: FileContent, piece: int) -> FileContent:
    data = b"".join(each.chunks())
    parts = [data[at : at + piece] for at in range(0, len(data), piece)]
    return replace(each, chunks=lambda: iter(parts))
