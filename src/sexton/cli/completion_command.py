"""`sexton completion`: how does a shell complete our commands?"""

from __future__ import annotations

import click

from sexton.cli.command import Command
from sexton.cli.terminal import write
from sexton.errors import InputInvalid

SHELLS = ("bash", "zsh", "fish")


@click.command(
    "completion",
    cls=Command,
    examples=(
        'eval "$(sexton completion bash)"                 # in ~/.bashrc',
        'eval "$(sexton completion zsh)"                  # in ~/.zshrc',
        "sexton completion fish > ~/.config/fish/completions/sexton.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Write the completion script of a shell.

    The script completes commands, options and the names of recently active sessions.
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise InputInvalid(f"'{shell}' can not be served", hint=f"Known are {', '.join(SHELLS)}.")
    completer = found(ctx.find_root().command, {}, "sexton", "_SEXTON_COMPLETE")
    write(completer.source_template % completer.source_vars() + "\n")
