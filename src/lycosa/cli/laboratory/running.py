"""`lycosa lab run`: an experiment, from a file or from flags."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from lycosa.cli.laboratory.app import Workers, lab
from lycosa.cli.parameters import Json, Quiet
from lycosa.lab.experiments import Experiment

if TYPE_CHECKING:
    from lycosa.lab.running import Results


def _strategies(typed: str) -> list[str]:
    """What the shell offers after --strategy."""
    from lycosa.estimators import STRATEGIES

    return [name for name in STRATEGIES if name.startswith(typed)]


def _run(
    file: Path | None = None,
    *,
    out: Path | None = None,
    workers: int = 0,
    quiet: bool = False,
    json: bool = False,
    **flags: Any,
) -> None:
    """Compare strategies on a corpus, topic by topic.

    Each hunts each topic from the same seeds, within the same budget; labels decide what it found.

    What is done is kept: after Ctrl-C, or worse, the same command goes on where it stopped. The directory has
    experiment.toml (all settings), results.csv and results.parquet (a row for each crawl and budget), report/.

    For example:  lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first --topic Science
    """
    import shlex
    import sys

    from lycosa.cli.laboratory.progress import progress
    from lycosa.core.errors import InputError
    from lycosa.lab.running import run as run_all

    plan, index = _planned(file, {key: value for key, value in flags.items() if value not in (None, [])})
    out = out or Path(plan.name)
    if out.exists() and not (out / "experiment.toml").is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} is there already and is no experiment: name another directory with --out")
    if workers < 0:
        raise InputError(f"--workers is {workers}: it is a number of processes; 0: as many as there are cores")
    try:
        with progress(quiet) as tell:
            results = run_all(plan, out, index=index, workers=workers, tell=tell)
    except KeyboardInterrupt:
        done = sum(1 for _ in (out / "runs").glob("*.npz")) if out.is_dir() else 0
        print(f"Stopped; {done:,} finished crawls are kept in {out}. The same command goes on.", file=sys.stderr)
        raise typer.Exit(130) from None
    page = _report(results, out, shlex.join(["lycosa", *sys.argv[1:]]))
    if json:
        _print_json(results, out, page)
    elif not quiet:
        _print(results, out, page)
    if results.failed:
        if quiet or json:
            for line in results.remarks:
                if line.startswith("Failed"):
                    print(f"lycosa: {line}", file=sys.stderr)
        raise typer.Exit(1)


def _signature() -> inspect.Signature:
    """The command's parameters: most of them are settings of an experiment."""
    kinds = get_type_hints(Experiment)
    flags: dict[str, tuple[Any, Any]] = {}
    for item in fields(Experiment):
        told = item.metadata
        if told["flag"]:
            default = Experiment("", "", []).as_dict()[item.name]
            more = f" [default: {', '.join(map(str, default)) if isinstance(default, list) else default}]"
            text = told["help"] + (" Repeat it for more." if isinstance(default, list) else "")
            text += more if default not in ("", []) else ""
            shell = _strategies if item.name == "strategies" else None
            option = typer.Option(told["flag"], metavar=told["metavar"], help=text, autocompletion=shell)
            flags[item.name] = Annotated[kinds[item.name] | None, option], None
    file = typer.Argument(metavar="EXPERIMENT.toml", help="All settings in a file; flags replace what it says.")
    out = typer.Option("--out", "-o", metavar="DIR", help="Where all of it goes. Default: the experiment's name.")
    given = {"file": (Annotated[Path | None, file], None), **flags, "out": (Annotated[Path | None, out], None)}
    given |= {"workers": (Workers, 0), "quiet": (Quiet, False), "json": (Json, False)}
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Signature(
        [inspect.Parameter(name, keyword, default=value, annotation=kind) for name, (kind, value) in given.items()]
    )


_run.__signature__ = _signature()  # type: ignore[attr-defined]  # functions take one
lab.command("run")(_run)


