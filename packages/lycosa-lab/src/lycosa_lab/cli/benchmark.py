"""`lycosa lab benchmark`: scent, its rivals and user strategies on frozen topics."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from lycosa.cli.commands import with_more
from lycosa.cli.parameters import Json, Quiet, Workers
from lycosa.cli.printing import print_result
from lycosa.cli.progress_bar import show_progress
from lycosa.core.errors import InputError
from lycosa_lab import benchmark as lab
from lycosa_lab.benchmark.corpora import DEVELOPMENT, REPORT, open_corpora
from lycosa_lab.benchmark.entrants import entrants
from lycosa_lab.cli.printing import printed_parts, report_interrupt
from lycosa_lab.cli.run import settings
from lycosa_lab.experiments import one_of
from lycosa_lab.papers import QUICK, Bench
from lycosa_lab.report import write_report


@with_more(settings("strategies", "subject_count", "description", "judge", "seed_sets", "budgets"))
def benchmark(
    *,
    corpora: Annotated[
        Path | None, "DIR", "Directory of the corpora (wikispeedia-blind, webkb, mdn, with labels)."
    ] = None,
    corpus: Annotated[
        list[str] | None, "NAME", "Only this corpus, or an index of your own. Default: all in --corpora, and embedded."
    ] = None,
    also: Annotated[
        list[str] | None, "NAME", "Strategies in addition to the default ones, or to those of --strategy."
    ] = None,
    quick: Annotated[bool, "A small web and two topics, as a quick check."] = False,
    full: Annotated[bool, "All topics, seeds and published strategies, up to 5,000 pages; takes a day."] = False,
    develop: Annotated[bool, "Use the development half of the topics, not the half that is reported."] = False,
    out: Annotated[Path, "-o", "DIR", "Directory for runs and the report."] = Path("benchmark"),
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
    **flags: Any,
) -> None:
    """Compare scent, its rivals and your own crawler.

    All crawlers get the same pages, frozen topics, seeds, budgets and judge; hidden labels decide which pages are
    relevant. By default: oracle, scent and its rivals; words and examples; 100, 500 and 1,000 pages; a dozen crawls of
    each kind; the judge of 'lycosa crawl'. Finished crawls are kept: the same command continues where it stopped. The
    report is DIR/report/index.html.

    For example:  lycosa lab benchmark --also 'program,command=python crawler.py'
    """
    if quick and full:
        raise InputError("conflicting-options", "--quick and --full exclude each other: choose one")
    size = lab.QUICK if quick else lab.FULL if full else lab.USUAL
    only = flags.pop("strategies") or []
    if description := flags.pop("description"):
        one_of("--description", description, size.description)
        flags["description"] = (description,)
    if budgets := flags.pop("budgets"):
        flags["budgets"] = tuple(sorted(set(budgets)))
    size = replace(size, **{name: value for name, value in flags.items() if value})
    compared = entrants(only, also or [], quick=quick, full=full)
    half = DEVELOPMENT if develop else REPORT
    with report_interrupt(out), show_progress(quiet or json) as progress:
        there = open_corpora(corpus or [], corpora, half, out / "corpora", quick=quick, full=full, progress=progress)
        bench = Bench(there[0].index, out / "work", quick, workers=workers, progress=progress)
        known = lab.findings(bench, there, size, compared, half)
    page = write_report(known, out / "report", command=shlex.join(["lycosa", *sys.argv[1:]]))
    shown = printed_parts(
        known, "benchmark-cells", *(f"benchmark-{number}" for number in size.budgets), "benchmark-cpu"
    )
    lines = [*shown, f"The page: {page}", *([QUICK] if quick else [])]
    print_result({"report": page, **known.as_dict()}, lines, json=json, quiet=quiet)
