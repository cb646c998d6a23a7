"""Where the line is drawn, and the regression: against numbers worked out by hand."""

import math

import numpy as np
import pytest

from lycosa.judges.probability.judge import asked
from lycosa.judges.probability.line import expected, fitted, heaps, line, moved, prevalence, sigmoid


def test_a_share_that_explains_the_odds() -> None:
    """At the fixed point the mean of the posteriors is the share itself."""
    odds = np.array([3.0, 2.0, -1.0, -2.5, -3.0, -3.0])
    share = prevalence(odds)
    prior = math.log(share / (1 - share))
    assert float(np.mean(1 / (1 + np.exp(-(odds + prior))))) == pytest.approx(share, abs=1e-6)


def test_the_line_lies_between_two_pages() -> None:
    """Two pages above it: midway between the second and the third."""
    assert line(np.array([1.0, 5.0, 3.0]), 2.2) == 2.0
    assert line(np.array([1.0, 5.0]), 0) > 5.0
    assert line(np.array([1.0, 5.0]), 9) < 1.0


def test_a_label_moves_the_line_as_its_posterior_says() -> None:
    """One yes at distance 0: the derivative of the log posterior is 0 where (1 - p) = shift / spread^2."""
    at = moved(0.0, np.array([0.0]), np.array([1.0]))
    p = 1 / (1 + math.exp(at))  # of the page, which lies at 0
    assert at < 0
    assert (1 - p) == pytest.approx(-at / 1.5**2, abs=1e-6)


def test_labels_on_both_sides_leave_the_line_between() -> None:
    """A yes above and a no below, as far away: it stays."""
    assert moved(1.0, np.array([3.0, -1.0]), np.array([1.0, 0.0])) == pytest.approx(1.0, abs=1e-9)


def test_one_heap_is_no_two() -> None:
    """Nor are few pages, nor a handful far below."""
    chance = np.random.default_rng(1)
    assert heaps(chance.normal(0, 1, 300)) == 0
    assert heaps(np.array([1.0, 2.0])) == 0
    assert heaps(np.concatenate([chance.normal(0, 1, 300), [-80.0, -70.0, -90.0]])) == 0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_two_heaps_are_counted(share: float) -> None:
    """Whatever part the upper one is, up to MOST."""
    chance = np.random.default_rng(2)
    upper = int(400 * share)
    scores = np.concatenate([chance.normal(-4, 1, 400 - upper), chance.normal(2, 1, upper)])
    assert heaps(scores) == pytest.approx(upper, abs=4)
    assert expected(scores, np.array([2.0, 2.5]), 1.0) == heaps(scores)


def test_no_pages_no_relevant_ones() -> None:
    """An empty crawl."""
    assert expected(np.zeros(0), np.zeros(0), 0.0) == 0.0


def test_what_pages_say_by_themselves_counts_less_the_more_there_are() -> None:
    """100 pages: half of what they say, half of what is usual; scores that are all the same foretell nothing.

    Their prevalence at log odds of -2 (the middle lies 2 above them) goes to its least, 1e-4: n_em is .01. So usual is
    exp(.916 + .164 log 1.01 + .307 log 100) = exp(.916 + .0016 + 1.4138) = 10.29. With 20 said: sqrt(20.1 * 10.29).
    """
    assert expected(np.zeros(100), np.zeros(0), 20.0) == pytest.approx(14.38, abs=0.02)
    assert expected(np.zeros(2000), np.zeros(0), 500.0) == expected(np.zeros(2000), np.zeros(0), 0.0)
    assert expected(np.zeros(1500), np.zeros(0), 500.0) > expected(np.zeros(1500), np.zeros(0), 0.0)


def test_the_regression_solves_its_equations() -> None:
    """At the optimum a_i / C = w_i (y_i - p_i), for a kernel of its own and unequal weights."""
    x = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.3], [-0.5, 0.1], [0.1, 0.9]])
    kernel, yes, weights = x @ x.T + 0.5, np.array([1.0, 1, 0, 0, 0]), np.array([1.0, 2, 1, 1, 0.5])
    a, _ = fitted(kernel, yes, weights, strength=2.0)
    p = sigmoid(kernel @ a)
    assert a == pytest.approx(2.0 * weights * (yes - p), abs=1e-3)


def test_left_out_as_if_never_seen() -> None:
    """What is said of a page left out is near what a fit without it says."""
    chance = np.random.default_rng(3)
    x = np.concatenate([chance.normal(1, 1, (20, 3)), chance.normal(-1, 1, (20, 3))])
    yes = np.repeat([1.0, 0.0], 20)
    kernel = x @ x.T + 1.0
    _, alone = fitted(kernel, yes, np.ones(40), strength=0.1)
    for out in (0, 5, 33):
        kept = np.delete(np.arange(40), out)
        a, _ = fitted(kernel[np.ix_(kept, kept)], yes[kept], np.ones(39), strength=0.1)
        assert alone[out] == pytest.approx(float(kernel[out, kept] @ a), abs=0.15)


@pytest.mark.parametrize(
    ("topic", "words", "phrases", "against"),
    [
        ("coral reef", ["coral", "reef"], (), ()),
        ('"coral reef"', ["coral reef"], ("coral reef",), ()),
        ('reef -hotel -"dive shop"', ["reef"], (), ("hotel", "dive shop")),
        ("sea-level - rise", ["sea-level", "-", "rise"], (), ()),
        ('unclosed "quote here', ["unclosed", "quote", "here"], (), ()),
    ],
)
def test_topics_as_typed(topic: str, words: list[str], phrases: tuple[str, ...], against: tuple[str, ...]) -> None:
    """Words, phrases, words against; what is no quote is a word."""
    found = asked(topic)
    assert (list(found.words), found.phrases, found.against) == (words, phrases, against)
