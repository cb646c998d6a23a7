"""Reading browsing records: lines of JSON, labels."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa.training import record as module
from lycosa.training.record import CrawlRecord, Visited, read_record, seconds

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def lines(place: Path, *entries: Any) -> Path:
    """A file of lines, those that are no text as JSON."""
    place.write_text("".join(f"{e if isinstance(e, str) else json.dumps(e)}\n" for e in entries), encoding="utf-8")
    return place


def words(record: CrawlRecord, url: str) -> set[str]:
    """The stems of a page."""
    page = record.corpus.pages[record.row_of[url]]
    return {record.corpus.vocabulary.terms[number] for number in page.terms.ids.tolist()}


def test_a_line_has_a_page_its_label_and_where_it_came_from(tmp_path: Path) -> None:
    """Addresses are made canonical; what is not said is nothing."""
    record = read_record(
        lines(
            tmp_path / "r.jsonl",
            {"url": "HTTP://A.test", "relevant": False, "referrer": None, "time": 1_700_000_000},
            {"url": B + "#part", "relevant": "relevant", "referrer": A, "time": "2023-11-14T22:14:20Z"},
            {"url": C},
        )
    )
    assert [
        Visited(A, False, "", 1_700_000_000.0),
        Visited(B, True, A, 1_700_000_060.0),
        Visited(C),
    ] == record.visits
    assert ({}, []) == (dict(record.left_out), record.notes)


@pytest.mark.parametrize(
    ("said", "means"),
    [
        (True, True), (False, False), (None, None), (1, True), (0, False), (1.0, True), ("yes", True), ("No", False),
        ("relevant", True), ("irrelevant", False), ("1", True), ("0", False), ("", None), (" ", None),
        ("unknown", None),
    ],
)  # fmt: skip
def test_labels_in_all_their_forms(tmp_path: Path, said: Any, means: bool | None) -> None:
    """A label is a truth value, a number or a word; null and nothing are no label."""
    assert means is read_record(lines(tmp_path / "r.jsonl", {"url": A, "relevant": said})).visits[0].relevant


def test_content_in_the_record(tmp_path: Path) -> None:
    """Title and text, or HTML; a title alone is no content."""
    record = read_record(
        lines(
            tmp_path / "r.jsonl",
            {"url": A, "title": "Corals", "text": "bleaching"},
            {"url": B, "html": "<p>atoll <script>nothing()</script>"},
            {"url": C, "title": "alone"},
            {"url": "http://g.test/", "text": " "},
            {"url": A, "text": "another time"},
        )
    )
    assert {"coral", "bleach"} == words(record, A)
    assert {"atol"} == words(record, B)
    assert {A, B} == set(record.row_of)
    assert {"pages without text": 1} == dict(record.left_out)
    assert 5 == len(record.visits)


@pytest.mark.parametrize("label", ["9" * 4000, "[" * 985 + "]" * 985, "NaN", "1e999", "{}"])
def test_labels_that_are_none(tmp_path: Path, label: str) -> None:
    """However large or deep they are, the line is broken, and the others are read."""
    record = read_record(lines(tmp_path / "r.jsonl", f'{{"url": "{A}", "relevant": {label}}}', {"url": B}))
    assert [B] == [visit.url for visit in record.visits]
    assert {"broken lines": 1} == dict(record.left_out)


def test_a_file_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It is refused at once."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"the record .*pipe is a pipe or a device: save it as a file first"):
        read_record(tmp_path / "pipe")


def test_broken_lines_are_counted_and_named(tmp_path: Path) -> None:
    """The others are used; the first reasons and numbers are told."""
    broken = ["{", '"text"', "[1]", {"link": 3}, {"url": A, "relevant": "perhaps"}, {"no": "url"}]
    record = read_record(lines(tmp_path / "r.jsonl", {"url": A}, "", *broken, {"url": B}))
    assert [A, B] == [visit.url for visit in record.visits]
    assert {"broken lines": 6} == dict(record.left_out)
    assert ["r.jsonl: broken lines are 3, 4, 5, 6, 7, ...; of the first it is not JSON"] == record.notes


def test_a_line_that_is_too_long_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over, and the next one is read."""
    monkeypatch.setattr(module, "MOST_LINE", 100)
    record = read_record(lines(tmp_path / "r.jsonl", {"url": A}, {"url": B, "text": "x" * 500}, {"url": C}))
    assert [A, C] == [visit.url for visit in record.visits]
    assert ["r.jsonl: broken lines are 2; of the first it has more than 100 bytes"] == record.notes


@pytest.mark.parametrize(("name", "most"), [("MOST_RECORD", 40), ("MOST_VISITS", 1)])
def test_a_record_that_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> None:
    """There is an end to bytes and visits."""
    monkeypatch.setattr(module, name, most)
    with pytest.raises(InputError, match=f"more than {most} .*: cut it into pieces"):
        read_record(lines(tmp_path / "r.jsonl", {"url": A}, {"url": B}, {"url": C}))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "has no visits in it"),
        (
            b"{broken}\n{broken}\n",
            "all of its 2 lines are broken, the first as it is not JSON. Write one page per line",
        ),
        (b'{"url": 5}\n', "all of its 1 lines are broken, the first as it has no url"),
        (b"just some words\n", "all of its 1 lines are broken, the first as it is not JSON"),
        (b"\x00\x01\x02", "is not UTF-8 text"),
        (b"\xff\xfe{\x00", "is not UTF-8 text"),
        (b"[3]", "all of its 1 lines are broken"),
    ],
)
def test_what_is_no_record(tmp_path: Path, content: bytes, told: str) -> None:
    """It is said what is wrong with it."""
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(InputError, match=told):
        read_record(tmp_path / "r")


def test_addresses_of_other_kinds_are_left_out(tmp_path: Path) -> None:
    """What a browser shows of itself, and files, are no pages of the web; but they are not broken either."""
    record = read_record(lines(tmp_path / "r.jsonl", {"url": "about:home"}, {"url": A}, {"url": "file:///etc/hosts"}))
    assert [A] == [visit.url for visit in record.visits]
    assert {"addresses that are not of the web": 2} == dict(record.left_out)


@pytest.mark.parametrize("value", [True, "", "nan", "inf", 1e300, None, [], "2023-13-45"])
def test_times_that_are_none(value: Any) -> None:
    """What is no time is no error."""
    assert seconds(value) is None


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
