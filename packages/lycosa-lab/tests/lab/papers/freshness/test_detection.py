from __future__ import annotations

import pytest

from lycosa.revisit.snapshot import Snapshot
from lycosa.testweb.changing import START, ChangingWeb
from lycosa.testweb.embedded_web import Web
from lycosa_lab.papers.freshness.detection import Detection, Pair, detect, draw_pairs, pooled


def test_detection_scores_by_hand() -> None:
    """Precision is 6 of 8 alarms, recall is 6 of 10 changes: 3/4, 3/5, and F1 2/3."""
    counts = ((True, True, 6), (False, True, 2), (True, False, 4), (False, False, 8))
    report = Detection([(real, seen) for real, seen, times in counts for _ in range(times)])
    assert (0.75, 0.6, pytest.approx(2 * 0.75 * 0.6 / (0.75 + 0.6))) == report.scores
    assert (None, None, 0.0) == Detection([]).scores


def test_detect_counts_outcomes_per_detector() -> None:
    old = Snapshot.of("http://a.test/", b"<p>Coral reefs in the sea<footer>3 May 2024</footer>", "text/html")
    date = Snapshot.of("http://a.test/", b"<p>Coral reefs in the sea<footer>4 May 2024</footer>", "text/html")
    word = Snapshot.of("http://a.test/", b"<p>Coral reefs in the bay<footer>3 May 2024</footer>", "text/html")
    found = detect([Pair(old, word, True), Pair(old, date, False)])
    assert [(True, True), (False, True)] == found["digest"].outcomes
    assert [(True, True), (False, False)] == found["main-text"].outcomes == found["default"].outcomes
    assert 2 == pooled([found, found])["digest"].count(False, True)


def test_drawn_pairs_have_both_outcomes() -> None:
    now = [START]
    web = ChangingWeb(Web(seed=4, pages=400, hosts=8, traps=()), lambda: now[0], seed=4)
    some = draw_pairs(web, 40, seed=4)
    assert {True, False} == {pair.real for pair in some}
    assert all(pair.old.body != pair.new.body for pair in some if pair.real)
