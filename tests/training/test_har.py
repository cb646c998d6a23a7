"""HAR files as browsing records: which of their requests are pages, and where each came from."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.text.tokens import stems
from lycosa.training.browse import train_browse
from lycosa.training.looking import fetched
from lycosa.training.record import read_record

HTML = "text/html; charset=utf-8"


def entry(url: str, text: str = "<p>Reefs", referrer: str = "", kind: str = HTML, **more: Any) -> dict[str, Any]:
    """A request and its answer as Chromium saves them."""
    sent = [{"name": "Referer", "value": referrer}] if referrer else []
    sent += [{"name": "Sec-Fetch-Dest", "value": more.pop("dest")}] if "dest" in more else []
    asked = {"method": more.pop("method", "GET"), "url": url, "headers": sent}
    content = {"mimeType": kind, "text": text, **more.pop("content", {})}
    return {"request": asked, "response": {"status": more.pop("status", 200), "content": content}, **more}


def saved(path: Path, *entries: Any) -> Path:
    """A HAR file, on one line as browsers write it or over many."""
    path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "pages": [], "entries": list(entries)}}))
    return path


def test_pages_are_told_from_what_belongs_to_them(tmp_path: Path) -> None:
    """Pictures, scripts, frames, forms that were sent, redirects and failures are no visits."""
    path = saved(
        tmp_path / "walk.har",
        entry("http://a.example/", pageref="page_1", _resourceType="document"),
        entry("http://a.example/frame", pageref="page_1", _resourceType="document"),
        entry("http://a.example/data", _resourceType="fetch"),
        entry("http://a.example/embedded", dest="iframe"),
        entry("http://a.example/form", method="POST"),
        entry("http://a.example/reef.png", kind="image/png"),
        entry("http://a.example/moved", status=302),
        entry("http://a.example/reefs", referrer="http://a.example/", pageref="page_2", dest="document"),
        entry("http://a.example/more", "", "http://a.example/reefs", pageref="page_2", dest="document", status=304),
        entry("http://a.example/tab", pageref="a tab"),
        entry("http://a.example/the-same-tab", pageref="a tab"),
        entry("about:blank"),
        "nonsense", None, {"request": 7}, {"request": {"headers": [3]}, "response": []},
    )  # fmt: skip
    record = read_record(path)
    names = ["", "reefs", "more", "tab", "the-same-tab"]
    assert [f"http://a.example/{name}" for name in names] == [visit.url for visit in record.visits]
    assert ["", "http://a.example/", "http://a.example/reefs"] == [visit.referrer for visit in record.visits[:3]]
    assert {"addresses that are not of the web": 1} == dict(record.left_out)
    assert {visit.url for visit in record.visits} - {"http://a.example/more"} == record.row_of.keys()


def test_across_sites_only_the_site_is_told(tmp_path: Path) -> None:
    """Browsers send `https://a.example/` to other sites: the last page that was seen there is meant."""
    path = saved(
        tmp_path / "walk.har",
        entry("https://a.example/links"),
        entry("https://b.example/reef", referrer="https://a.example/"),
        entry("https://b.example/coral", referrer="https://b.example/reef"),
        entry("https://c.example/", referrer="https://unseen.example/"),
    )
    came_from = ["", "https://a.example/links", "https://b.example/reef", "https://unseen.example/"]
    assert came_from == [visit.referrer for visit in read_record(path).visits]


@pytest.mark.parametrize(("text", "encoding", "words"), [
    (base64.b64encode("<p>Hörnchenkoralle".encode("latin-1")).decode(), "base64", True),
    ("not base 64!", "base64", False),
    (None, "", False),
])  # fmt: skip
def test_bodies(tmp_path: Path, text: str | None, encoding: str, words: bool) -> None:
    """Bodies in base64 are decoded by their charset; one that is broken or was not kept is fetched later."""
    more = {"encoding": encoding, "text": text}
    path = saved(tmp_path / "w.har", entry("http://a.example/", kind="text/html; charset=latin-1", content=more))
    record = read_record(path, "de")
    assert words == bool(record.row_of)
    assert (stems("Hörnchenkoralle", "de") if words else []) == record.corpus.vocabulary.terms


@pytest.mark.paper("batsakis-recording")
def test_a_har_file_is_learned_from(tmp_path: Path) -> None:
    """With labels beside it, a walk is a training set: the page before the relevant one is one step away."""
    path = saved(
        tmp_path / "walk.har",
        entry("http://a.example/", "<p>A list of institutes"),
        entry("http://b.example/", "<p>Bleaching of coral reefs", "http://a.example/"),
    )
    labels = tmp_path / "labels.tsv"
    labels.write_text("http://a.example/\tno\nhttp://b.example/\tyes\n")
    done = train_browse(path, tmp_path / "out", fetched(Options()), labels=labels)
    assert ([1, 0], [[0, 1]]) == (done.browsing.state.tolist(), done.browsing.steps.tolist())


def test_labels_after_the_visits(tmp_path: Path) -> None:
    """A line with `"visit": false` says something of a page, and is no step of the way."""
    lines = [
        {"url": "http://a.example/", "relevant": None},
        {"url": "http://b.example/", "referrer": "http://a.example/"},
        {"url": "http://b.example/", "relevant": False, "visit": False},
        {"url": "http://b.example/", "relevant": True, "visit": False},
        {"url": "http://c.example/", "relevant": True, "visit": False},
    ]
    path = tmp_path / "record.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    record = read_record(path)
    assert [None, True] == [visit.relevant for visit in record.visits]
    assert {"labelled, but never visited": 1} == dict(record.left_out)


def test_an_empty_or_broken_file(tmp_path: Path) -> None:
    """One line says what is wrong."""
    with pytest.raises(InputError, match="has no visits in it"):
        read_record(saved(tmp_path / "empty.har"))
    (tmp_path / "torn.har").write_text('{"log": {"entries": [\n{"request": {"meth')
    with pytest.raises(InputError, match="broken JSON"):
        read_record(tmp_path / "torn.har")
