"""`lycosa lab run`: an experiment, from a file or from options."""

from __future__ import annotations

import inspect
import shlex
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from lycosa.cli.commands import optional, with_more
from lycosa.cli.parameters import REGISTRIES, Json, Quiet, Workers
from lycosa.cli.printing import print_result
from lycosa.cli.progress_bar import show_progress
from lycosa.core.errors import InputError
from lycosa_lab import experiment_runner as running
from lycosa_lab.cache import corpus_digest
from lycosa_lab.cli.printing import printed_parts, report_interrupt
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import Experiment
from lycosa_lab.findings import plain
from lycosa_lab.report import write_report
from lycosa_lab.results import read_rows
from lycosa_lab.tables import findings


def settings(*only: str) -> list[inspect.Parameter]:
    """Return the settings of an experiment as command-line options; with `only`, just these, without defaults."""
    kinds, usual = get_type_hints(Experiment), Experiment("", "", []).as_dict()
    parameters = []
    for item in fields(Experiment):
        about, default = item.metadata, usual[item.name]
        if about["flag"] and (not only or item.name in only):
            text = about["help"] + (" Repeatable." if isinstance(default, list) else "")
            if default not in ("", []) and not only:
                text += f" [default: {', '.join(map(str, default)) if isinstance(default, list) else default}]"
            registry = [REGISTRIES[item.name]] if item.name in REGISTRIES else []
            texts = [about["flag"], about["metavar"], *registry, text]
            parameters.append(optional(item.name, Annotated[kinds[item.name] | None, *texts]))
    return parameters


@with_more(settings())
def run(
    file: Annotated[Path | None, "EXPERIMENT.toml", "Read all settings from a file; options take precedence."] = None,
    *,
    against: Annotated[
        str,
        "NAME",
        "Print paired differences, on the same topics and seeds, to this strategy; or to the same strategies in the "
        "directory of another experiment, such as one of another version or with another judge.",
    ] = "",
    out: Annotated[Path | None, "-o", "DIR", "Directory for the experiment. Default: its name."] = None,
    workers: Workers = 0,
    quiet: Quiet = False,
    json: Json = False,
    **flags: Any,
) -> None:
    """Compare strategies on a corpus, topic by topic.

    Each strategy crawls for each topic from the same seeds, with the same budget; labels decide which pages are
    relevant.

    Finished crawls are kept: after Ctrl-C or a crash, the same command continues where it stopped. The directory
    contains experiment.toml (all settings), results.csv (one row per crawl and budget) and report/.

    For example:  lycosa lab run --corpus my.index --strategy best-first --strategy breadth-first --topic Science
    """
    plan, index = _plan_and_corpus(
        file, {key: value for key, value in flags.items() if value not in (None, [])}, against
    )
    before = read_rows(Path(against), corpus_digest(index)) if against and Path(against).is_dir() else None
    out = out or Path(plan.name)
    if out.exists() and not (out / "experiment.toml").is_file() and (not out.is_dir() or any(out.iterdir())):
        raise InputError("file-exists", f"{out} is not an experiment: choose another directory with --out")
    with report_interrupt(out), show_progress(quiet or json) as progress:
        results = running.run(plan, out, index=index, workers=workers, progress=progress)
    found = findings(results, against, before)
    page = write_report(found, out / "report", shlex.join(["lycosa", *sys.argv[1:]]))
    again = shlex.quote(str(out / "experiment.toml"))
    lines = [
        *printed_parts(found, f"{found.key}-harvest", f"{found.key}-differences"),
        f"All numbers: {out / 'results.csv'}",
        f"The report:  {page}",
        f"Next: change {again}, then 'lycosa lab run {again} --out another --against {shlex.quote(str(out))}'",
    ]
    print_result(
        {"out": out, "report": page, **plain(found.as_dict()), "failed": results.failed}, lines, json=json, quiet=quiet
    )
    if results.failed:
        for line in found.remarks if quiet or json else ():
            if line.startswith("Failed"):
                print(f"lycosa: {line}", file=sys.stderr)
        raise typer.Exit(1)


def _plan_and_corpus(file: Path | None, flags: dict[str, Any], against: str) -> tuple[Experiment, CorpusIndex]:
    if file is None:
        if "corpus" not in flags:
            raise InputError(
                "missing-option",
                "nothing to run: give a file, or a corpus with --corpus DIR and strategies with --strategy NAME; "
                "'lycosa lab index' makes a corpus",
            )
        stem = Path(flags["corpus"]).resolve().name.removesuffix(".index")
        plan = Experiment(name=f"{stem}-experiment", **{"strategies": [], **flags})
    else:
        plan = replace(Experiment.load(file), **flags)
    if against and not Path(against).is_dir() and against not in plan.strategies:
        plan.strategies.append(against)
    plan.check()
    index = plan.open()
    if file is None and "description" not in flags and not index.has_text:
        plan = replace(plan, description="score", mode="as-published")
    return plan, index
