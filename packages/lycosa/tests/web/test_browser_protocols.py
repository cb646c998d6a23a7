"""Signs that a page needs a browser, and the time to detect them."""

from time import process_time

import pytest

from lycosa.web.browser_protocols import HAS_SCRIPTS, LOADS_LATER, PageSigns, classify_scripts

RUNS = "<script></script>"

SHELLS = (
    "<div id=root></div>",
    '<body><div class="a" id="app" data-x="1">\n <!-- filled later --> <!----></div></body>',
    "<div><div id=root><noscript><p>Enable it</p></noscript><div class=spinner> </div></div></div>",
    "<reef-app></reef-app>",
    "<my-shop-front ng-version=17> </my-shop-front>",
)


@pytest.mark.parametrize("markup", SHELLS)
def test_page_look_finds_empty_mount(markup: str) -> None:
    assert PageSigns.of(RUNS + markup, 0, 0, HAS_SCRIPTS).has_empty_mount
    assert not PageSigns.of(
        RUNS + markup.replace("></", ">Corals</").replace("> <", ">Corals<"), 0, 0, HAS_SCRIPTS
    ).has_empty_mount


def test_page_look_finds_request_for_javascript() -> None:
    assert PageSigns.of(
        f"{RUNS}<noscript>a<noscript class=b>Turn on <b>JavaScript</b></noscript>", 0, 0, HAS_SCRIPTS
    ).asks_for_scripts
    assert not PageSigns.of(f"{RUNS}<noscript>a</noscript>JavaScript</noscript>", 0, 0, HAS_SCRIPTS).asks_for_scripts


def test_classify_scripts_recognises_late_loading() -> None:
    later = (
        "<script>window.addEventListener('scroll', more)</script>",
        "<SCRIPT type=module>observe(new IntersectionObserver(more))</SCRIPT>",
        "<script src=a.js></script><div class='list infinite-scroll'>",
        "<button class=load-more>More</button><script src=a.js></script>",
        "<ul data-next-url=/list?page=2></ul><script src=a.js></script>",
    )
    assert {classify_scripts(page) for page in later} == {LOADS_LATER}
    none = ("<script type=text/template>load-more</script>", "<p class=load-more>", "<scripted>IntersectionObserver")
    assert {classify_scripts(page) for page in none} == {""}
    only = ("<script></script><p>infinite lazy scroll", "<script src=a.js></script><img loading=lazy><p>load-less")
    assert {classify_scripts(page) for page in only} == {HAS_SCRIPTS}


HOSTILE = {
    "scripts without an end": "<script" * 6_000,
    "elements without an end": "<div " * 8_000,
    "names without an end": "<div " + "id " * 15_000,
    "comments, to be taken together in all ways": "<div id>" + "<!---->" * 24,
    "nested noscript": "<main id><noscript>" * 8_000,
    "long names": ("<a" + "-b" * 40 + " x" * 10) * 500,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_page_look_takes_linear_time(name: str) -> None:
    began = process_time()
    page = RUNS + HOSTILE[name]
    assert not PageSigns.of(page, 0, 0, classify_scripts(page)).has_empty_mount
    assert process_time() - began < 2.0  # takes hundredths of a second; with backtracking it would take minutes