def _planned(file: Path | None, flags: dict[str, Any]) -> tuple[Experiment, Any]:
    """The experiment and its corpus; flags replace what a file says."""
    from dataclasses import replace

    from lycosa.core.errors import InputError

    if file is None:
        if "corpus" not in flags:
            raise InputError(
                "nothing to run: name a file, or a corpus with --corpus DIR and strategies with --strategy NAME; "
                "'lycosa lab index' makes a corpus"
            )
        stem = Path(flags["corpus"]).resolve().name.removesuffix(".index")
        plan = Experiment(name=f"{stem}-experiment", **{"strategies": [], **flags})
    else:
        plan = replace(Experiment.load(file), **flags)
    plan.check()
    index = plan.open()
    if file is None and "told" not in flags and not index.has_text:
        plan = replace(plan, told="score", mode="as-published")
    return plan, index


def _report(results: Results, out: Path, command: str) -> Path | None:
    """Write the report; where the extra for it is missing, that is a remark, and no reason to fail."""
    from lycosa.core.errors import InputError
    from lycosa.lab.report import write_report

    try:
        return write_report(results.findings(), out / "report", command)
    except InputError as error:
        results.remarks.append(f"No report: {error}")
        return None


def _print_json(results: Results, out: Path, page: Path | None) -> None:
    from json import dumps

    from lycosa.lab.results import plain

    budgets = results.experiment.budgets
    told = {
        "out": str(out),
        "report": str(page) if page else None,
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
        "remarks": results.remarks,
        "failed": results.failed,
    }  # fmt: skip
    print(dumps(told, indent=1))


def _print(results: Results, out: Path, page: Path | None) -> None:
    import shlex

    from rich.table import Table
    from rich.text import Text

    from lycosa.cli.manners import output
    from lycosa.drawing.formats import many

    plan, console = results.experiment, output()
    mode = ", as published: the guide judges itself" if results.mode == "as-published" else ""
    console.print(f"Harvest, mean and 95 % interval{mode}", style="italic", markup=False, highlight=False)
    table = Table(box=None, pad_edge=False)
    table.add_column("strategy", overflow="fold")
    table.add_column("given")
    for budget in plan.budgets:
        table.add_column(f"{budget:,} pages", justify="right", no_wrap=True)
    for text in results.ranked(plan.budget):
        cells = []
        for budget in plan.budgets:
            mean, low, high, units = results.interval(text, budget)
            cells.append(f"{mean:.3f} ({low:.3f} to {high:.3f})" if units > 1 else f"{mean:.3f}")
        table.add_row(Text(text), results.given(text), *cells)
    console.print(table)
    console.print(
        f"\n{many(len(results.outcomes), 'crawl')} on {many(len(results.subjects), 'topic')}: "
        f"{', '.join(results.subjects)}",
        markup=False, highlight=False,
    )  # fmt: skip
    for remark in _joined(results.remarks, list(results.subjects)):
        console.print(f"- {remark}", markup=False, highlight=False)
    console.print(f"\nAll numbers: {out / 'results.csv'}", markup=False, highlight=False)
    if page:
        console.print(f"The report:  {page}", markup=False, highlight=False)
    again = shlex.quote(str(out / "experiment.toml"))
    console.print(
        f"Next: change {again}, then 'lycosa lab run {again} --out another', and compare both with\n"
        f"      lycosa lab compare {shlex.quote(str(out / 'report'))} another/report",
        markup=False, highlight=False,
    )  # fmt: skip


def _joined(remarks: list[str], subjects: list[str]) -> list[str]:
    """The remarks, those that several topics have in common once; results.remarks and --json have each."""
    about: dict[str, list[str]] = {}
    for remark in remarks:
        subject, colon, rest = remark.partition(": ")
        known = colon and subject in subjects
        about.setdefault(rest if known else remark, []).extend([subject] if known else [])
    return [f"{', '.join(names)}: {text}" if names else text for text, names in about.items()]
