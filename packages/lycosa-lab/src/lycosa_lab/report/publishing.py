"""Reports of the papers' experiments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Findings
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import BY_TOPICS, EXPERIMENTS, NO_CORPUS, QUICK, Bench, findings
from lycosa_lab.report import WARNING, require_packages, write_report

EMBEDDED = 3000  # pages of the embedded web, which is the default corpus


def publish(
    names: Sequence[str],
    out: Path,
    command: str,
    *,
    corpus: Path | None = None,
    progress: ProgressCallback = no_progress,
    **options: Any,
) -> dict[str, Findings | str]:
    """Run experiments on a Bench with `options` and write reports; return the findings or error message of each."""
    for name in names:
        if name not in EXPERIMENTS:
            raise InputError("unknown-name", f"unknown paper {name!r}: choose one of {', '.join(EXPERIMENTS)}, or all")
    if options.get("topics") and not set(names) & set(BY_TOPICS):
        raise InputError("conflicting-options", f"{names[0]} has fixed topics: --topics is for {', '.join(BY_TOPICS)}")
    require_packages("pyarrow", "sklearn")
    alone = NO_CORPUS.issuperset(names)
    if corpus and alone:
        raise InputError("conflicting-options", f"{', '.join(names)} generates its own web: omit --corpus")
    index: Any = None if alone else CorpusIndex.open(corpus) if corpus else embedded_web(out / "cache", progress)
    outcomes: dict[str, Findings | str] = {}
    for name in names:
        named_progress: ProgressCallback = lambda what, *count, name=name: progress(f"{name}: {what}", *count)  # noqa: E731
        try:
            bench = Bench(index, out / name / "work", progress=named_progress, **options)
            bench.out.mkdir(parents=True, exist_ok=True)
            measured = findings(name, bench)
            if bench.quick:
                measured.remarks.insert(0, f"{WARNING}{QUICK}")
            write_report(measured, out / name, command)
            outcomes[name] = measured
        except LycosaError as error:
            outcomes[name] = str(error)
    return outcomes


def embedded_web(kept: Path, progress: ProgressCallback) -> CorpusIndex:
    path = kept / f"embedded-{EMBEDDED}.index"
    if path.exists():
        try:
            return CorpusIndex.open(path)
        except InputError:
            pass  # written by another version, or damaged: rebuilt below
    kept.mkdir(parents=True, exist_ok=True)
    return write_index(
        embedded(pages=EMBEDDED), path, source=f"the embedded web, {EMBEDDED:,} pages", progress=progress
    )
