"""A program that starts Hermes by forking; runs in Hermes's own interpreter.

Importing what Hermes imports from others takes most of its start. This process has done it once,
and each fork of it becomes a process as `python -m hermes_cli.main` makes it: its own environment,
directory, standard streams, command line and exit code. Nothing of Hermes itself is imported here,
because that reads its home.

Reads one JSON request per message, with its files: standard input, output and error, and a socket
to which it tells the pid, then the exit code.
"""

from __future__ import annotations

import ast
import atexit
import copy
import ctypes
import functools
import gc
import importlib
import io
import json
import marshal
import mmap
import os
import re
import runpy
import selectors
import signal
import site
import socket
import struct
import sys
import sysconfig
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBRARIES = (
    "openai.resources", "httpx", "httpcore", "h11", "requests", "pydantic", "yaml", "ruamel.yaml",
    "rich.live", "rich.markdown", "rich.table", "prompt_toolkit", "prompt_toolkit.patch_stdout",
    "prompt_toolkit.shortcuts", "websockets.asyncio.client", "croniter", "dotenv", "jinja2",
    "psutil", "cryptography", "concurrent.futures.thread", "unittest.mock", "webbrowser", "difflib",
    "http.server", "tarfile", "glob", "logging.handlers",
)  # fmt: skip
"""What a chat and a gateway import that is not Hermes's; one that is missing is left to them."""
HERMES = ("hermes_cli.main", "cli", "run_agent", "gateway.run")
MESSAGE = 1 << 18
READY = b"ready"
"""Said once the kernel is known to show forks as it shows other processes."""
PR_SET_MM, PR_SET_MM_MAP = 35, 14
SET_BY_NOBODY = {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}
"""The first two nobody can; the others are Python's, which ignores them from its start."""
STREAMS = ("stdin", "stdout", "stderr")


def serve(number: int) -> dict[str, Any]:
    """Fork for each request that comes by that socket; returns in the child, with the request."""
    requests = socket.socket(fileno=number)
    show(["hermes_launcher"], {})
    requests.send(READY)
    before = frozenset(sys.modules)
    for library in LIBRARIES:
        with suppress(ImportError):
            importlib.import_module(library)
    _remember_syntax()
    _copy_plain_trees()
    _compile_patterns()
    atexit.register(_keep, frozenset(sys.modules) - before)
    gc.collect()
    gc.freeze()
    assert len(os.listdir("/proc/self/task")) == 1, "other threads would be missing in a fork"
    watched = selectors.DefaultSelector()
    watched.register(requests, selectors.EVENT_READ)
    while True:
        for key, _ in watched.select():
            if key.fileobj is not requests:
                _tell_end(watched, key)
            elif (request := _fork(watched, requests)) is not None:
                return request


def _fork(watched: selectors.BaseSelector, requests: socket.socket) -> dict[str, Any] | None:
    """In the child its request, and in the launcher nothing."""
    text, files, _, _ = socket.recv_fds(requests, MESSAGE, 4)
    if not text:
        os._exit(0)
    pid = os.fork()
    if not pid:
        request: dict[str, Any] = json.loads(text)
        _close(watched, requests)
        _become(request, files)
        return request
    teller = socket.socket(fileno=files.pop())
    for file in files:
        os.close(file)
    process = os.pidfd_open(pid)
    with suppress(OSError):  # whoever asked may have gone
        socket.send_fds(teller, [str(pid).encode()], [process])
    watched.register(process, selectors.EVENT_READ, (pid, teller))
    return None


def _close(watched: selectors.BaseSelector, requests: socket.socket) -> None:
    """Close what only the launcher needs."""
    for key in list(watched.get_map().values()):
        if key.fileobj is not requests:
            os.close(key.fd)
            key.data[1].close()
    watched.close()
    requests.close()


def _tell_end(watched: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    pid, teller = key.data
    watched.unregister(key.fileobj)
    os.close(key.fd)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with teller, suppress(OSError):
        teller.send(str(code).encode())


def _keep(names: frozenset[str]) -> None:
    """Last of all, save a fork from taking apart what it shares with the launcher."""
    for name in names:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(sys.modules.pop(name, None)))


