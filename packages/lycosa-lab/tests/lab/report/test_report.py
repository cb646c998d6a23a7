from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import browsing
from lycosa.core.errors import StoreError
from lycosa_lab.findings import Claim, Curve, Findings, ReportFigure, ReportTable, plain
from lycosa_lab.report import BADGE, format_cell, write_report


def test_write_report_keeps_foreign_index_html(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("my home page")
    with pytest.raises(StoreError, match=r"index\.html already exists"):
        write_report(Findings("x", "X"), tmp_path, "lycosa")
    assert (tmp_path / "index.html").read_text() == "my home page"


HOSTILE = "</script><script>alert('x')</script><img src=x onerror=alert(1)>"


def example() -> Findings:
    x = np.arange(10, 301, 10)
    y = x / 400
    return Findings(
        "demo",
        f"A demonstration {HOSTILE}",
        parts=[
            ReportTable("table-1", "Strategies", ["name", "pages", "harvest", "interval"],
                  [[HOSTILE, 1200, 0.51239, "0.5 (0.4 to 0.6)"], ["b", np.int64(7), None, None]], note="A note."),
            ReportFigure("fig-1", "Harvest", "pages", "harvest",
                   [Curve("first", x, y, y - 0.1, y + 0.1), Curve(HOSTILE, x, y / 2)], mode="as-published"),
            ReportFigure("fig-2", "By topic", "topic", HOSTILE, [Curve("ours", [0, 1], [0.5, float("nan")])]),
            ReportTable("times", "Times", ["name", "ms"], [["a", 12.5]], timed=True),
        ],
        claims=[
            Claim(f"It is better {HOSTILE}", "Someone 2014, 8.2", "holds", "0.5 against 0.4"),
            Claim("It is quicker", "Someone 2014, 8.3", "does not hold", "2 ms against 1", timed=True),
            Claim("It scales", "Someone 2014, 8.4", "cannot be tested here", "3,000 pages"),
        ],
        summary="Two strategies were compared.",
        configuration={"budgets": [100, 300], "judge": {"kind": "vector"}, "where": Path("x")},
        corpus={"source": HOSTILE, "fingerprint": "8f3a", "share": np.float32(0.5)},
        remarks=["first beat the oracle"],
    )  # fmt: skip


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "out"
    assert out / "index.html" == write_report(example(), out, "lycosa lab paper demo --out 'a b'")
    return out


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.within = ""
        self.scripts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)


@pytest.fixture(scope="module")
def page(written: Path) -> Tags:
    return Tags((written / "index.html").read_text("utf-8"))


def test_write_report_creates_files(written: Path) -> None:
    assert ["index.html", "report.json"] == sorted(path.name for path in written.rglob("*"))


def test_page_loads_nothing(page: Tags) -> None:
    addresses = [held for _, attributes in page.tags for name in ("src", "href") if (held := attributes.get(name))]
    assert [] == [address for address in addresses if not address.startswith(("data:", "#"))]
    assert [] == [tag for tag, _ in page.tags if tag in ("img", "iframe", "object", "use", "image")]


def test_page_escapes_hostile_names(page: Tags) -> None:
    assert [] == page.scripts
    assert not [attributes for _, attributes in page.tags if "onerror" in attributes]
    assert HOSTILE in "".join(page.text)


def test_page_has_all_facts(page: Tags) -> None:
    text = " ".join(" ".join(page.text).split())
    wanted = [
        "Of 3 claims, 1 holds, 1 does not hold, 1 cannot be tested here.", "0.5 against 0.4", "Someone 2014, 8.3",
        'judge {"kind": "vector"}', "budgets 100, 300", "fingerprint 8f3a", "first beat the oracle", "A note.",
        "lycosa lab paper demo --out 'a b'", "lycosa 0.", "numpy 2.",
    ]  # fmt: skip
    assert [] == [output for output in wanted if output not in text]


def test_page_has_badge_on_published_parts_only(written: Path, page: Tags) -> None:
    assert 1 == "".join(page.text).count(BADGE)


def test_page_table_cells_are_formatted(page: Tags) -> None:
    text = [piece.strip() for piece in page.text]
    assert ["1,200", "0.512", "0.5 (0.4 to 0.6)"] == [
        cell for cell in text if cell in ("1,200", "0.512", "0.5 (0.4 to 0.6)")
    ]
    assert "–" in text
    assert all("scope" in attributes for tag, attributes in page.tags if tag == "th")


def test_report_json_has_all_parts(written: Path) -> None:
    output = json.loads((written / "report.json").read_text())
    assert ["table", "figure", "figure", "table"] == [part["is"] for part in output["parts"]]
    assert [0.5, None] == output["parts"][2]["curves"][0]["y"]
    assert plain(example().as_dict()) == {key: output[key] for key in example().as_dict()}
    assert {"made", "command", "versions"} == set(output) - set(example().as_dict())


def test_write_report_interrupted_keeps_old_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import lycosa.core.files as files

    write_report(Findings("a", "Old"), tmp_path, "")

    def fail(number: int) -> None:
        raise KeyboardInterrupt

    before = (tmp_path / "index.html").read_bytes()
    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(KeyboardInterrupt):
        write_report(Findings("a", "New"), tmp_path, "")
    assert before == (tmp_path / "index.html").read_bytes()
    assert not list(tmp_path.glob("*.new"))


def test_format_cell_keeps_small_numbers() -> None:
    assert ["0.000", "1.2e-05", "yes", "∞"] == [format_cell(cell) for cell in (0.0, 0.000012, True, float("inf"))]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with browsing.browser() as running:
        yield running


@browsing.needs_browser
def test_page_has_no_browser_errors_or_requests(browser: Any, written: Path) -> None:
    page = browsing.file_page(browser, viewport={"width": 1280, "height": 900}, offline=True)
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((written / "index.html").as_uri())
    chart = page.locator("#part-2 .wide")
    expect(chart.locator(".line")).to_have_count(4)  # two curves, and two in the legend
    page.emulate_media(media="print")
    expect(chart).to_be_visible()
    page.emulate_media(media="screen")
    browsing.resize(page, {"width": 400, "height": 800})
    assert 400 >= page.evaluate("document.documentElement.scrollWidth")
    assert [] == complaints
    assert 1 == len([url for url in asked if not url.startswith("data:")])
    page.close()


@browsing.needs_browser
def test_page_is_readable_without_scripts(browser: Any, written: Path) -> None:
    page = browsing.file_page(browser, java_script_enabled=False)
    page.goto((written / "index.html").as_uri())
    assert page.locator("#part-2 .wide").is_visible()
    page.close()


def page_of(tmp_path: Path, found: Findings) -> str:
    return write_report(found, tmp_path / "out", "").read_text("utf-8")


def test_page_marks_interval_columns(tmp_path: Path) -> None:
    rows = [["a", "0.257 (0.247 to 0.267)", "good"], ["b", "–", "0.2 (0.1 to 0.3)"]]
    page = page_of(tmp_path, Findings("demo", "Demo", [ReportTable("t", "T", ["name", "harvest", "word"], rows)]))
    assert ["interval", "interval", "interval", "interval"] == re.findall(r'<td class="(\w+)"', page)
