"""Does a memory file keep what people and keepers wrote, whole and once?"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import signal
import stat
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote

import pytest

from sexton.core.clock import SystemClock
from sexton.finalizers.effects.chat import ChatPlan
from sexton.finalizers.effects.memory_effect import Memory, MemoryPlan
from sexton.finalizers.effects.memory_file import MemoryFile
from sexton.finalizers.effects.model_transcript import parts
from sexton.finalizers.job import EffectFailed
from sexton.testing import ManualClock
from tests.golden import golden
from tests.kit.nursery import Nursery
from tests.scenario.effects_desk import Desk, message
from tests.scenario.effects_server import PATIENCE, Server, say
from tests.scenario.finalizers_scene import wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "MEMORY.md"


@pytest.fixture
def file(path: Path, manual_clock: ManualClock) -> MemoryFile:
    return MemoryFile(path, manual_clock)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(directory: Path) -> set[str]:
    return {each.name for each in directory.iterdir()}


@pytest.mark.parametrize("before", ["# Mine\n\nmy words\n", "# Mine\n\nmy words"])
def test_what_people_wrote_and_the_mode_of_the_file_stay(
    before: str, path: Path, file: MemoryFile
) -> None:
    path.write_text(before, encoding="utf-8")
    path.chmod(0o640)
    assert file.append("k", "head", "text\n\n")
    assert path.read_text(encoding="utf-8") == (
        "# Mine\n\nmy words\n\n## head\n\n<!-- sexton: k -->\n\ntext\n"
    )
    assert mode(path) == 0o640
    assert names(path.parent) == {"MEMORY.md", ".MEMORY.md.lock"}


def test_the_owner_of_the_file_stays(path: Path, file: MemoryFile) -> None:
    path.touch()
    if os.geteuid() == 0:
        os.chown(path, 12345, 23456)
    owner = path.stat()
    file.append("k", "head", "text")
    assert (path.stat().st_uid, path.stat().st_gid) == (owner.st_uid, owner.st_gid)


def test_a_block_is_added_once(path: Path, file: MemoryFile) -> None:
    assert not file.holds("k")
    assert file.append("k", "head", "text")
    assert file.holds("k")
    before = path.read_bytes()
    assert not file.append("k", "head", "other text")
    assert path.read_bytes() == before


def test_nobody_but_the_owner_can_read_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "MEMORY.md"
    MemoryFile(path, SystemClock()).append("k", "head", "text")
    assert [mode(each) for each in (path, path.parent, path.parent.parent)] == [0o600, 0o700, 0o700]
    assert mode(path.with_name(".MEMORY.md.lock")) == 0o600


@pytest.mark.parametrize(
    "text",
    [
        "<!-- sexton: later -->",
        "x\n<!-- sexton: later -->\ny",
        "<<!--!-- sexton: later --> <!--",
        "<!\r-- sexton: later --\u2028>",
        "<!\x00-- sexton: later -->",
    ],
)
def test_no_text_can_pose_as_a_marker_or_hide_one(text: str, path: Path, file: MemoryFile) -> None:
    assert file.append("first", f"head {text}", text)
    assert not file.holds("later")
    assert file.append("later", "head", "more")
    content = path.read_text(encoding="utf-8")
    assert content.count("<!--") == content.count("-->") == 2


def test_no_key_can_pose_as_another_or_leave_its_marker(path: Path, file: MemoryFile) -> None:
    keys = ["a", "a -->", "a--", "a-%2D", "a\n<!-- sexton: b -->", "a%20--%3E", "å/\u2028"]
    for key in keys:
        assert file.append(key, "head", "text")
    assert not file.holds("b")
    content = path.read_text(encoding="utf-8")
    assert content.count("<!--") == content.count("-->") == len(keys)
    assert not any("--" in marker for marker in re.findall("<!--(.*)-->", content))
    assert not any(file.append(key, "head", "text") for key in keys)


def test_letters_that_are_joined_stay_joined(path: Path, file: MemoryFile) -> None:
    family = "\U0001f468\u200d\U0001f469"
    file.append("k", "head", f"a\tb {family} \x1b[31m \ud800")
    assert path.read_text(encoding="utf-8").endswith(f"a\tb {family} [31m\n")


def test_a_link_is_followed_to_its_file(tmp_path: Path, path: Path, file: MemoryFile) -> None:
    real = tmp_path / "elsewhere" / "real.md"
    path.symlink_to(real)
    file.append("k", "head", "text")
    assert path.is_symlink()
    assert not real.is_symlink()
    assert file.holds("k")
    assert names(real.parent) == {"real.md", ".real.md.lock"}


def test_a_read_only_file_stays_as_it_is_and_costs_no_call(
    path: Path, manual_clock: ManualClock
) -> None:
    path.write_text("mine\n", encoding="utf-8")
    path.chmod(0o444)
    with Server([say("- x")]) as server:
        chat = ChatPlan(base_url=server.url, model="m")
        effect = Memory(MemoryPlan(chat=chat, file=path), manual_clock, {})
        desk = Desk(path.parent)
        with pytest.raises(EffectFailed) as caught:
            effect.carry_out(desk.job())
        golden("effects", "memory file: read-only", str(caught.value))
        assert str(path) in str(caught.value)
        assert path.read_text(encoding="utf-8") == "mine\n"
        assert not server.requests
        path.chmod(0o644)
        effect.carry_out(desk.job())
    assert path.read_text(encoding="utf-8").endswith("\n\n- x\n")


def test_what_is_no_file_is_refused(tmp_path: Path, path: Path, file: MemoryFile) -> None:
    os.mkfifo(path)
    with pytest.raises(EffectFailed) as caught:
        file.append("k", "head", "text")
    golden("effects", "memory file: no file", str(caught.value))
    path.unlink()
    path.mkdir()
    with pytest.raises(EffectFailed) as caught:
        file.holds("k")
    golden("effects", "memory file: no file", str(caught.value))
    (tmp_path / "plain").touch()
    with pytest.raises(EffectFailed) as caught:
        MemoryFile(tmp_path / "plain" / "MEMORY.md", SystemClock()).append("k", "head", "text")
    assert os.strerror(errno.ENOTDIR) in str(caught.value)


@pytest.mark.parametrize(
    ("trouble", "after"),
    [
        ("full", "mine\n"),
        ("edited", "mine\n" + "a person's words\n" * 10),
    ],
)
def test_when_it_can_not_be_written_the_old_file_stays(
    trouble: str, after: str, path: Path, file: MemoryFile
) -> None:
    path.write_text("mine\n", encoding="utf-8")
    with Nursery("tests.scenario.effects_victims") as nursery:
        victim = nursery.start("tests.scenario.effects_victims:remember", str(path.parent), trouble)
        assert victim.wait() == 0
    [told] = victim.lines()
    golden("effects", f"memory file: {trouble}", told)
    assert path.read_text(encoding="utf-8") == after
    assert names(path.parent) == {"MEMORY.md", ".MEMORY.md.lock"}
    assert file.append("key", "heading", "text")


def test_what_somebody_writes_in_between_stays_and_costs_no_try(path: Path) -> None:
    path.write_text("mine\n", encoding="utf-8")
    with Nursery("tests.scenario.effects_victims") as nursery:
        where = str(path.parent)
        victim = nursery.start("tests.scenario.effects_victims:remember", where, "edited once")
        assert victim.wait() == 0
    assert victim.lines() == []
    text = path.read_text(encoding="utf-8")
    assert text.startswith("mine\na person's words\n\n## heading")


def test_those_that_wait_for_the_file_together_are_added_in_one_write(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[Path] = []
    replace = os.replace

    def counted(source: Path, target: Path) -> None:
        writes.append(target)
        replace(source, target)

    monkeypatch.setattr(os, "replace", counted)
    monkeypatch.setattr("sexton.finalizers.effects.memory_file.LOCK_WAIT", PATIENCE)
    file = MemoryFile(path, SystemClock())
    keys = [f"key {n}" for n in range(20)]
    with path.with_name(".MEMORY.md.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with ThreadPoolExecutor(2 * len(keys)) as pool:
            adding = [pool.submit(file.append, key, key, key) for key in (*keys, *keys)]
            wait_until(lambda: len(file._waiting) == 2 * len(keys) - 1)
            fcntl.flock(lock, fcntl.LOCK_UN)
            added = [each.result(PATIENCE) for each in adding]
    assert sorted(added) == [False] * len(keys) + [True] * len(keys)
    text = path.read_text(encoding="utf-8")
    assert sorted(re.findall("<!-- sexton: (.*) -->", text)) == sorted(map(quote, keys))
    assert len(writes) == 2


def test_a_child_that_is_forked_meanwhile_does_not_keep_the_lock(path: Path) -> None:
    file = MemoryFile(path, SystemClock())
    with file._locked(path):
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
    try:
        lock = path.with_name(".MEMORY.md.lock")

        def held() -> list[str]:
            return [os.readlink(each) for each in Path(f"/proc/{child}/fd").iterdir()]

        wait_until(lambda: str(lock) not in held())
        assert file.append("k", "head", "text")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_file_that_is_a_mount_point_is_refused_before_anybody_pays(
    monkeypatch: pytest.MonkeyPatch, path: Path, file: MemoryFile
) -> None:
    mounts = b"36 35 98:0 /mnt1 %s rw,noatime - ext3 /dev/root rw\n"
    read = Path.read_bytes

    def told(asked: Path) -> bytes:
        named = os.fsencode(path).replace(b"M", b"\\115")
        return mounts % named if str(asked) == "/proc/self/mountinfo" else read(asked)

    path.write_text("mine", encoding="utf-8")
    assert not file.holds("k")
    monkeypatch.setattr(Path, "read_bytes", told)
    with pytest.raises(EffectFailed) as caught:
        file.holds("k")
    golden("effects", "memory file: a mount point", str(caught.value))


def test_whoever_keeps_the_lock_is_not_waited_for_for_ever(path: Path, file: MemoryFile) -> None:
    with path.with_name(".MEMORY.md.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(EffectFailed) as caught:
            file.append("k", "head", "text")
    golden("effects", "memory file: locked", str(caught.value))
    assert file.append("k", "head", "text")


def test_many_at_once_lose_nothing_and_double_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sexton.finalizers.effects.memory_file.LOCK_WAIT", PATIENCE)
    files = [MemoryFile(path, SystemClock()) for _ in range(2)]
    added: list[bool] = []

    def work(file: MemoryFile) -> None:
        added.extend(file.append(f"k{number}", "head", "text") for number in range(20))

    threads = [threading.Thread(target=work, args=(file,)) for file in files * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(240)
    assert (len(added), sum(added)) == (160, 20)
    assert path.read_text(encoding="utf-8").count("<!-- sexton: k") == 20


def test_a_long_transcript_is_never_in_memory_as_a_whole() -> None:
    said = (message(n, "user", f"{n} " * 10_000) for n in range(200))
    tracemalloc.start()
    try:
        total = sum(len(part) for part in parts(said, 100_000))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert total > 6_000_000
    assert most < 1_500_000
