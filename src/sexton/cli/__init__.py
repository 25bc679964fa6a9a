"""The command line: runs a command and turns what goes wrong into words and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from sexton.cli.streams import prepare_streams, settle_output
from sexton.version import __version__

COMPLETE = "_SEXTON_COMPLETE"
INTERRUPTED, PIPE_CLOSED = 130, 141  # as a shell reports SIGINT and SIGPIPE


def main() -> NoReturn:
    """The program `sexton`."""
    prepare_streams()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit code. Whatever goes wrong is told in a line, never raised."""
    try:
        code = _invoke(list(arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return PIPE_CLOSED
    except KeyboardInterrupt:
        settle_output()
        sys.stderr.write("\n")
        return INTERRUPTED
    except Exception as problem:  # noqa: BLE001  # the surface: what nobody foresaw is told too
        from sexton.cli.trouble import tell_trouble

        settle_output()
        return tell_trouble(problem, arguments)


def _invoke(arguments: list[str]) -> int:
    if arguments == ["--version"]:  # asked for often, by programs; answered before click is loaded
        sys.stdout.write(f"sexton {__version__}\n")
        return 0
    from click.exceptions import Exit

    from sexton.cli.root import root

    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, "sexton", COMPLETE, os.environ[COMPLETE])
    try:
        with root.make_context("sexton", arguments) as ctx:
            root.invoke(ctx)
    except Exit as done:
        return done.exit_code
    return 0
