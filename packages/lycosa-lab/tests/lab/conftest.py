from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from lycosa.core.errors import InputError
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Claim, Findings, ReportTable
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.papers import PAPERS, Bench

USER_STRATEGY = """
from dataclasses import dataclass

import numpy as np


@dataclass
class Own:
    proportional = False
    wants = ()

    def learn(self, step, table):
        if table.nodes[step.row] == "n20":
            {code}
        return step.children

    def priority(self, rows, table):
        return np.ones(len(rows))
"""


@pytest.fixture(scope="session")
def web_pages() -> list[RecordedPage]:
    return list(embedded(7, pages=400, hosts=10))


@pytest.fixture(scope="session")
def web(web_pages: list[RecordedPage], tmp_path_factory: pytest.TempPathFactory) -> CorpusIndex:
    return write_index(web_pages, tmp_path_factory.mktemp("web") / "index", source="embedded")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus") / "small.index"
    write_index(embedded(pages=250, hosts=8), out, source="embedded web, small")
    return out


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Return a function that writes a user strategy, which runs some code at node n20, and returns its name."""
    monkeypatch.syspath_prepend(tmp_path)
    numbers = iter(range(9))

    def make(code: str) -> str:
        name = f"own_strategy_{next(numbers)}_{tmp_path.name}"
        (tmp_path / f"{name}.py").write_text(USER_STRATEGY.format(code=code))
        return f"{name}:Own"

    return make


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    """Replace the papers by instant experiments, of which batsakis fails; return the benches passed to them."""
    benches: list[Bench] = []

    def make(name: str) -> ModuleType:
        module = ModuleType(f"lycosa_lab.papers.{name}")

        def findings(bench: Bench) -> Findings:
            benches.append(bench)
            bench.progress("crawling", 1, 2)
            if name == "batsakis":
                raise InputError("too-few-pages", "no class has 20 pages")
            (bench.out / "runs").write_text("kept")
            claims = [Claim("It is so", "8.2", "holds", "1"), Claim("Or so", "8.3", "does not hold", "0")]
            table = ReportTable("t", "Pages", ["corpus", "pages"], [["it", len(bench.index)]])
            return Findings(name, f"The paper {name}", [table], claims, corpus=bench.index.facts)

        module.findings = findings  # type: ignore[attr-defined]
        return module

    for name in PAPERS:
        monkeypatch.setitem(sys.modules, f"lycosa_lab.papers.{name}", make(name))
    return benches
