"""HTML of clean pages."""

import re

from lycosa.testweb import Web
from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.page_html import Composer, TrapLink, sheet
from lycosa.testweb.site_graph import SiteGraph


def test_pages_have_realistic_size(arrows: dict[str, list[str]], clean: Web) -> None:
    counts = [len(targets) for targets in arrows.values()]
    assert min(counts) >= 8
    assert max(counts) <= 65
    words = sorted(len(re.sub(rb"<[^>]*>", b" ", clean.response(url).body).split()) for url in list(arrows)[::10])
    assert words[0] > 100
    assert 300 < words[len(words) // 2] < 1000
    assert 2000 < words[-1] < 4000


def test_anchors_are_sometimes_vague(clean: Web) -> None:
    html = "".join(clean.response(url).body.decode() for url in list(clean.urls())[::30])
    anchors = re.findall(r'<a href="[^"]*">(.*?)</a>', html)
    vague = sum(anchor in ("here", "read more", "this page", "more", "details") for anchor in anchors)
    silent = sum('alt=""' in anchor for anchor in anchors)
    assert 0.02 < vague / len(anchors) < 0.2
    assert 0.005 < silent / len(anchors) < 0.1


def test_composer_html_appends_asides_before_footer() -> None:
    composer = Composer(AddressBook(SiteGraph(1, 200, 8), 0))
    plain, extended = composer.html(50), composer.html(50, [TrapLink("/x?a=1&b", "A < B", "nofollow")])
    aside = '<li><a href="/x?a=1&amp;b" rel="nofollow">A &lt; B</a></li>'
    assert aside in extended
    assert re.sub(r"<aside>.*?</aside>\n", "", extended, flags=re.DOTALL) == plain


def test_composer_paper_has_links_of_html() -> None:
    graph = SiteGraph(1, 200, 8)
    composer = Composer(AddressBook(graph, 0))
    paper = composer.paper(50)
    urls = [url for paragraph in paper.paragraphs for _, url in paragraph if url]
    assert urls == [composer.book.url(target) for target in graph.links(50)]
    assert paper.title == composer.book.title(50)


def test_sheet_omits_empty_list() -> None:
    assert "<ul>" not in sheet("Title", ["text"], [])
    assert '<html lang="fr">' in sheet("Title", ["text"], [], lang="fr")
