"""A vault file can be restored with nothing of ours, as the reference page says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from hashlib import sha256
from pathlib import Path

import pytest

from sexton.core.record import replace
from sexton.retention.model import SessionContent, StoredMessage
from sexton.retention.vault.directory import FileVault
from sexton.retention.vault.vault_codec import Format
from tests.unit.vault_scene import file, put, session, zstd

pytestmark = pytest.mark.slow

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "vault.md"
LONG = "é".encode() * 1_500_000
CONTENTS = [
    SessionContent(
        row={"id": "../s1", "title": "Ümlaut"},
        messages=[
            StoredMessage(1, 5, "user", 1, b"hello \xed\xa0\x80", None),
            StoredMessage(2, 6, "assistant", 0, b'{"a":1}', b'{"tool":true}'),
            StoredMessage(3, 7, "tool", 1, LONG, LONG[1:]),
            StoredMessage(4, 8, "tool", 1, None, None),
        ],
        directories=[("nothing", "in it \udcff")],
        owner="abc",
        files=[
            file("sub", "name \udcff", data=b"\0\xff" * 300_000),
            file("text.md", data="Grüße\r\n".encode() * 100_000),
            file("empty", data=b""),
        ],
    ),
    replace(session("s2"), finalizations=[{"state": "done", "memo": b"\xff"}]),
]


@pytest.mark.parametrize("format", list(Format))
def test_the_program_of_the_page_restores_messages_and_files_to_the_byte(
    format: Format, tmp_path: Path
) -> None:
    vault = FileVault(tmp_path / "vault", format)
    vault.establish()
    name, _ = put(vault, *CONTENTS)
    packed = (tmp_path / "vault" / name).read_bytes()
    raw = zlib.decompress(packed, 31) if format is Format.GZIP else zstd.decompress(packed)
    (tmp_path / "lines").write_bytes(raw)
    [program] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, tmp_path / "lines", tmp_path / "restored"],
        check=True,
        timeout=240,
    )
    first, second = sorted((tmp_path / "restored").iterdir())
    assert json.loads((first / "session.json").read_text()) == CONTENTS[0].row
    restored = {
        str(each.relative_to(first)): each.read_bytes()
        for each in first.rglob("*")
        if each.is_file() and each.name != "session.json"
    }
    assert restored == {
        "000001-user": b"hello \xed\xa0\x80",
        "000002-assistant": b'{"a":1}',
        "000002-assistant.extra": b'{"tool":true}',
        "000003-tool": LONG,
        "000003-tool.extra": LONG[1:],
        **{"/".join(("files", *each.path)): b"".join(each.chunks()) for each in CONTENTS[0].files},
    }
    assert first.joinpath("files", "nothing", "in it \udcff").is_dir()
    assert [each.read_bytes() for each in sorted(second.glob("0*"))] == [b"hello", b"world"]


def test_the_digests_are_those_the_page_says(tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "vault")
    vault.establish()
    name, _ = put(vault, *CONTENTS)
    raw = zstd.decompress((tmp_path / "vault" / name).read_bytes())
    *before, last = raw.splitlines(keepends=True)
    chain, part, files = before[0], b"", []
    for line in before[1:]:
        told = json.loads(line)
        if told["type"] == "seal":
            assert told["sha256"] == sha256(part).hexdigest()
            assert (told["lines"], told["bytes"]) == (part.count(b"\n"), len(part))
            chain, part = chain + line, b""
        else:
            part += line
        files += [told["sha256"]] if told["type"] == "end" else []
    contents = [b"".join(each.chunks()) for each in CONTENTS[0].files]
    assert files == [sha256(each).hexdigest() for each in contents]
    manifest = json.loads(last)
    assert manifest.pop("sha256") == sha256(chain).hexdigest()
    assert manifest == {
        "type": "manifest",
        "sessions": 2,
        "messages": 6,
        "files": 3,
        "lines": len(before),
        "bytes": len(raw) - len(last),
    }


def test_no_line_is_longer_than_the_page_says(tmp_path: Path) -> None:
    vault = FileVault(tmp_path / "vault")
    vault.establish()
    worst = session(said=[b"\0" * 20_000_000], files=[file("f", data=b"\0" * 5_000_000)])
    name, written = put(vault, worst)
    vault.export(name, written, tmp_path / "lines")
    assert max(map(len, (tmp_path / "lines").read_bytes().splitlines())) < 32 << 20
