"""Tests of the public Python API."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import fields
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import lycosa
from lycosa.checks import check_estimator, check_judge, check_space
from lycosa.collection.export.tables import COLUMNS
from lycosa.core.options import Options
from lycosa.core.types import Exchange, Task
from lycosa.crawling.functions import FunctionEstimator, FunctionJudge, FunctionSpace
from lycosa.spaces.graph import GraphSpace
from places import ROOT

PAGES = {
    "http://a.test/": ("Start", "All about the sea, see ", ["http://a.test/reefs", "http://a.test/none"]),
    "http://a.test/reefs": ("Reefs", "Coral reefs bleach in warm water, see ", ["http://a.test/"]),
}


def _found(url: str) -> lycosa.Page:
    """Return a page with its bytes, for the archive."""
    title, text, urls = PAGES[url]
    links = "".join(f"<a href='{link}'>more on reefs</a>" for link in urls)
    body = f"<html lang=en><title>{title}</title><body><main><p>{text}{links}</p></main></body>".encode()
    request, status, kind = b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK", [(b"Content-Type", b"text/html")]
    exchange = Exchange(request, status, kind, body, sha256(body).digest())
    marked = text + "".join("\x01more on reefs\x02" for _ in urls)
    joined = lycosa.Links.to(*urls, anchors=["more on reefs"] * len(urls))
    return lycosa.Page("ok", 200, title=title, marked=marked, links=joined, size=len(body), exchange=exchange)


def _about_reefs(page: lycosa.Page) -> bool:
    return "bleach" in page.text or "reef" in page.title


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Crawl with plain functions and an archive."""
    out = tmp_path_factory.mktemp("api") / "reefs"
    visits = list(lycosa.crawl(_about_reefs, "http://a.test/", space=_found, out=out))
    assert [(visit.node, visit.outcome, visit.relevance) for visit in visits] == [
        ("http://a.test/", "ok", 0.0),
        ("http://a.test/reefs", "ok", 1.0),
        ("http://a.test/none", "gone", 0.0),
    ]
    assert visits[0].links.link_relevances.tolist() == [1.0, 1.0]  # links are judged by their words
    return out


def test_public_names_import_quickly() -> None:
    for name in (*lycosa.__all__, "open"):
        assert getattr(lycosa, name) is not None
        assert name in dir(lycosa)
    assert "open" not in lycosa.__all__
    with pytest.raises(AttributeError, match="no attribute 'crwl'"):
        _ = lycosa.crwl  # type: ignore[attr-defined]
    heavy = (
        "import sys, lycosa; sys.exit(any(name in sys.modules for name in ('numpy', 'aiohttp', 'typing_extensions')))"
    )
    shows = "import sys, lycosa.collection.summary, lycosa.collection.judging; sys.exit('aiohttp' in sys.modules)"
    for code in (heavy, shows):
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_functions_pass_checks() -> None:
    assert check_judge(lambda: FunctionJudge(lambda page: page.text.count("reef") / 10))
    assert check_estimator(lambda: FunctionEstimator(lambda link: link.alpha + link.source.relevance - link.depth))
    assert check_space(FunctionSpace(lambda node: {"a": ["b", "c"]}.get(node, [])), "a")


def _last_name_first(link: lycosa.Link) -> float:
    return ord(link.url)


def test_functions_may_return_several_types() -> None:
    graph = {"a": ["b", "c"], "c": ["d"], "b": [], "d": []}

    async def visited(node: str) -> list[str] | None:
        return graph[node] or None

    crawl = lycosa.crawl(
        lambda page: 0.3, ["a"], space=visited, strategy=_last_name_first, threshold=0.2, concurrency=1
    )
    visits = list(crawl)
    assert [(visit.node, visit.outcome) for visit in visits] == [("a", "ok"), ("c", "ok"), ("d", "gone"), ("b", "gone")]
    assert crawl.engine is not None
    assert crawl.engine.tally.relevant == 2

    def judged(page: lycosa.Page) -> lycosa.Judgement:
        return lycosa.Judgement(0.7, np.full(len(page.links), 0.25, np.float32))

    (visit, *_) = lycosa.crawl(judged, ["a"], space=lambda node: graph[node], strategy="breadth-first")
    assert (visit.relevance, visit.links.link_relevances.tolist()) == (pytest.approx(0.7), [0.25, 0.25])


def test_invalid_results_of_functions_are_reported() -> None:
    space = {"a": ["b"], "b": []}.__getitem__
    for said in (None, "much", float("nan")):
        with pytest.raises(lycosa.InputError, match=r"<lambda>\(\) returned .*: return a number, or True or False"):
            list(lycosa.crawl(lambda page, said=said: said, ["a"], space=space, strategy="breadth-first"))
    (visit,) = lycosa.crawl(_about_reefs, ["a"], space=lambda node: "b")
    assert (visit.outcome, "returned a string" in visit.note) == ("crashed", True)


