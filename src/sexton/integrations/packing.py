"""How does another interpreter get the very Sexton that runs here?

As a wheel made of the files of this package, so that no index and no build tool is asked.
"""

from __future__ import annotations

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from pathlib import Path

from sexton import version
from sexton.errors import ExtraMissing

NAME = "sexton"
WHEEL = "Wheel-Version: 1.0\nGenerator: sexton\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(directory: Path, notes: Mapping[str, str]) -> Path:
    """Write a wheel of the running Sexton, with notes beside its metadata; the file."""
    known = distribution(NAME)
    info = f"{NAME}-{known.version}.dist-info"
    texts = {name: known.read_text(name) for name in ("METADATA", "entry_points.txt")}
    if not all(texts.values()):
        raise ExtraMissing(
            "the Sexton that runs here can not be packed: its metadata are not there",
            hint="Install it with pip, then try again.",
        )
    contents = {
        **dict(_package()),
        **{f"{info}/{name}": (text or "").encode() for name, text in texts.items()},
        f"{info}/WHEEL": WHEEL.encode(),
        **{f"{info}/{name}": text.encode() for name, text in notes.items()},
    }
    record = "".join(f"{name},{_seal(body)},{len(body)}\n" for name, body in contents.items())
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = directory / f"{NAME}-{known.version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in contents.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), body)
    return wheel


def _package() -> Iterator[tuple[str, bytes]]:
    root = Path(version.__file__).parent
    for file in sorted(root.rglob("*")):
        if file.is_file() and "__pycache__" not in file.parts:
            yield file.relative_to(root.parent).as_posix(), file.read_bytes()


def _seal(body: bytes) -> str:
    digest = urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()
    return f"sha256={digest}"
