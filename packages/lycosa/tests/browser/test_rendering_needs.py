"""Choice of the pages to render, by the results of earlier renderings."""

from __future__ import annotations

from lycosa.browser.rendering import RenderingNeeds
from lycosa.core.types import Visit
from lycosa.web.browser_protocols import PageSigns

RICH = PageSigns(900, 40, scripts=True)
THIN = PageSigns(60, 2, scripts=True)
SHORT = PageSigns(400, 0, scripts=True)
SHELL = PageSigns(4, 0, scripts=True, has_empty_mount=True)


def visited(node: str, why: str, more: int = 0) -> Visit:
    data = {"render": {"why": why, "words": [60, 60 + more], "links": [2, 2]}} if why else {}
    return Visit(node, "page", "ok", 1, data=data)


def crawl(needs: RenderingNeeds, host: str, signs: PageSigns, pages: int, more: int = 0) -> list[str]:
    reasons = []
    for number in range(pages):
        node = f"http://{host}/{'abcdefgh'[number % 8]}/page-{number}"
        why = needs.render_reason(node, signs)
        needs.learn(visited(node, why, more))
        reasons += [why] if why else []
    return reasons


def test_needs_samples_few_pages_of_static_hosts() -> None:
    needs = RenderingNeeds()
    assert [reason for host in "stuvwxyz" for reason in crawl(needs, f"{host}.test", RICH, 375)] == []
    # after 500, 1,000, 2,000, 4,000 and 8,000 further pages
    assert crawl(needs, "large.test", RICH, 20_000) == ["sample"] * 5
    assert crawl(needs, "thin.test", THIN, 1_000) == ["thin"] * 3
    assert crawl(needs, "thin.test", SHORT, 1_000) == []
    assert crawl(needs, "short.test", SHORT, 1_000) == ["thin"] * 3


def test_needs_limits_concurrent_samples() -> None:
    needs = RenderingNeeds()
    nodes = [f"http://thin.test/{name}/" for name in "abcde"]
    reasons = [needs.render_reason(node, THIN) for node in nodes]
    assert reasons == ["thin", "thin", "thin", "", ""]
    assert needs.render_reason("http://other.test/a/", THIN) == "thin"
    for node, why in zip(nodes, reasons, strict=True):
        needs.learn(visited(node, why))
    assert needs.render_reason("http://thin.test/f/", THIN) == ""
    crawl(needs, "large.test", RICH, 500)
    nodes = [f"http://large.test/{name}/" for name in "xyz"]
    assert [needs.render_reason(node, RICH) for node in nodes] == ["sample", "", ""]


def test_needs_detects_changed_hosts() -> None:
    needs = RenderingNeeds()
    assert crawl(needs, "changed.test", RICH, 100) == []
    assert crawl(needs, "changed.test", SHELL, 20, more=400)[:1] == ["shell"]
    assert len(crawl(needs, "changed.test", SHELL, 20, more=400)) == 20
    assert crawl(needs, "grown.test", RICH, 2_500, more=400)[:3] == ["sample", "kind", "kind"]


def test_needs_reads_scripts_of_ten_pages_per_kind() -> None:
    read: list[int] = []

    def look(page: int, adds: bool) -> PageSigns:
        def later() -> bool:
            read.append(page)
            return adds

        return PageSigns(900, 40, scripts=True, loads_later=later)

    needs = RenderingNeeds()
    assert not any(needs.render_reason(f"http://a.test/posts/{page}", look(page, False)) for page in range(100))
    assert list(range(10)) == read
    assert "" == needs.render_reason("http://a.test/posts/100", look(100, True))
    assert "thin" == needs.render_reason("http://a.test/lists/1", look(101, True))
    assert 101 == read[-1]
