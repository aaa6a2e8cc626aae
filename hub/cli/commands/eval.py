"""`hub eval`: how much of recorded sessions hub keeps.

Owns: the options, and the exit status: 1 below a threshold.
Must not: measure; `hub.evals` does.
"""

from __future__ import annotations

from pathlib import Path

import click

from hub.cli.context import show, with_json


@click.command()
@click.option(
    "--suite",
    default=None,
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Your own recordings; default: those that ship with hub.",
)
@click.option("--provider", default="", metavar="NAME", help="Only this agent's recordings.")
@click.option("--faults", is_flag=True, help="List every fact that is missed, and every one that is wrong.")
@with_json
def eval(_: click.Context, *, suite: Path | None, provider: str, faults: bool, as_json: bool) -> int:  # noqa: A001  # the command's name
    """Measure how much of recorded sessions a handoff keeps. Exits with 1 if a figure is below its threshold.

    Example: hub eval --provider codex --faults
    """
    from hub.evals import measure, recording, report

    folder = suite or report.GOLDEN
    wanted = report.thresholds(folder)
    measured = [one for found in recording.suite(folder, provider) for one in measure.measure(found)]
    short = report.shortfalls(measured, wanted)
    show(
        report.document(measured, short),
        as_json=as_json,
        text=lambda _: report.table(measured, short, faults=faults),
    )
    return 1 if short else 0
