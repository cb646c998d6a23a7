"""`lycosa lab benchmark`: scent, its rivals and your program on frozen topics."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lycosa.cli.lab.printing import drawn
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import output, print_json
from lycosa.cli.progress import progress
from lycosa.core.errors import InputError
from lycosa.estimators import STRATEGIES
from lycosa.lab import benchmark as lab
from lycosa.lab.benchmark.corpora import DEVELOPMENT, REPORT, places
from lycosa.lab.benchmark.entrants import chosen
from lycosa.lab.findings import Findings, Table
from lycosa.lab.papers import QUICK
from lycosa.lab.report import need, write_report


def benchmark(
    corpora: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Directory of the corpora (wikispeedia-blind, webkb, mdn, with labels)."),
    ] = None,
    corpus: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Only this corpus, or an index of your own. Default: all in --corpora, and embedded."
        ),
    ] = None,
    rival: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=COMMAND", help="Your own crawler, in any language: see docs/benchmark.md."),
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only these, besides oracle and scent; or module:Class.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="These, in addition to the default ones.")
    ] = None,
    topics: Annotated[int, typer.Option(min=0, help="Topics per corpus; 0 for the corpus's default.")] = 0,
    draws: Annotated[
        int, typer.Option(min=0, help="Draws of seeds per topic; 0: a dozen crawls of each kind, one with --quick.")
    ] = 0,
    budget: Annotated[
        list[int] | None,
        typer.Option(min=1, metavar="N", help="Numbers of pages to measure at. Default: 100, 500, 1000."),
    ] = None,
    told: Annotated[
        str,
        typer.Option(metavar="WHAT", help="Describe topics only by words or only by examples. Default: both in turn."),
    ] = "",
    judge: Annotated[str, typer.Option(metavar="NAME", help="Judge to use. Default: that of 'lycosa crawl'.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A small web and two topics, as a quick check.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="All topics, seeds and published strategies, up to 5,000 pages; takes a day.")
    ] = False,
    develop: Annotated[
        bool, typer.Option("--develop", help="Use the development half of the topics, not the half that is reported.")
    ] = False,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Directory for runs and the report.")] = Path(
        "benchmark"
    ),
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Compare scent, its rivals and your own crawler.

    All crawlers get the same pages, frozen topics, seeds, budgets and judge; hidden labels decide which pages are
    relevant. Finished crawls are kept: the same command continues where it stopped. The report is
    DIR/report/index.html.

    For example:  lycosa lab benchmark --rival mine='python crawler.py'
    """
    size = _size(quick, full, budget or [], told, judge)
    size = replace(size, topics=topics or size.topics, draws=draws or size.draws)
    entrants = chosen(strategy or [], also or [], rival or [], quick=quick, full=full)
    for name in [*(strategy or []), *(also or [])]:
        STRATEGIES.maker(name.partition(",")[0])
    need("matplotlib", "plotly")
    half = DEVELOPMENT if develop else REPORT
    try:
        with progress(quiet or json) as tell:
            there = places(corpus or [], corpora, half, out / "corpora", quick=quick, full=full, tell=tell)
            made = lab.benchmark(there, size, entrants, out / "work", workers=workers, tell=tell)
    except KeyboardInterrupt:
        print(f"Stopped; finished crawls are kept in {out}. The same command continues.", file=sys.stderr)
        raise typer.Exit(130) from None
    known = lab.findings(made, half)
    page = write_report(known, out / "report", command=shlex.join(["lycosa", *sys.argv[1:]]))
    if json:
        print_json({"report": page, **known.as_dict()}, indent=1)
    elif not quiet:
        _print(known, page, quick=quick)


def _size(quick: bool, full: bool, budgets: list[int], told: str, judge: str) -> lab.Size:
    if quick and full:
        raise InputError("--quick and --full: choose one")
    if told and told not in lab.USUAL.told:
        raise InputError(f"--told is {told!r}: it is one of {', '.join(lab.USUAL.told)}")
    size = lab.QUICK if quick else lab.FULL if full else lab.USUAL
    return replace(
        size,
        budgets=tuple(sorted(set(budgets))) or size.budgets,
        told=(told,) if told else size.told,
        judge=judge or size.judge,
    )


def _print(known: Findings, page: Path, *, quick: bool) -> None:
    console = output()
    budgets = [f"benchmark-{budget}" for budget in known.configuration["size"]["budgets"]]
    keys = ["benchmark-cells", *budgets, "benchmark-cpu"]
    for part in [part for part in known.parts if isinstance(part, Table) and part.key in keys]:
        console.print(drawn(part))
    for remark in known.remarks:
        console.print(f"- {remark}", markup=False)
    for claim in known.claims:
        console.print(f"{claim.verdict}: {claim.text}. {' '.join(claim.evidence.split())}", markup=False)
    console.print(f"{known.summary}\nThe page: {page}", markup=False)
    if quick:
        console.print(QUICK, markup=False)
