"""An environment of Hermes with Sexton in it, made of links to what is installed elsewhere."""

from __future__ import annotations

import sysconfig
import zipfile
from pathlib import Path

from sexton.integrations.packing import pack

BESIDE = ("apsw", "apsw-*.dist-info", "backports", "backports_zstd-*.dist-info")
"""What Sexton needs and Hermes does not bring."""


def bare_environment(hermes_python: Path, place: Path) -> Path:
    """An interpreter that has all of Hermes, but that nobody else uses; and its pip."""
    real = hermes_python.parents[1]
    version = next((real / "lib").iterdir()).name
    site = place / "lib" / version / "site-packages"
    site.mkdir(parents=True)
    (place / "bin").mkdir()
    (place / "bin" / "python").symlink_to(hermes_python.resolve())
    (place / "pyvenv.cfg").write_text((real / "pyvenv.cfg").read_text())
    beside = place / "beside"
    beside.mkdir()
    ours = Path(sysconfig.get_path("purelib"))
    for pattern in BESIDE:
        [found] = ours.glob(pattern)
        (beside / found.name).symlink_to(found)
    (site / "linked.pth").write_text(f"{real / 'lib' / version / 'site-packages'}\n{beside}\n")
    return place / "bin" / "python"


def furnished_environment(hermes_python: Path, place: Path) -> Path:
    """The same with Sexton in it."""
    python = bare_environment(hermes_python, place)
    wheel = pack(place, {})
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(next((place / "lib").iterdir()) / "site-packages")
    return python