def test_changed_function_is_another_judge() -> None:
    one, two = FunctionJudge(lambda page: 1.0), FunctionJudge(lambda page: 0.5)
    again = FunctionJudge(eval("\n\nlambda page: 1.0".strip()))
    assert one.fingerprint != two.fingerprint
    assert again.fingerprint.endswith(one.fingerprint.partition("lambda>'")[2])


def test_open_returns_collection(reefs: Path) -> None:
    collection = lycosa.open(str(reefs))
    assert (len(collection), collection.threshold, collection.options.space) == (1, 0.5, "web")
    (page,) = collection
    assert (page.url, page.title, page.relevant) == ("http://a.test/reefs", "Reefs", True)
    assert page.text.startswith("Coral reefs bleach")
    assert {item.name for item in fields(page)} == set(page.as_dict()) == set(COLUMNS)
    assert [page.url for page in collection.pages(everything=True)] == list(PAGES)
    (bare,) = collection.pages(text=False)
    assert (bare.text, bare.content_type, bare.relevance) == ("", "", page.relevance)
    assert collection.page("http://a.test/reefs") == page
    assert collection.read("http://a.test/reefs").startswith("# Reefs\n\n<http://a.test/reefs>\n\nCoral reefs bleach")
    (hit,) = collection.search("bleaching", width=100)
    assert hit.url == page.url
    frame = collection.to_pandas(everything=True)
    assert list(frame.columns) == list(COLUMNS)
    assert frame.loc[1, "text"] == page.text
    assert str(frame["fetched"].dtype).startswith("datetime64")
    assert len(lycosa.open(reefs, threshold=1.5).to_pandas()) == 0
    assert collection.export(reefs.parent / "reefs.jsonl").pages == 1


def test_errors_name_invalid_options(reefs: Path, tmp_path: Path) -> None:
    graph = GraphSpace({"a": []})
    for calling, expected in (
        (lambda: lycosa.crawl(), r"no topic: describe it|no seeds: give a page"),
        (lambda: lycosa.crawl("coral"), r"no seeds: give a page"),
        (lambda: lycosa.crawl(seeds="http://a.test"), r"no topic: describe it"),
        (lambda: lycosa.crawl("coral", "http://a.test", bugdet=3), r"unknown option 'bugdet'; did you mean 'budget'\?"),
        (lambda: lycosa.crawl("coral", "http://a.test", budget=0), r"^--budget is 0: it must be 1 or more"),
        (lambda: lycosa.crawl("coral", "http://a.test", budget="3"), r"crawl\(\): budget is '3'"),
        (lambda: list(lycosa.crawl("coral", "http://a.test", proxy="http://127.0.0.1:1")), r"leave out --proxy"),
        (
            lambda: lycosa.crawl("coral", "http://a.test", hosts=["b.test"]),
            r"check --host, --domain, --include and --excl",
        ),
        (lambda: lycosa.crawl("coral", "a", space=graph, search="x"), r"^--search finds web pages"),
        (lambda: list(lycosa.crawl("coral", "http://a.test", out=reefs)), r"lycosa resume .*choose another .* --out"),
        (lambda: lycosa.resume(tmp_path), r"give a directory created by 'lycosa crawl'"),
        (lambda: lycosa.open(tmp_path), r"lycosa crawl"),
        (lambda: lycosa.open(reefs).export(tmp_path / "x.what"), r"or give --format"),
        (lambda: lycosa.open(reefs).page("http://b.test/"), r"b\.test"),
    ):
        with pytest.raises(lycosa.InputError, match=expected):
            calling()


def test_options_are_converted() -> None:
    made = Options.from_mapping({"hosts": ("a.test", "b.test"), "terms": Path("terms.tsv"), "include": "a"}, "crawl()")
    assert (made.hosts, made.terms, made.include) == (["a.test", "b.test"], "terms.tsv", ["a"])


def test_docs_contain_example_programs() -> None:
    expected = (ROOT / "docs" / "python.md").read_text("utf-8")
    programs = sorted((ROOT / "examples" / "programs").glob("*.py"))
    assert len(programs) == 5
    for program in programs:
        source = program.read_text("utf-8")
        assert f"```python runnable\n{source}```" in expected, program.name
        assert len([line for line in source.split("\n") if line.strip()]) <= 12, program.name


def test_task_is_public() -> None:
    class Echo(lycosa.Space):
        async def visit(self, task: lycosa.Task) -> lycosa.Page:
            return lycosa.Page("ok", title=task.node)

    assert isinstance(Task("a"), lycosa.Task)
    assert [visit.title for visit in lycosa.crawl(lambda page: 1.0, ["a"], space=Echo())] == ["a"]
