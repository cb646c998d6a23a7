"""`lycosa why` as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run

LINKS = "a\tb\t.5\na\tc\t.25\na\td\t0\nb\te\t1\nb\tc\t.5\nz\ty\t1\n"
SCORES = "a\t.5\nb\t1\n"


@pytest.fixture
def graph(tmp_path: Path) -> str:
    """A graph on disk, as --space names it."""
    (tmp_path / "links.tsv").write_text(LINKS)
    (tmp_path / "scores.tsv").write_text(SCORES)
    return f"graph,file={tmp_path / 'links.tsv'},scores={tmp_path / 'scores.tsv'}"


def crawl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], graph: str, out: Path, *more: str
) -> str:
    """Crawl it from a; two pages unless told otherwise."""
    words = ["crawl", "--space", graph, "--seed", "a", "--out", str(out), "--quiet"]
    assert 0 == run(monkeypatch, *words, *(more or ("--budget", "2")))
    capsys.readouterr()
    return str(out)


def test_a_link_that_waits(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its place, its terms with bars, and where it was found; a strategy that explains itself adds up."""
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "2", "--strategy", "scent")
    assert 0 == run(monkeypatch, "why", made, "e", width=100)
    told = capsys.readouterr().out
    assert "waits as number 2 of 3" in told
    assert "█" in told
    assert "found on" in told
    assert 0 == run(monkeypatch, "why", made, "e", "--json")
    facts = json.loads(capsys.readouterr().out)
    assert ("e", "waits", ["b"]) == (facts["node"], facts["state"], [parent["node"] for parent in facts["parents"]])
    view = facts["views"][0]
    assert view["score"] == pytest.approx(sum(view["terms"].values()), abs=1e-6)


def test_what_comes_next(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a URL: the best links that wait, one line each, at any width; and as JSON."""
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "2", "--strategy", "scent")
    for width in (40, 100):
        assert 0 == run(monkeypatch, "why", made, width=width)
        told = capsys.readouterr().out
        assert "the next of 3 links that wait" in told
        assert max(len(line) for line in told.split("\n") if "lycosa resume" not in line) <= width
    assert 0 == run(monkeypatch, "why", made, "--json")
    facts = json.loads(capsys.readouterr().out)
    assert (3, {"c", "d", "e"}) == (facts["waiting"], {link["node"] for link in facts["next"]})


def test_a_page_that_was_fetched(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was expected, what came of it, and the way from a seed."""
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "2", "--strategy", "best-first")
    assert 0 == run(monkeypatch, "why", made, "b", width=100)
    told = capsys.readouterr().out
    assert "expected    .50, by best-first" in told  # the mean of page .5 and link .5
    assert "turned out  1.00, relevant" in told
    assert "this strategy gives no reasons" in told
    assert "the way from a seed" in told
    assert 0 == run(monkeypatch, "why", made, "a", width=100)
    assert "a seed comes first" in capsys.readouterr().out


def test_a_bandit(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each arm has its say."""
    strategy = "mab_epsilon,arms=fl_deg+fl_n+scent"
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "2", "--strategy", strategy)
    assert 0 == run(monkeypatch, "why", made, "d", width=100)
    told = capsys.readouterr().out
    assert all(arm in told for arm in ("fl_deg", "fl_n", "scent"))
    assert 0 == run(monkeypatch, "why", made, width=100)
    assert "the arm with the best pages so far" in capsys.readouterr().out


def test_nothing_waits(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A crawl that has fetched all it knows says so."""
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "99")
    assert 0 == run(monkeypatch, "why", made)
    assert "nothing waits" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ("missing", "holds no crawl"),
        ("empty", "holds no crawl"),
        ("untouched", "nothing has been crawled in"),
        ("crawl", "beta is unknown to the crawl"),
    ],
)
def test_bad_input(
    where: str,
    told: str,
    graph: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No directory, no crawl in it, nothing crawled yet, an unknown link: one line says which."""
    (tmp_path / "empty").mkdir()
    crawl(monkeypatch, capsys, graph, tmp_path / "crawl")
    (tmp_path / "untouched").mkdir()
    (tmp_path / "untouched" / "crawl.toml").write_bytes((tmp_path / "crawl" / "crawl.toml").read_bytes())
    assert 2 == run(monkeypatch, "why", str(tmp_path / where), "beta")
    assert told in capsys.readouterr().err


def test_the_report_tells_it_too(
    graph: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report lists what comes next with bars; one whose graph is gone does without."""
    made = crawl(monkeypatch, capsys, graph, tmp_path / "crawl", "--budget", "2", "--strategy", "scent")
    assert 0 == run(monkeypatch, "report", made, "--out", str(tmp_path / "with.html"))
    page = (tmp_path / "with.html").read_text("utf-8")
    assert "Why these next" in page
    assert '<dl class="terms">' in page
    (tmp_path / "links.tsv").unlink()
    assert 0 == run(monkeypatch, "report", made, "--out", str(tmp_path / "without.html"))
    assert "Why these next" not in (tmp_path / "without.html").read_text("utf-8")
