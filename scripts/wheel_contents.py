"""Is every file of the package inside the wheel, and nothing else?"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"


def package_files() -> set[str]:
    """The files that belong to the package."""
    files = (path for path in SOURCE.rglob("*") if path.is_file())
    return {
        path.relative_to(SOURCE).as_posix()
        for path in files
        if "__pycache__" not in path.parts and ".egg-info" not in str(path.parent)
    }


def wheel_files(wheel: Path) -> set[str]:
    """The files a wheel would install, without what describes it."""
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def main() -> int:
    """Compare the wheel named on the command line with the source; 1 if they differ."""
    wanted, found = package_files(), wheel_files(Path(sys.argv[1]))
    for name in sorted(wanted - found):
        sys.stderr.write(f"wheel: missing {name}\n")
    for name in sorted(found - wanted):
        sys.stderr.write(f"wheel: unexpected {name}\n")
    return int(wanted != found)


if __name__ == "__main__":
    sys.exit(main())
