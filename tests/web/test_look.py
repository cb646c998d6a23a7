"""How a page looks before a browser has seen it: what waits for scripts, and how long it takes to see that."""

from time import process_time

import pytest

from lycosa.web.rendering import Look

RUNS = "<script></script>"

SHELLS = (
    "<div id=root></div>",
    '<body><div class="a" id="app" data-x="1">\n <!-- filled later --> <!----></div></body>',
    "<div><div id=root><noscript><p>Enable it</p></noscript><div class=spinner> </div></div></div>",
    "<reef-app></reef-app>",
    "<my-shop-front ng-version=17> </my-shop-front>",
)


@pytest.mark.parametrize("markup", SHELLS)
def test_an_element_that_waits(markup: str) -> None:
    assert Look.of(RUNS + markup, 0, 0).empty
    assert not Look.of(RUNS + markup.replace("></", ">Corals</").replace("> <", ">Corals<"), 0, 0).empty


def test_a_page_that_asks() -> None:
    assert Look.of(f"{RUNS}<noscript>a<noscript class=b>Turn on <b>JavaScript</b></noscript>", 0, 0).asks
    assert not Look.of(f"{RUNS}<noscript>a</noscript>JavaScript</noscript>", 0, 0).asks


HOSTILE = {
    "scripts without an end": "<script" * 6_000,
    "elements without an end": "<div " * 8_000,
    "names without an end": "<div " + "id " * 15_000,
    "comments, to be taken together in all ways": "<div id>" + "<!---->" * 24,
    "nested noscript": "<main id><noscript>" * 8_000,
    "long names": ("<a" + "-b" * 40 + " x" * 10) * 500,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_page_that_takes_no_time(name: str) -> None:
    began = process_time()
    assert not Look.of(RUNS + HOSTILE[name], 0, 0).empty
    assert process_time() - began < 0.25
