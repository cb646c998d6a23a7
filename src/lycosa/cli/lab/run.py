"""`lycosa lab run`: an experiment, from a file or from flags."""

from __future__ import annotations

import inspect
import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from rich.table import Column

from lycosa.cli.parameters import Json, Quiet, Workers, optional, strategy_names, with_more
from lycosa.cli.printing import listing, output, print_json, right
from lycosa.cli.progress import progress
from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa.lab import running
from lycosa.lab.certainty import Difference
from lycosa.lab.experiments import Experiment
from lycosa.lab.findings import Findings, plain
from lycosa.lab.index import Index
from lycosa.lab.keeping import corpus_mark
from lycosa.lab.report import write_report
from lycosa.lab.results import Results, read_rows


def _settings() -> list[inspect.Parameter]:
    """Settings of an experiment, as options."""
    kinds = get_type_hints(Experiment)
    parameters = []
    for item in fields(Experiment):
        about = item.metadata
        if about["flag"]:
            default = Experiment("", "", []).as_dict()[item.name]
            more = f" [default: {', '.join(map(str, default)) if isinstance(default, list) else default}]"
            text = about["help"] + (" Repeatable." if isinstance(default, list) else "")
            text += more if default not in ("", []) else ""
            shell = strategy_names if item.name == "strategies" else None
            option = typer.Option(about["flag"], metavar=about["metavar"], help=text, autocompletion=shell)
            parameters.append(optional(item.name, Annotated[kinds[item.name] | None, option]))
    return parameters


@with_more(_settings(), at=1)
def run(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="EXPERIMENT.toml", help="Read all settings from a file; options take precedence."),
    ] = None,
    *,
    against: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Print paired differences, on the same topics and seeds, to this strategy; or to the same "
            "strategies in the directory of another experiment, such as one of another version or with another judge.",
        ),
    ] = "",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Directory for the experiment. Default: its name."),
    ] = None,
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
    **flags: Any,
) -> None:
    """Compare strategies on a corpus, topic by topic.

    Each strategy crawls for each topic from the same seeds, with the same budget; labels decide which pages are
    relevant.

    Finished crawls are kept: after Ctrl-C or a crash, the same command continues where it stopped. The directory
    contains experiment.toml (all settings), results.csv and results.parquet (one row per crawl and budget) and
    report/.

    For example:  lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first --topic Science
    """
    plan, index = _planned(file, {key: value for key, value in flags.items() if value not in (None, [])}, against)
    before = read_rows(Path(against), corpus_mark(index)) if against and Path(against).is_dir() else None
    out = out or Path(plan.name)
    if out.exists() and not (out / "experiment.toml").is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} already exists and is not an experiment: choose another directory with --out")
    if workers < 0:
        raise InputError(f"--workers is {workers}: it must be a number of processes, or 0 for one per core")
    try:
        with progress(quiet) as tell:
            results = running.run(plan, out, index=index, workers=workers, tell=tell)
    except KeyboardInterrupt:
        done = sum(1 for _ in (out / "runs").glob("*.npz")) if out.is_dir() else 0
        print(f"Stopped; {done:,} finished crawls are kept in {out}. The same command continues.", file=sys.stderr)
        raise typer.Exit(130) from None
    found = results.findings(against, before)
    results.remarks = found.remarks
    page = _report(found, out, shlex.join(["lycosa", *sys.argv[1:]]))
    apart = results.differences("" if before is not None else against, before) if against else []
    if json:
        _print_json(results, out, page, apart)
    elif not quiet:
        _print(results, out, page, against, apart)
    if results.failed:
        if quiet or json:
            for line in results.remarks:
                if line.startswith("Failed"):
                    print(f"lycosa: {line}", file=sys.stderr)
        raise typer.Exit(1)