def _remember_syntax() -> None:
    """Hermes parses the source of all its tools at each start, and only looks at the trees."""
    parse = ast.parse
    known: dict[str, ast.AST] = {}
    for folder in map(Path, sys.path):
        for file in (folder / "tools").glob("*.py"):
            text = file.read_text(encoding="utf-8")
            if "registry" in text and "register" in text:
                known[text] = parse(text, filename=str(file))

    @functools.wraps(parse)
    def remembered(source: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(source, str) and source in known:
            return known[source]
        return parse(source, *arguments, **named)

    ast.parse = remembered


def _copy_plain_trees() -> None:
    """Hermes copies its settings deeply, some hundred times at each start."""
    module: Any = copy
    deepcopy = module.deepcopy

    @functools.wraps(deepcopy)
    def copied(original: Any, *memo: Any, **named: Any) -> Any:
        if type(original) is dict and not memo and not named:
            with suppress(ValueError):  # it holds more than numbers, text, lists and the like
                return marshal.loads(marshal.dumps(original))
        return deepcopy(original, *memo, **named)

    module.deepcopy = copied


def _compile_patterns() -> None:
    """Compile ahead the patterns that Hermes compiles, which a fork tells that imports it."""
    patterns: Any = re
    patterns._MAXCACHE *= 8
    reading, writing = os.pipe()
    with tempfile.TemporaryDirectory() as home:
        if not os.fork():
            os.environ["HERMES_HOME"] = home
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, 1)
            os.dup2(nothing, 2)
            for module in HERMES:
                importlib.import_module(module)
            used = [(pattern, flags) for kind, pattern, flags in patterns._cache if kind is str]
            with open(writing, "w") as pipe:
                json.dump(used, pipe)
            os._exit(0)
        os.close(writing)
        with open(reading) as pipe:
            for pattern, flags in json.load(pipe):
                re.compile(pattern, flags)
        os.wait()


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Take over what an exec would have set."""
    for target, file in enumerate(files[:3]):
        os.dup2(file, target)
    for file in files:
        os.close(file)
    if request["session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    for each in signal.valid_signals() - SET_BY_NOBODY:
        heard = signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL
        signal.signal(each, signal.SIG_IGN if each in request["ignored"] else heard)
    for name, value in request["interpreter"].items():
        setattr(sys, name, value)
    site.PREFIXES[:] = [sys.prefix, sys.exec_prefix]
    importlib.reload(sysconfig)
    show(request["command"], request["environment"])
    sys.orig_argv[:] = request["command"]
    for number, name in enumerate(STREAMS):
        stream = _stream(number, name, getattr(sys, name))
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(file: int, name: str, before: Any) -> Any:
    mode = "w" if file else "r"
    buffer: Any = open(file, f"{mode}b", closefd=False)  # noqa: SIM115  # as long as it runs
    buffer.raw.name = f"<{name}>"
    by_line = file == 2 or os.isatty(file)
    newline = "\n" if file else None
    stream: Any = io.TextIOWrapper(
        buffer, before.encoding, before.errors, newline=newline, line_buffering=by_line
    )
    stream.mode = mode
    return stream


def show(words: list[str], environment: dict[str, str]) -> None:
    """Have the kernel show these words and this environment, as those of an exec."""
    shown = b"".join(os.fsencode(word) + b"\0" for word in words)
    around = b"".join(os.fsencode(f"{key}={value}") + b"\0" for key, value in environment.items())
    memory = mmap.mmap(-1, len(shown) + len(around), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.write(shown + around)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    KEPT.append(memory)
    row = ["", "", *Path("/proc/self/stat").read_text().rpartition(")")[2].split()]
    at = [int(row[number]) for number in (25, 26, 44, 45, 46)]
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    places = [
        *at, libc.sbrk(0), int(row[27]),
        start, start + len(shown), start + len(shown), start + len(shown) + len(around),
    ]  # fmt: skip
    wanted = ctypes.create_string_buffer(struct.pack("=11QQIi", *places, 0, 0, -1))
    number = ctypes.c_ulong
    size = number(len(wanted) - 1)
    if libc.prctl(PR_SET_MM, number(PR_SET_MM_MAP), wanted, size, number(0)):
        raise OSError(ctypes.get_errno(), "the kernel keeps the command line")


KEPT: list[mmap.mmap] = []


def run(request: dict[str, Any]) -> None:
    """Go on as the interpreter does with these words: `-m module ...` or `-c text ...`."""
    _, kind, what, *words = request["command"]
    sys.argv[:] = [kind, *words]
    sys.path.insert(0, request["cwd"] if kind == "-m" else "")
    if kind == "-m":
        as_main: Any = runpy
        as_main._run_module_as_main(what)
    else:
        exec(compile(what, "<string>", "exec"), sys.modules["__main__"].__dict__)
