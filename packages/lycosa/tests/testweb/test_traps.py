"""Traps of the embedded web, on and off."""

from collections import Counter
from collections.abc import Callable

from lycosa.testweb import Trap, Web

Links = Callable[[Web, str], list[str]]
BASE = "http://{}/coral-reefs/{}.html"
CORAL = "marine biology/coral reefs"


def test_trap_urls_return_404_if_off(clean: Web, wild: Web) -> None:
    for trap in Trap:
        for url in wild.trap_urls(trap):
            assert clean.response(url).status == 404
            assert wild.trap(url) == trap
            assert wild.topic(url) is None


def test_clean_pages_link_to_enabled_traps(links: Links) -> None:
    for traps in ([*Trap], [Trap.CALENDAR], [Trap.LOOPS, Trap.DUPLICATES]):
        web = Web(pages=600 if len(traps) > 2 else 300, hosts=20, traps=traps)
        found = Counter(web.trap(target) for url in web.urls() for target in links(web, url))
        assert set(found) == {None, *traps}
        assert min(found.values()) >= 10


def test_session_ids_change_urls_not_pages(wild: Web, links: Links) -> None:
    url = BASE.format("shop-window.localhost", 0)
    seen = {url}
    for _ in range(20):
        url = links(wild, url)[0]
        assert wild.response(url).status == 200
        seen.add(url)
    assert len(seen) == 21
    page = next(wild.relevant(CORAL))
    assert wild.response(f"{page}?PHPSESSID=00ff").body == wild.response(page).body
    assert wild.canonical(f"{page}?PHPSESSID=00ff") == page


def test_duplicates_have_canonical_pages(wild: Web) -> None:
    urls = wild.trap_urls("duplicates")
    kinds = {"copy": 0, "print": 0, "mirror": 0}
    for url in urls:
        original = wild.canonical(url)
        assert original is not None
        body, copy = wild.response(original).body, wild.response(url).body
        kind = "mirror" if "//mirror." in url else "print" if "/print/" in url else "copy"
        kinds[kind] += 1
        assert (body == copy) == (kind != "print")
    assert all(kinds.values())
