"""Tests that the report's HTML is valid, self-contained and safe."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import turbohtml

from lycosa.collection import report as report_module
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.estimate import Estimate
from lycosa.collection.report import ReportFigures, gather, render
from lycosa.core.types import Held, Links, Seed, Setting, Visit
from lycosa.drawing.formats import href
from synthetic_report import page, write

A, B = "http://a.test", "http://b.test"
EVIL = "\"'><script>alert(1)</script><img src=http://evil.test/x onerror=alert(2)>\u202e\u2066\x00\x1b[31m\ud800&amp;"
STYLE = (Path(report_module.__file__).parent / "templates" / "style.css").read_text("utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFigures:
    """Return a report in which all untrusted text is hostile."""
    evil_node = f"{A}/{EVIL}".replace("\ud800", "")  # a log rejects lone surrogates in names
    links = Links.to(evil_node, "javascript:alert(3)", f"{B}/", anchors=[EVIL, EVIL, EVIL])
    events = [
        Setting("threshold", 0.1, 1_700_000_000.0),
        Seed(f"{A}/"),
        page(f"{A}/", 0.3, title=EVIL, links=links, started=1_700_000_001.0, ended=1_700_000_002.0, language=EVIL),
        page(evil_node, 0.9, title=EVIL, flags=[EVIL], started=1_700_000_003.0, ended=1_700_000_004.0),
        page("javascript:alert(3)", 0.8, title=""),
        page(f"{B}/", 0.7, title=EVIL, started=1_700_000_005.0, ended=1_700_000_006.0),
        page(f"{B}/copy", 0.7, same_as=evil_node),
        Visit(evil_node + "2", "page", "gone", 5, status=404, note=EVIL),
        Visit("javascript:alert(4)", "page", "broken", 6, status=500, note=EVIL),
        Setting("end", {"reason": EVIL, "held": 3, "groups": [asdict(Held(EVIL, EVIL, 3, 1, "javascript:alert(5)"))]}),
    ]
    path = write(
        tmp_path_factory.mktemp("hostile") / "crawl", events, topic=EVIL.replace("\ud800", ""), hosts=[EVIL[:50]]
    )
    with CrawlDirectory(path) as collection:
        return gather(collection)


@pytest.fixture(scope="module")
def text(report: ReportFigures) -> str:
    return render(report)


@pytest.fixture(scope="module")
def tree(text: str) -> turbohtml.Document:
    return turbohtml.parse(text, strict=True)


def test_html_is_valid(tree: turbohtml.Document) -> None:
    ids = [element.attrs["id"] for element in tree.select("[id]")]
    assert len(ids) == len(set(ids))
    targets = {str(element.attrs["href"])[1:] for element in tree.select("a[href^='#']")}
    assert targets <= set(ids)
    assert 1 == len(tree.select("h1"))


def test_html_loads_no_resources(tree: turbohtml.Document, text: str) -> None:
    for element in tree.select("*"):
        for name, value in element.attrs.items():
            value = str(value)
            if element.tag == "a" and name == "href":
                assert value.startswith(("http://", "https://", "#"))
            elif name == "href":
                assert ("link", True) == (element.tag, value.startswith("data:"))
            else:
                assert name not in ("src", "srcset", "action", "data", "poster", "xlink:href", "background")
                assert "url(" not in value
                assert not name.startswith("on")
    assert not tree.select("img, iframe, object, embed, form, base, link[rel=stylesheet], script[src], video, audio")
    assert "@import" not in STYLE
    assert "url(" not in STYLE


def test_html_links_send_no_referrer(tree: turbohtml.Document) -> None:
    outward = tree.select("a[href^='http']")
    assert outward
    for element in outward:
        assert {"noreferrer", "noopener"} <= set(" ".join(element.attrs["rel"]).split())


def test_csp_allows_own_script_only(tree: turbohtml.Document) -> None:
    (script,) = tree.select("script")
    digest = base64.b64encode(hashlib.sha256(script.text.encode()).digest()).decode()
    (meta,) = tree.select("meta[http-equiv]")
    policy = str(meta.attrs["content"])
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy


def test_html_escapes_hostile_text(tree: turbohtml.Document, text: str) -> None:
    assert EVIL[:20] in tree.find("h1").text  # type: ignore[union-attr]
    assert "alert(1)</script>" not in text
    for hidden in "\u202e\u2066\x00\x1b\ud800":
        assert hidden not in text
    text.encode()


def test_html_links_web_urls_only(tree: turbohtml.Document) -> None:
    assert not [element for element in tree.select("a[href]") if "javascript" in str(element.attrs["href"])]
    assert "javascript:alert(3)" in tree.find("main").text  # type: ignore[union-attr]
    assert "" == href("http://a.test/\u202egnp.exe")


def test_css_has_sufficient_contrast() -> None:
    blocks = [
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r"{([^{}]*--paper:[^{}]*)}", STYLE)
    ]
    light, dark, chosen = blocks
    assert dark == chosen
    assert set(light) == set(dark)
    for theme in (light, dark):
        for front in ("ink", "muted", "accent", "other"):
            for back in ("paper", "soft"):
                assert contrast(theme[front], theme[back]) >= 4.5, f"{front} on {back}"
        assert contrast(theme["paper"], theme["accent"]) >= 4.5
        assert contrast(theme["ink"], theme["mark"]) >= 4.5
        for bar in ("accent", "other"):  # lines and bars
            assert contrast(theme[bar], theme["paper"]) >= 3


def contrast(a: str, b: str) -> float:
    """Return the WCAG contrast ratio of two colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_css_prints_light_colours() -> None:
    assert not re.search(r"^@media \(prefers-color-scheme: dark\)", STYLE, re.MULTILINE)
    assert "@media print" in STYLE


def test_html_uses_singular_for_one(report: ReportFigures) -> None:
    one = replace(report, pages=1, estimate=Estimate(1, 1, 1, 1), requests=1)
    single = " ".join(re.sub("<title>.*?</title>", "", render(one), flags=re.DOTALL).split())
    assert "fetched 1 page from" in single
    assert not re.search(r"\b1 (pages|finds|requests|links|copies)\b", single)


def test_html_names_relevances_of_space(report: ReportFigures) -> None:
    given = " ".join(
        render(replace(report, threshold=1e-9, relevance_chart=None, strategy="hmm,file=strategy.tsv")).split()
    )
    assert "hmm fetched" in given
    assert re.search(r"\d of them have a relevance above 0, or \d", given)
    assert not re.search(r"about the topic|1e-09|threshold 0|file=strategy", given.split("<footer")[0])
    assert "0.10 or more" in render(replace(report, threshold=0.1))
