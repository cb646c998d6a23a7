from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa_lab import report
from lycosa_lab.corpora.recorded import embedded
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.findings import Claim, Findings, ReportTable
from lycosa_lab.index_writer import write_index
from lycosa_lab.papers import PAPERS, Bench
from lycosa_lab.report import publishing


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch) -> list[Bench]:
    """Replace the papers by instant experiments, of which batsakis fails; return the benches they were given."""
    given: list[Bench] = []

    def make(name: str) -> ModuleType:
        module = ModuleType(f"lycosa_lab.papers.{name}")

        def findings(bench: Bench) -> Findings:
            given.append(bench)
            bench.progress("crawling", 1, 2)
            if name == "batsakis":
                raise InputError("no class has 20 pages")
            (bench.out / "runs").write_text("kept")
            claims = [Claim("It is so", "8.2", "holds", "1"), Claim("Or so", "8.3", "does not hold", "0")]
            table = ReportTable("t", "Pages", ["corpus", "pages"], [["it", len(bench.index)]])
            return Findings(name, f"The paper {name}", [table], claims, corpus=bench.index.facts)

        module.findings = findings  # type: ignore[attr-defined]
        return module

    for name in PAPERS:
        monkeypatch.setitem(sys.modules, f"lycosa_lab.papers.{name}", make(name))
    return given


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("corpus") / "small.index"
    write_index(embedded(pages=60, hosts=4), path, source="small")
    return path


def test_paper_writes_page_and_summary(
    papers: list[Bench],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["--corpus", str(corpus), "--quick", "--topics", "30", "--random-seed", "3", "--workers", "1"]
    words += ["--out", str(tmp_path / "o")]
    assert 0 == run(monkeypatch, "lab", "paper", "otie", *words)
    said = capsys.readouterr()
    assert f"otie: of 2 claims 1 holds, 1 does not hold; {tmp_path}/o/otie/index.html" in said.out
    (bench,) = papers
    assert (True, 30, 3, 1) == (bench.quick, bench.topics, bench.random_seed, bench.workers)
    assert tmp_path / "o/otie/work" == bench.out
    page = (tmp_path / "o/otie/index.html").read_text("utf-8")
    assert (
        f"lycosa lab paper otie --corpus {corpus} --quick --topics 30 --random-seed 3 --workers 1 --out {tmp_path}/o"
        in page
    )


def test_paper_all_continues_after_failure(
    papers: list[Bench],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 2 == run(monkeypatch, "lab", "paper", "all", "--corpus", str(corpus), "--out", str(tmp_path), "--quiet")
    said = capsys.readouterr()
    assert ("", "lycosa: batsakis failed: no class has 20 pages\n") == (said.out, said.err)
    assert 4 == sum((tmp_path / name / "index.html").is_file() for name in PAPERS)
    assert 5 == len(papers)
    assert "kept" == (tmp_path / "rules/work/runs").read_text()


def test_paper_quick_warns_of_small_size(
    papers: list[Bench],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    told = "Too small for a verdict that counts"
    for words, there in ((["--quick"], True), ([], False)):
        run(monkeypatch, "lab", "paper", "all", "--corpus", str(corpus), "--out", str(tmp_path), *words)
        pages = [tmp_path / name / "index.html" for name in PAPERS if name != "batsakis"]
        assert [there] * 4 == [told in page.read_text("utf-8") for page in pages]
        assert there == (told in " ".join(capsys.readouterr().out.split()))


def test_bench_size_default_topics() -> None:
    benches = [
        Bench(CorpusIndex.of({"a": ["b"]}), Path(), quick, topics=many) for quick in (True, False) for many in (0, 30)
    ]
    assert [6, 30, 10, 30] == [bench.size["subject_count"] for bench in benches]


def test_paper_json_prints_verdicts(
    papers: list[Bench],
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 2 == run(monkeypatch, "lab", "paper", "all", "--corpus", str(corpus), "--out", str(tmp_path), "--json")
    said = capsys.readouterr()
    told = json.loads(said.out)["papers"]
    assert ["holds", "does not hold"] == [claim["verdict"] for claim in told["gouriten"]["claims"]]
    assert {"failure": "no class has 20 pages"} == told["batsakis"]
    assert "" == said.err


def test_publish_caches_embedded_web(papers: list[Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "EMBEDDED", 60)
    heard: list[tuple[str, int, int]] = []
    publishing.publish(["rules"], tmp_path, "", progress=lambda *told: heard.append(told))
    assert ("rules: crawling", 1, 2) == heard[-1]
    (kept,) = (tmp_path / "cache").iterdir()
    made = (kept / "index.json").stat().st_mtime_ns
    publishing.publish(["rules"], tmp_path, "")
    assert made == (kept / "index.json").stat().st_mtime_ns
    (kept / "child.npy").unlink()
    publishing.publish(["rules"], tmp_path, "")
    assert papers[0].index.fingerprint == papers[2].index.fingerprint == CorpusIndex.open(kept).fingerprint


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["gouritten"],
            "no paper 'gouritten': name one of otie, batsakis, personalized, gouriten, rules, freshness, or all",
        ),
        (["freshness", "--corpus", "nothing"], "freshness has a web of its own, which changes: leave out --corpus"),
        (["otie", "--corpus", "nothing"], "is not an index"),
        (["gouriten", "--topics", "30"], "gouriten chooses its topics itself: --topics is for otie, batsakis"),
    ],
)
def test_paper_rejects_bad_arguments(
    words: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 2 == run(monkeypatch, "lab", "paper", *words)
    assert told in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_publish_missing_package_is_reported_first(
    papers: list[Bench], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None if name == "pyarrow" else sys)
    with pytest.raises(InputError, match=r"need pyarrow: pip install lycosa-lab"):
        publishing.publish(["otie"], tmp_path, "")
    assert [] == papers
