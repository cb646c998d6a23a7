from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.papers import PAPERS, Bench


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
    text = capsys.readouterr()
    assert f"otie: of 2 claims 1 holds, 1 does not hold; {tmp_path}/o/otie/index.html" in text.out
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
    text = capsys.readouterr()
    assert ("", "lycosa: batsakis failed: no class has 20 pages\n") == (text.out, text.err)
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
    output = "Verdicts are unreliable"
    for words, there in ((["--quick"], True), ([], False)):
        run(monkeypatch, "lab", "paper", "all", "--corpus", str(corpus), "--out", str(tmp_path), *words)
        pages = [tmp_path / name / "index.html" for name in PAPERS if name != "batsakis"]
        assert [there] * 4 == [output in page.read_text("utf-8") for page in pages]
        assert there == (output in " ".join(capsys.readouterr().out.split()))


def test_bench_size_depends_on_quick_and_topics() -> None:
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
    text = capsys.readouterr()
    output = json.loads(text.out)["papers"]
    assert ["holds", "does not hold"] == [claim["verdict"] for claim in output["gouriten"]["claims"]]
    assert {"failure": "no class has 20 pages"} == output["batsakis"]
    assert "" == text.err


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (
            ["gouritten"],
            "unknown paper 'gouritten': choose one of otie, batsakis, personalized, gouriten, rules, freshness, or all",
        ),
        (["freshness", "--corpus", "nothing"], "freshness generates its own web: omit --corpus"),
        (["otie", "--corpus", "nothing"], "is not an index"),
        (["gouriten", "--topics", "30"], "gouriten has fixed topics: --topics is for otie, batsakis"),
    ],
)
def test_paper_rejects_bad_arguments(
    words: list[str], output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert 2 == run(monkeypatch, "lab", "paper", *words)
    assert output in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
