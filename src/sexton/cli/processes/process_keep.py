"""`sexton processes keep`: no policy stops this one."""

from __future__ import annotations

import click

from sexton.cli.cli_opening import existing
from sexton.cli.command import Command, shared
from sexton.cli.processes.process_choosing import meant
from sexton.cli.terminal import document, say
from sexton.errors import ProcessNotFound
from sexton.keeper.apply import new_receipt
from sexton.processes.stops import keep_process
from sexton.wiring.reaching import everywhere


@click.command(
    "keep",
    cls=Command,
    examples=("sexton processes keep 4711", "sexton processes keep 4711 --off"),
)
@click.argument("pid", type=click.IntRange(min=1))
@click.option("--off", is_flag=True, help="Let the policies stop it again.")
@click.pass_context
def command(ctx: click.Context, pid: int, off: bool) -> None:
    """Keep a process from being stopped by policy.

    It runs on when its session ends, and nobody is told of it. It holds no reset back by that.
    """
    options = shared(ctx)
    with existing(options) as opened:
        estate = everywhere(opened)
        [process] = meant(opened, estate, pid, None)
        if process.ref < 0:
            raise ProcessNotFound(f"only its home names the process {pid}: no policy stops it")
        receipt, asked = new_receipt(), "asked for with 'sexton processes keep'"
        if not keep_process(estate, process, not off, receipt, asked):
            raise ProcessNotFound(f"the process {pid} has ended")
    if options.json:
        document({"receipt": receipt, "pid": pid, "kept": not off})
    else:
        said = "may be stopped by policy again" if off else "is kept from being stopped by policy"
        say(f"process {pid} {said} (receipt {receipt})")
