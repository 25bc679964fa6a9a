"""Measure Sexton against its peers: `python -m bench [workload ...] [--quick] [--json FILE]`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from bench import (
    activity,
    append_many_sessions,
    append_one,
    archive,
    beat,
    cold_start,
    collect,
    doctor,
    find_due,
    flush,
    hermes_remove,
    list_sessions,
    observe,
    pages,
    processes,
    reap,
    spend,
)
from bench.figures import Row
from bench.install import has_peers, install_hermes, install_peers
from bench.report import Report, as_json, as_page, as_table
from bench.scene import Scene, fsync_ms, scene
from bench.sizes import FULL, QUICK, Sizes

WORKLOADS: dict[str, Callable[[Scene], Iterator[Row]]] = {
    module.NAME: module.run
    for module in (
        append_one,
        append_many_sessions,
        list_sessions,
        find_due,
        beat,
        reap,
        flush,
        spend,
        archive,
        collect,
        hermes_remove,
        observe,
        doctor,
        processes,
        pages,
        activity,
        cold_start,
    )
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run workloads and print what they found; 1 if a full run missed a target."""
    wanted = _parser().parse_args(arguments)
    install_hermes()
    others = has_peers() if wanted.quick else install_peers()
    if not others:
        _say("the peers beside Hermes are not installed and stay out")
    report = measure(
        wanted.workload or list(WORKLOADS),
        QUICK if wanted.quick else FULL,
        ("hermes", "openai-agents", "langgraph") if others else ("hermes",),
        wanted.dir,
    )
    print(as_table(report))
    if wanted.json == Path("-"):
        print(as_json(report))
    elif wanted.json:
        wanted.json.write_text(as_json(report), encoding="utf-8")
    if wanted.page:
        wanted.page.write_text(as_page(report), encoding="utf-8")
    return 1 if report.missed and not wanted.quick else 0


def measure(
    workloads: Sequence[str], sizes: Sizes, peers: Sequence[str], parent: Path | None = None
) -> Report:
    """Run workloads one after the other, each with contenders of its own."""
    rows: list[Row] = []
    with scene(sizes, peers, parent, _say) as opened:
        waits = [fsync_ms(opened.place)]
        for name in workloads:
            rows += WORKLOADS[name](opened)
            opened.dismiss()
            waits.append(fsync_ms(opened.place))
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    mode = "full" if sizes is FULL else "quick"
    return Report(mode=mode, fsync_ms=waits, load=load, rows=rows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("workload", nargs="*", choices=[*WORKLOADS, []], help="default: all")
    parser.add_argument("--quick", action="store_true", help="small sizes; targets only reported")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all figures there, or print them (-)"
    )
    parser.add_argument("--page", type=Path, metavar="FILE", help="write a page of documentation")
    parser.add_argument("--dir", type=Path, help="a directory on the disk to be measured")
    return parser


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
