"""Learning from yes and no: the step worked out by hand, and what it brings."""

from math import exp, log, sqrt

import numpy as np
import pytest

from lycosa.topics.effect import Quality, effect
from lycosa.topics.lessons import Correction, Lesson, Problem, Usual


def bag(*counts: int) -> tuple[np.ndarray, np.ndarray]:
    """A page that has term 0, 1, ... so often."""
    ids = np.flatnonzero(counts)
    return ids, np.array(counts)[ids]


def test_one_lesson_by_hand() -> None:
    """A yes to a page of one word moves it by theta / s v (1 - p), p being the chance of a yes once it has moved."""
    taught = Correction([Lesson(*bag(1), beta=0.1, relevant=True)], threshold=0.1)
    # x = (1); m = .5 (.1 - .1) / .1 = 0; v = 1 / (1 + 2) = 1/3. f = w.x solves f = v (1 - p), p = 1 / (1 + e^-f):
    # f = .15 gives 1/3 (1 - .5374) = .1542; f = .1538 gives 1/3 (1 - .53838) = .15388
    f = 0.1538
    for _ in range(50):
        f = (1 - 1 / (1 + exp(-f))) / 3
    assert pytest.approx(0.15387, abs=1e-5) == f
    assert pytest.approx(f) == taught.weights[0]
    assert pytest.approx(0.1 / 0.5 * f) == taught.delta(*bag(1))


def test_two_lessons_by_hand() -> None:
    """A yes and a no to pages of other words, both at the threshold, move them by the same amount, one up, one down."""
    taught = Correction(
        [Lesson(*bag(1, 0), beta=0.1, relevant=True), Lesson(*bag(0, 1), beta=0.1, relevant=False)], threshold=0.1
    )
    # v = 2 / (2 + 2) = 1/2, and neither has a word of the other: f = 1/2 (1 - p(f)), f = .2224
    f = 0.2
    for _ in range(50):
        f = (1 - 1 / (1 + exp(-f))) / 2
    assert pytest.approx(0.2224, abs=1e-4) == f
    assert pytest.approx([f, -f]) == taught.weights[:2].tolist()
    # A page with both, the first three times: x = (1 + log 3, 1) / |.|
    both = (1 + log(3) - 1) / sqrt((1 + log(3)) ** 2 + 1)
    assert pytest.approx(0.2 * f * both) == taught.delta(*bag(3, 1))


def test_the_optimum_is_how_far_the_judge_is_off() -> None:
    """At the solution a_i = y_i - p_i, whatever the pages are."""
    chance = np.random.default_rng(1)
    lessons = [
        Lesson(np.arange(8), chance.integers(1, 9, 8), float(chance.random()), bool(chance.integers(2)))
        for _ in range(12)
    ]
    problem = Problem(lessons, 0.1, np.full(8, 0.2))
    a = problem.solve()
    f = 12 / 14 * problem.products @ a
    p = 1 / (1 + np.exp(-(0.5 * (np.array([lesson.beta for lesson in lessons]) - 0.1) / 0.1 + f)))
    assert pytest.approx([lesson.relevant - chance for lesson, chance in zip(lessons, p, strict=True)], abs=1e-7) == a


def test_the_average_page_stays() -> None:
    """What all pages have in common is no reason to move any: the average of all moves is 0."""
    pages = [bag(2, 1, 0), bag(3, 0, 1), bag(1, 0, 4)]
    usual = Usual()
    for page in pages:
        usual.add(*page)
    taught = Correction([Lesson(*pages[0], beta=0.0, relevant=True)], 0.1, usual.mean())
    moves = [taught.delta(*page) for page in pages]
    assert pytest.approx(0.0, abs=1e-12) == sum(moves)
    assert moves[0] > 0.0 > max(moves[1:])


def test_left_out_lessons_teach_nothing() -> None:
    """What a lesson's score would be without it is what a correction by the others says."""
    lessons = [Lesson(*bag(1, 2), 0.3, True), Lesson(*bag(0, 1), 0.05, False), Lesson(*bag(4, 1), 0.1, True)]
    usual = np.array([0.1, 0.2])
    others = Correction(lessons[1:], 0.1, usual)
    expected = 0.3 + others.delta(lessons[0].ids, lessons[0].counts)
    assert pytest.approx(expected) == Problem(lessons, 0.1, usual).without(np.array([0]))[0]


def test_no_lessons_no_effect() -> None:
    """Where nothing was said there is nothing to measure; a single label has no other to be foretold from."""
    one = effect([Lesson(*bag(1), 0.3, True)], 0.1)
    assert (None, None) == (effect([], 0.1).before, effect([], 0.1).after)
    assert (Quality(1, 1, 1, 1), None) == (one.before, one.after)


def test_the_effect_is_measured_on_what_was_not_learned() -> None:
    """Pages of which each has words of its own teach nothing about one another: after is as before."""
    lessons = [Lesson(np.array([n]), np.array([2]), 0.3, n % 2 == 0) for n in range(6)]
    told = effect(lessons, 0.1)
    assert (Quality(6, 3, 6, 3), told.before, "leave-one-out") == (told.before, told.after, told.method)


def test_the_effect_of_words_in_common() -> None:
    """Pages that share words with others of their label are foretold better than the judge had them."""
    lessons = [Lesson(np.array([n % 2, 2 + n]), np.array([5, 1]), 0.12, n % 2 == 0) for n in range(12)]
    told = effect(lessons, 0.1)
    assert (0.5, 1.0) == (told.before and told.before.accuracy, told.after and told.after.accuracy)


def test_many_labels_are_left_out_by_tenths() -> None:
    """Beyond fifty labels a tenth is left out at a time; the outcome is of the same kind."""
    lessons = [Lesson(np.array([n % 2, 2 + n]), np.array([5, 1]), 0.12, n % 2 == 0) for n in range(60)]
    told = effect(lessons, 0.1)
    assert ("10-fold", 1.0) == (told.method, told.after and told.after.accuracy)
