from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

from lycosa.judges.vector_judge import VectorJudge
from lycosa.strategies import strategy
from lycosa.training.sources import page_of
from lycosa.web.html import extract
from lycosa_lab.index_writer import RecordedPage, write_index
from lycosa_lab.measures import found, harvest
from lycosa_lab.subjects import HuntSubject
from places import ROOT

S, A, B, OLD, OLDER = (f"http://a.test/{name}" for name in ("s", "a", "b", "old", "older"))
SPEC = importlib.util.spec_from_file_location("request_cost", ROOT / "benchmarks/request_cost.py")
assert SPEC is not None
assert SPEC.loader is not None
request_cost = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(request_cost)


def page(url: str, *links: str) -> RecordedPage:
    html = f"<title>coral</title><p>coral reefs {' '.join(f'<a href={to}>coral {to[-1]}</a>' for to in links)}"
    return RecordedPage(url, page_of(extract(html.encode(), url)))


def test_requests_counts_dead_links_and_redirects(tmp_path: Path) -> None:
    """s links to a dead URL, to a by two redirects, and to b, so breadth-first needs 5 requests for 2 pages."""

    def web() -> dict[str, RecordedPage]:
        pages = [page(S, "http://a.test/gone", OLDER, B), page(A), page(B)]
        return {one.url: one for one in [*pages, RecordedPage(OLDER, target=OLD), RecordedPage(OLD, target=A)]}

    index = write_index(web().values(), tmp_path / "x", source="web")
    subject = HuntSubject("coral", np.array([index.names[node] == A for node in range(3)], np.float32))

    def brought(budget: int, subject: HuntSubject = subject) -> list[float]:
        seeds = [index.number_of[S]]
        brought: list[float] = request_cost.requests(
            web().get, index, subject, VectorJudge("coral"), strategy("breadth-first"), seeds, budget
        ).tolist()
        return brought

    # In order of discovery: gone, older, b; then the redirect targets, in place of their source: old, and finally a.
    whole = brought(100)
    assert (5, 1.0, 1.0) == (len(whole), sum(whole), whole[-1] + whole[-2])
    assert whole[:2] == brought(2)
    assert [0.0, 1.0] == found(whole, [2, 100]).tolist()
    assert 1 / 5 == harvest(whole, [100])[0]
    seen = HuntSubject("coral", subject.truth, seen=subject.truth > 0)
    assert [0.0] * 5 == brought(100, seen)