def _planned(file: Path | None, flags: dict[str, Any], against: str) -> tuple[Experiment, Index]:
    """The experiment and its corpus; flags replace what a file says."""
    if file is None:
        if "corpus" not in flags:
            raise InputError(
                "nothing to run: give a file, or a corpus with --corpus DIR and strategies with --strategy NAME; "
                "'lycosa lab index' makes a corpus"
            )
        stem = Path(flags["corpus"]).resolve().name.removesuffix(".index")
        plan = Experiment(name=f"{stem}-experiment", **{"strategies": [], **flags})
    else:
        plan = replace(Experiment.load(file), **flags)
    if against and not Path(against).is_dir() and against not in plan.strategies:
        plan.strategies.append(against)
    plan.check()
    index = plan.open()
    if file is None and "told" not in flags and not index.has_text:
        plan = replace(plan, told="score", mode="as-published")
    return plan, index


def _report(found: Findings, out: Path, command: str) -> Path | None:
    """Write the report; where the extra for it is missing, that is a remark, and no reason to fail."""
    try:
        return write_report(found, out / "report", command)
    except InputError as error:
        found.remarks.append(f"No report: {error}")
        return None


def _print_json(results: Results, out: Path, page: Path | None, apart: list[tuple[str, int, Difference]]) -> None:
    budgets = results.experiment.budgets
    told = {
        "out": out,
        "report": page,
        "experiment": results.experiment.as_dict(),
        "crawls": len(results.outcomes),
        "strategies": [
            {
                "strategy": text,
                "given": results.given(text),
                "harvest": [
                    {"budget": budget, "mean": plain(mean), "low": plain(low), "high": plain(high), "crawls": crawls}
                    for budget, (mean, low, high, crawls) in ((one, results.interval(text, one)) for one in budgets)
                ],
            }
            for text in results.ranked(budgets[-1])
        ],
        "differences": [
            {"strategy": text, "budget": budget, **{name: plain(value) for name, value in one._asdict().items()}}
            for text, budget, one in apart
        ],
        "remarks": results.remarks,
        "failed": results.failed,
    }  # fmt: skip
    print_json(told, indent=1)


def _print(
    results: Results, out: Path, page: Path | None, against: str, apart: list[tuple[str, int, Difference]]
) -> None:
    plan, console = results.experiment, output()
    mode = ", as published: the guide judges itself" if results.mode == "as-published" else ""
    console.print(f"Harvest, mean and 95 % interval{mode}", style="italic", markup=False)
    columns = [Column("strategy", overflow="fold"), Column("given")]
    columns += [right(f"{budget:,} pages", no_wrap=True) for budget in plan.budgets]
    rows = []
    for text in results.ranked(plan.budget):
        cells = []
        for budget in plan.budgets:
            mean, low, high, units = results.interval(text, budget)
            cells.append(f"{mean:.3f} ({low:.3f} to {high:.3f})" if units > 1 else f"{mean:.3f}")
        rows.append([text, results.given(text), *cells])
    console.print(listing(columns, rows, show_edge=True, pad_edge=False))
    if apart:
        console.print(f"\nHarvest less that of {against}, paired by topic and seeds", style="italic", markup=False)
        columns = [Column("strategy", overflow="fold"), right("pages"), right("difference"), right("p")]
        rows = [[text, f"{budget:,}", str(one), f"{one.p:.3f}"] for text, budget, one in apart]
        console.print(listing(columns, rows, show_edge=True, pad_edge=False))
    console.print(
        f"\n{many(len(results.outcomes), 'crawl')} on {many(len(results.subjects), 'topic')}: "
        f"{', '.join(results.subjects)}",
        markup=False,
    )  # fmt: skip
    for remark in _joined(results.remarks, list(results.subjects)):
        console.print(f"- {remark}", markup=False)
    console.print(f"\nAll numbers: {out / 'results.csv'}", markup=False)
    if page:
        console.print(f"The report:  {page}", markup=False)
    again = shlex.quote(str(out / "experiment.toml"))
    console.print(
        f"Next: change {again}, then 'lycosa lab run {again} --out another --against {shlex.quote(str(out))}'",
        markup=False,
    )  # fmt: skip


def _joined(remarks: list[str], subjects: list[str]) -> list[str]:
    """The remarks, those that several topics have in common once; results.remarks and --json have each."""
    about: dict[str, list[str]] = {}
    for remark in remarks:
        subject, colon, rest = remark.partition(": ")
        known = colon and subject in subjects
        about.setdefault(rest if known else remark, []).extend([subject] if known else [])
    return [f"{', '.join(names)}: {text}" if names else text for text, names in about.items()]
