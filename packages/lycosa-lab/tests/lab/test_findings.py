import math

import numpy as np
import pytest

from lycosa_lab.findings import FAILS, HOLDS, UNTESTED, Ruling, combine_rulings, compare

TOPICS = [topic for topic in "abcdefgh" for _ in range(2)]
LOW = np.linspace(0.3, 0.45, 16)


def test_compare_better_in_all_trials_holds():
    assert HOLDS == compare(LOW + 0.1, LOW, TOPICS, maximum=1).verdict
    assert FAILS == compare(LOW, LOW + 0.1, TOPICS, maximum=1).verdict
    assert FAILS == compare(LOW + 0.1, LOW, TOPICS, maximum=1, expect="not better").verdict
    assert HOLDS == compare(LOW, LOW + 0.1, TOPICS, maximum=1, expect="not better").verdict


def test_compare_equal_crawlers_is_alike():
    assert HOLDS == compare(LOW + 0.001, LOW, TOPICS, maximum=1, expect="alike").verdict
    assert FAILS == compare(LOW + 0.1, LOW, TOPICS, maximum=1, expect="alike").verdict


def test_compare_interval_around_0_is_untested():
    apart = np.where(np.arange(16) % 4 < 2, 0.3, -0.25)
    found = compare(LOW + apart, LOW, TOPICS, maximum=1)
    assert (UNTESTED, True) == (found.verdict, found.evidence.startswith("These trials can't tell"))


@pytest.mark.parametrize("expect", ["better", "not better", "alike"])
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            {"one": LOW, "other": LOW, "excluded": {"are the same crawls": [True] * 16}},
            "are the same crawls in 16 of 16 trials: 0 of 8 topics",
        ),
        ({"one": [0.999] * 16, "other": [0.9985] * 16}, "are both at the ceiling in 16 of 16 trials"),
        ({"one": LOW, "other": LOW[0], "topics": TOPICS[:0]}, "no trial in common"),
        ({"one": [0.0] * 16, "other": [0.0001] * 16}, "both found nearly nothing"),
        ({"one": LOW[:6] + 0.1, "other": LOW[:6], "topics": TOPICS[:6]}, "3 topics only"),
    ],
    ids=["identical", "ceiling", "no trial", "nothing", "few"],
)
def test_compare_is_untested_without_possible_difference(given, reason, expect):
    found = compare(**{"topics": TOPICS, "maximum": 1, **given}, expect=expect)
    assert (UNTESTED, True) == (found.verdict, reason in found.evidence)


def test_compare_omits_excluded_trials():
    one, same = LOW + 0.1, np.arange(16) < 4
    one[same] = LOW[same]
    found = compare(one, LOW, TOPICS, maximum=1, excluded={"are the same crawls": same}, names=("A", "B"))
    assert (HOLDS, True) == (found.verdict, "A less B, harvest: +0.100" in found.evidence)
    assert "A and B are the same crawls in 4 of 16 trials: 6 of 8 topics are left." in found.evidence


def test_compare_omits_nan():
    one = np.where(np.arange(16) < 4, np.nan, LOW + 0.1)
    found = compare(one, LOW, TOPICS, maximum=1)
    assert (HOLDS, True) == (found.verdict, "have nothing to compare in 4 of 16 trials" in found.evidence)


def test_compare_is_untested_at_maximum():
    assert HOLDS == compare(LOW * 100 + 10, LOW * 100, TOPICS, maximum=math.inf, digits=1).verdict
    assert UNTESTED == compare(LOW + 0.1, LOW, TOPICS, maximum=LOW).verdict  # the maximum of every trial is reached


def test_compare_names_crossing_of_curves():
    one, other = np.tile([0.5, 0.4, 0.3], (16, 1)), np.tile([0.3, 0.4, 0.35], (16, 1))
    found = compare(one, other, TOPICS, maximum=1, budgets=[10, 20, 3000], names=("A", "B"))
    assert (HOLDS, True) == (
        found.verdict,
        "The curves cross: ahead is A from 10 pages on, then B from 3,000 pages on." in found.evidence,
    )
    assert "cross" not in compare(one, one - 0.1, TOPICS, maximum=1, budgets=[10, 20, 30]).evidence


def test_combine_rulings_prefers_failures_to_untested():
    every = [Ruling(HOLDS, "a"), Ruling(UNTESTED, "b"), Ruling(FAILS, "a")]
    assert [HOLDS, UNTESTED, FAILS] == [combine_rulings(every[:count]).verdict for count in (1, 2, 3)]
    assert (UNTESTED, "a\nb") == (combine_rulings([]).verdict, combine_rulings(every).evidence)
