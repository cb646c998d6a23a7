"""Make the reports of papers, one after the other, and the front page: how the claims of each fare."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from lycosa.core.errors import InputError, LycosaError
from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.recorded import embedded
from lycosa.lab.findings import FAILS, HOLDS, UNTESTED, Findings
from lycosa.lab.index import Index
from lycosa.lab.indexing import write_index
from lycosa.lab.papers import BY_TOPICS, EXPERIMENTS, NO_CORPUS, QUICK, Bench, findings
from lycosa.lab.report.page import WARNING, About, render
from lycosa.lab.report.writing import PAGE, need, write_files, write_report

EMBEDDED = 3000  # pages of the embedded web, the default corpus


@dataclass
class Paper:
    """A report that the front page leads to, or why there is none."""

    key: str
    about: str
    findings: Findings | None = None
    failure: str = ""

    @property
    def verdicts(self) -> dict[str, int]:
        """How many claims hold, do not, cannot be tested."""
        count = Counter(claim.verdict for claim in self.findings.claims) if self.findings else Counter()
        return {verdict: count[verdict] for verdict in (HOLDS, FAILS, UNTESTED)}

    @property
    def href(self) -> str:
        """Where its page is, seen from the front page."""
        return f"{quote(self.key)}/{PAGE}"


def write_front(papers: Sequence[Paper], out: Path, command: str, *, quick: bool = False) -> Path:
    """Write the front page; where it is."""
    corpus = next((str(one.findings.corpus.get("source", "")) for one in papers if one.findings), "")
    page = render(
        "front.html",
        "Five papers, measured here",
        About(command),
        papers=papers,
        corpus=corpus,
        warnings=[QUICK] if quick else [],
    )
    write_files(out, {PAGE: page.encode()})
    return out / PAGE


def publish(
    names: Sequence[str], out: Path, *, corpus: Path | None = None, tell: Tell = silent, **wanted: Any
) -> list[Paper]:
    """Run the experiments of papers and write a report of each under `out`; one that fails does not stop the others.

    What is `wanted` are fields of a Bench. What was run is kept under `out`/PAPER/work: a second call goes on from
    there.
    """
    for name in names:
        if name not in EXPERIMENTS:
            raise InputError(f"there is no paper {name!r}: name one of {', '.join(EXPERIMENTS)}, or all")
    if wanted.get("topics") and not set(names) & set(BY_TOPICS):
        raise InputError(f"{names[0]} chooses its topics itself: --topics is for {', '.join(BY_TOPICS)}")
    need("pyarrow", "sklearn")
    alone = NO_CORPUS.issuperset(names)
    if corpus and alone:
        raise InputError(f"{', '.join(names)} has a web of its own, which changes: leave out --corpus")
    index: Any = None if alone else Index.open(corpus) if corpus else embedded_web(out / "cache", tell)
    made = []
    for name in names:
        paper = Paper(name, EXPERIMENTS[name])
        try:
            bench = Bench(index, out / name / "work", tell=_named(name, tell), **wanted)
            bench.out.mkdir(parents=True, exist_ok=True)
            measured = findings(name, bench)
            if bench.quick:
                measured.remarks.insert(0, f"{WARNING}{QUICK}")
            write_report(measured, out / name, command(name, out, corpus, **wanted))
            paper.findings = measured  # only now: the front page leads to reports that are written
        except LycosaError as error:
            paper.failure = str(error)
        made.append(paper)
    return made


def command(name: str, out: Path, corpus: Path | None = None, **wanted: Any) -> str:
    """What makes it again.

    >>> command("rules", Path("papers"), quick=True, large=False, topics=8, workers=2)
    'lycosa lab paper rules --quick --topics 8 --out papers'
    """
    words = ["lycosa", "lab", "paper", name, *(["--corpus", str(corpus)] if corpus else [])]
    words += [f"--{switch}" for switch in ("quick", "large") if wanted.get(switch)]
    for number in ("topics", "random_seed"):
        words += [f"--{number.replace('_', '-')}", str(wanted[number])] if wanted.get(number) else []
    return shlex.join([*words, "--out", str(out)])


def embedded_web(kept: Path, tell: Tell) -> Index:
    """The embedded web as a corpus; made once, then kept."""
    path = kept / f"embedded-{EMBEDDED}.index"
    if path.exists():
        try:
            return Index.open(path)
        except InputError:
            pass  # of another version, or damaged: it is made again
    kept.mkdir(parents=True, exist_ok=True)
    return write_index(embedded(pages=EMBEDDED), path, source=f"the embedded web, {EMBEDDED:,} pages", tell=tell)


def _named(name: str, tell: Tell) -> Tell:
    return lambda what, done, total: tell(f"{name}: {what}", done, total)
