"""`lycosa lab leaderboard` and `lycosa lab gate`: who is best, and whether anyone has got worse."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.lab.printing import drawn
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import output, print_json
from lycosa.cli.progress import progress
from lycosa.core.errors import InputError
from lycosa.estimators import STRATEGIES, TRUTH
from lycosa.lab import leaderboard as boards
from lycosa.lab.findings import Table
from lycosa.lab.leaderboard import BOARDS, Board, Passed, Place, hold, raise_floors, read_gates
from lycosa.lab.report import write_report


def leaderboard(
    board: Annotated[
        str, typer.Option("--board", metavar="NAME", help="embedded, quick, or a TOML file of your own.")
    ] = "embedded",
    corpus: Annotated[
        list[str] | None,
        typer.Option("--corpus", metavar="DIR", help="Use this index instead of the board's corpora."),
    ] = None,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", metavar="NAME", help="Only these; your own as module:Class. Default: all."),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="NAME", help="In addition to all others: your own, as module:Class."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Directory for runs and the report.")] = Path(
        "leaderboard"
    ),
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Rank all strategies, grouped by the input they need.

    A board is a named set of corpora and topics. Strategies without any input are not comparable to trained ones, so
    each is ranked among those that were given the same. Finished runs are kept in the directory: the same command
    continues where it stopped.
    """
    if board not in BOARDS and not Path(board).is_file():
        raise InputError(f"unknown board {board!r}: use one of {', '.join(BOARDS)}, or a TOML file of your own")
    chosen = BOARDS.get(board) or Board.load(Path(board))
    if corpus:
        chosen = replace(chosen, name=", ".join(corpus), places=[Place(place) for place in corpus])
    names = list(strategy or [name for name, entry in STRATEGIES.items() if entry.needs != TRUTH]) + list(also or [])
    for name in names:
        STRATEGIES.maker(name.partition(",")[0])
    with progress(quiet) as tell:
        found = boards.leaderboard(chosen, out / "work", names, workers=workers, tell=tell)
    page = write_report(found, out, command=shlex.join(["lycosa", *sys.argv[1:]]))
    if json:
        print_json(found, indent=1)
        return
    console = output()
    for part in found.parts:
        if isinstance(part, Table):
            whole = drawn(part)
            narrow = console.measure(whole, options=console.options.update(width=1000)).maximum > console.width
            console.print(drawn(part, intervals=False) if narrow else whole)
    for remark in found.remarks:
        console.print(f"- {remark}", markup=False)
    console.print(f"{found.summary}\nThe whole of it: {page}", markup=False)


def gate(
    floors: Annotated[
        Path, typer.Argument(metavar="FLOORS", help="A TOML file of floors, such as benchmarks/floors.toml.")
    ],
    corpora: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Directory of corpora that are not generated; sections without their corpus are skipped.",
        ),
    ] = None,
    only: Annotated[list[str] | None, typer.Option("--only", metavar="SECTION", help="Only these sections.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Directory for runs.")] = Path("gate"),
    pin: Annotated[bool, typer.Option("--raise", help="Raise floors to the current results; none is lowered.")] = False,
    lower: Annotated[bool, typer.Option("--lower", help="With --raise: also lower floors.")] = False,
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Fail if a strategy falls below its pinned floor.

    Floors are stored with the fingerprint of their corpus; if the corpus has changed, the gate fails.
    """
    if lower and not pin:
        raise InputError("--lower needs --raise: give both")
    gates = read_gates(floors)
    names = [gate.name for gate in gates]
    if unknown := [name for name in only or [] if name not in names]:
        raise InputError(f"{floors} has no section {unknown[0]!r}: it has {', '.join(names)}")
    measured = [gate for gate in gates if gate.present(corpora) and (not only or gate.name in only)]
    missing = [gate.name for gate in gates if gate not in measured]
    with progress(quiet) as tell:
        if pin:
            told = raise_floors(floors, gates, measured, out, corpora, lower=lower, workers=workers, tell=tell)
        else:
            told = [one for gate in measured for one in hold(gate, out, corpora, workers=workers, tell=tell)]
    if json:
        reached = [asdict(one) | {"holds": one.holds} for one in told]
        print_json({"floors": reached, "passed over": missing}, indent=1)
    else:
        _tell(told, missing)
    if not told:
        raise InputError("no section could be measured: give the directory of the corpora with --corpora")
    if not all(one.holds for one in told):
        raise typer.Exit(1)


def _tell(told: list[Passed], missing: list[str]) -> None:
    for one in told:
        mark = "ok  " if one.holds else "FELL"
        print(f"{mark} {one.gate}: {one.strategy} {one.harvest:.3f} (floor {one.floor:.3f})")
    for name in missing:
        print(f"skipped: {name}")
