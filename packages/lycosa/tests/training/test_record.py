"""read_record: lines of JSON, labels, broken lines."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa.core.errors import InputError
from lycosa.training import record as module
from lycosa.training.record import BrowsingRecord, BrowsingVisit, parse_time, read_record

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"


def lines(place: Path, *entries: Any) -> Path:
    place.write_text("".join(f"{e if isinstance(e, str) else json.dumps(e)}\n" for e in entries), encoding="utf-8")
    return place


def words(record: BrowsingRecord, url: str) -> set[str]:
    page = record.corpus.pages[record.row_of[url]]
    return {record.corpus.vocabulary.terms[number] for number in page.terms.ids.tolist()}


def test_read_record_returns_fields_of_line(tmp_path: Path) -> None:
    record = read_record(
        lines(
            tmp_path / "r.jsonl",
            {"url": "HTTP://A.test", "relevant": False, "referrer": None, "time": 1_700_000_000},
            {"url": B + "#part", "relevant": "relevant", "referrer": A, "time": "2023-11-14T22:14:20Z"},
            {"url": C},
        )
    )
    assert [
        BrowsingVisit(A, False, "", 1_700_000_000.0),
        BrowsingVisit(B, True, A, 1_700_000_060.0),
        BrowsingVisit(C),
    ] == record.visits
    assert ({}, []) == (dict(record.left_out), record.notes)


@pytest.mark.parametrize(
    ("label", "means"),
    [
        (True, True), (False, False), (None, None), (1, True), (0, False), (1.0, True), ("yes", True), ("No", False),
        ("relevant", True), ("irrelevant", False), ("1", True), ("0", False), ("", None), (" ", None),
        ("unknown", None),
    ],
)  # fmt: skip
def test_read_record_accepts_label_spellings(tmp_path: Path, label: Any, means: bool | None) -> None:
    assert means is read_record(lines(tmp_path / "r.jsonl", {"url": A, "relevant": label})).visits[0].relevant


def test_read_record_keeps_words_of_content(tmp_path: Path) -> None:
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
def test_read_record_rejects_huge_labels(tmp_path: Path, label: str) -> None:
    record = read_record(lines(tmp_path / "r.jsonl", f'{{"url": "{A}", "relevant": {label}}}', {"url": B}))
    assert [B] == [visit.url for visit in record.visits]
    assert {"broken lines": 1} == dict(record.left_out)


def test_read_record_does_not_open_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with raises_input_error("bad-file", "the record .*pipe is a pipe or a device: save it as a file first"):
        read_record(tmp_path / "pipe")


def test_read_record_reports_broken_lines(tmp_path: Path) -> None:
    broken = ["{", '"text"', "[1]", {"link": 3}, {"url": A, "relevant": "perhaps"}, {"no": "url"}]
    record = read_record(lines(tmp_path / "r.jsonl", {"url": A}, "", *broken, {"url": B}))
    assert [A, B] == [visit.url for visit in record.visits]
    assert {"broken lines": 6} == dict(record.left_out)
    assert ["r.jsonl: broken lines are 3, 4, 5, 6, 7, ...; the first: it is not JSON"] == record.notes


def test_read_record_skips_long_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_LINE_BYTES", 100)
    record = read_record(lines(tmp_path / "r.jsonl", {"url": A}, {"url": B, "text": "x" * 500}, {"url": C}))
    assert [A, C] == [visit.url for visit in record.visits]
    assert ["r.jsonl: broken lines are 2; the first: it has more than 100 bytes"] == record.notes


@pytest.mark.parametrize(("name", "most"), [("MAX_RECORD_BYTES", 40), ("MAX_VISITS", 1)])
def test_read_record_limits_bytes_and_visits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, most: int
) -> None:
    monkeypatch.setattr(module, name, most)
    with raises_input_error("too-large", f"more than {most} .*: split it"):
        read_record(lines(tmp_path / "r.jsonl", {"url": A}, {"url": B}, {"url": C}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no visits: write"),
        (
            b"{broken}\n{broken}\n",
            "all of its 2 lines are broken, the first: it is not JSON.: write one page per line",
        ),
        (b'{"url": 5}\n', "all of its 1 lines are broken, the first: it has no url"),
        (b"just some words\n", "all of its 1 lines are broken, the first: it is not JSON"),
        (b"\x00\x01\x02", "is not UTF-8 text"),
        (b"\xff\xfe{\x00", "is not UTF-8 text"),
        (b"[3]", "all of its 1 lines are broken"),
    ],
)
def test_read_record_rejects_invalid_files(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "r").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_record(tmp_path / "r")


def test_read_record_ignores_urls_of_other_schemes(tmp_path: Path) -> None:
    record = read_record(lines(tmp_path / "r.jsonl", {"url": "about:home"}, {"url": A}, {"url": "file:///etc/hosts"}))
    assert [A] == [visit.url for visit in record.visits]
    assert {"not web URLs": 2} == dict(record.left_out)


@pytest.mark.parametrize("value", [True, "", "nan", "inf", 1e300, None, [], "2023-13-45"])
def test_parse_time_returns_none_for_other_values(value: Any) -> None:
    assert parse_time(value) is None


def test_read_record_accepts_labels_after_visits(tmp_path: Path) -> None:
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
