"""A judge that learns from yes and no: the step worked out by hand, and what it does to pages and links."""

from math import exp, log, sqrt

import numpy as np
import pytest

from lycosa.checks import check_topic
from lycosa.core.types import Judgement, Label, Links, Page, Terms, Visit
from lycosa.store import codec
from lycosa.text.vocabulary import Vocabulary
from lycosa.topics.effect import Quality, effect
from lycosa.topics.given import Given
from lycosa.topics.language import InLanguage
from lycosa.topics.lessons import Correction, Lesson, Problem, Usual
from lycosa.topics.query import Query
from lycosa.topics.taught import UNTAUGHT, Glance, Taught, Teacher, said

REEF, TRAIN = "polyp colony lagoon", "timetable platform engine"


def bag(*counts: int) -> tuple[np.ndarray, np.ndarray]:
    """A page that has term 0, 1, ... so often."""
    ids = np.flatnonzero(counts)
    return ids, np.array(counts)[ids]


def visit(words: Vocabulary, node: str, text: str, beta: float, *anchors: str) -> Visit:
    """A page as the log keeps it."""
    links = Links.to(*(f"http://a.test/{n}" for n in range(len(anchors))), anchors=anchors)
    page = Page("ok", marked=text, links=links)
    made = Visit(node, "page", "ok", 1, beta=beta, terms=words.read(page).terms, links=links)
    words.learn(made)
    return made


def taught(topic: Query | Given, *lessons: tuple[str, float, bool]) -> tuple[Taught, Vocabulary]:
    """A topic with lessons, and the vocabulary of the crawl they come from."""
    words = Vocabulary()
    teacher = Teacher({f"http://a.test/{n}": relevant for n, (_, _, relevant) in enumerate(lessons)})
    for n, (text, beta, _) in enumerate(lessons):
        teacher.see(visit(words, f"http://a.test/{n}", text, beta))
    return teacher.teach(topic), words


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


def test_no_lessons_no_change() -> None:
    """Without labels every bit of a judgement is the topic's own, and so is what was recorded."""
    words, topic = Vocabulary(), Query("coral reef")
    page = Page("ok", marked="A coral in the lagoon", links=Links.to("b", anchors=["coral"]))
    reading = words.read(page)
    plain, other = topic.judge(page, reading), Teacher({}).teach(topic).judge(page, reading)
    assert (plain.beta, plain.alphas.tobytes(), plain.data) == (other.beta, other.alphas.tobytes(), other.data)
    seen = visit(words, "http://a.test/", "coral", 0.5)
    assert seen is Teacher({}).teach(topic).rejudge(seen, words.terms)


def test_likes_and_dislikes() -> None:
    """Pages like the liked one rise and those like the disliked one fall; the threshold stays."""
    topic, words = taught(Query("coral"), (REEF, 0.2, True), (TRAIN, 0.2, False))
    plain = Query("coral")

    def move(text: str) -> float:
        page = Page("ok", marked=f"coral {text}")
        reading = words.read(page)
        return topic.judge(page, reading).beta - plain.judge(page, reading).beta

    assert move(REEF) > 0.0 > move(TRAIN)
    assert plain.threshold == topic.threshold


def test_links_are_moved_by_telling_words() -> None:
    """An anchor with words of liked pages gets a higher alpha, one with none of them keeps its own to the bit."""
    topic, words = taught(Query("coral"), (REEF, 0.05, True), (TRAIN, 0.2, False))
    page = Page("ok", marked="", links=Links.to("a", "b", "c", "d", anchors=["the lagoon", "engine", "weather", ""]))
    assert isinstance(topic.judge(page, words.read(page)), Judgement)
    lagoon, engine, weather, nothing = topic.judge(page, words.read(page)).alphas.tolist()
    assert lagoon > 0.0 == engine == weather == nothing


def test_short_texts_by_hand() -> None:
    """A short text moves by the weights of its words over the root of how many there are; stop words do not count."""
    glance = Glance({"lagoon": 0.3, "train": -0.6}, reach=0.2)
    expected = [0.2 * 0.3, 0.2 * (0.3 - 0.6) / sqrt(3), 0.0, 0.0]
    actual = glance.deltas(["the lagoons", "lagoon train station", "", "weather"], "en").tolist()
    assert pytest.approx(expected) == actual


def test_judged_again_as_if_new() -> None:
    """What was recorded and what is fetched now get the same numbers from the same lessons."""
    topic, words = taught(Query("coral"), (REEF, 0.05, True), (TRAIN, 0.2, False))
    topic.facets = ("context", "url")
    page = Page("ok", marked=f"coral {REEF} \x01lagoon\x02", links=Links.to("http://a.test/polyp", anchors=["lagoon"]))
    page.links.contexts = ["colony of polyps"]
    plain, reading = Query("coral"), words.read(page)
    plain.facets = topic.facets
    old, new = plain.judge(page, reading), topic.judge(page, reading)
    links = Links.to("http://a.test/polyp", anchors=["lagoon"])
    links.contexts, links.alphas, links.facets = page.links.contexts, old.alphas, old.facets
    recorded = Visit("http://a.test/n", "page", "ok", 1, beta=old.beta, terms=reading.terms, links=links)
    again = topic.rejudge(recorded, words.terms)
    assert (new.beta, new.alphas.tolist()) == (again.beta, again.links.alphas.tolist())
    assert {name: column.tolist() for name, column in new.facets.items()} == {
        name: column.tolist() for name, column in again.links.facets.items()
    }
    assert (old.beta, old.alphas.tolist()) == (recorded.beta, recorded.links.alphas.tolist())


def test_what_the_topic_said_is_kept() -> None:
    """A visit that was judged with lessons can be judged as if there had been none, or others, after a replay."""
    topic, words = taught(Query("coral"), (REEF, 0.05, True))
    page = Page("ok", marked=f"coral {REEF} \x01lagoon\x02", links=Links.to("http://a.test/l", anchors=["lagoon"]))
    reading = words.read(page)
    plain, said_now = Query("coral").judge(page, reading), topic.judge(page, reading)
    recorded = Visit("http://a.test/n", "page", "ok", 1, beta=said_now.beta, terms=reading.terms, links=page.links)
    recorded.links.alphas, recorded.links.facets, recorded.data = said_now.alphas, said_now.facets, said_now.data
    stored = codec.decode_visit(codec.encode_visit(recorded), recorded.place)
    assert (plain.beta, plain.alphas.tolist()) == (said(stored)[0], said(stored)[1].tolist())
    without = Teacher({}).teach(Query("coral")).rejudge(stored, words.terms)
    assert (plain.beta, plain.alphas.tolist()) == (without.beta, without.links.alphas.tolist())
    assert said_now.beta == topic.rejudge(stored, words.terms).beta == stored.beta != plain.beta


def test_a_page_seen_again_teaches_as_it_is_now() -> None:
    """Of a page that was visited again, the words of its last version are learned, and what was said of it then."""
    words = Vocabulary()
    first, last = visit(words, "http://a.test/", REEF, 0.4), visit(words, "http://a.test/", TRAIN, 0.1)
    last.kind, last.data = "revisit", {UNTAUGHT: 0.3}
    teacher = Teacher({"http://a.test/": True, "http://never.test/": True})
    for event in (first, Label("http://a.test/", True), last):
        teacher.see(event)
    [lesson] = teacher.lessons()
    assert (last.terms.ids.tolist(), 0.3) == (lesson.ids.tolist(), lesson.beta)


def test_a_wrong_language_stays_at_nothing() -> None:
    """A page in a language that was not asked for is no find, however much its words are liked."""
    topic, words = taught(Query("coral"), (REEF, 0.05, True))
    page = Page("ok", marked=REEF, flags=["language"])
    assert 0.0 == InLanguage(topic).judge(page, words.read(page)).beta
    recorded = visit(words, "http://a.test/n", REEF, 0.0)
    recorded.flags = ["language"]
    assert 0.0 == topic.rejudge(recorded, words.terms).beta


def test_scores_beyond_one_stay_beyond() -> None:
    """A judge whose scores go beyond 1 keeps them: only what lies within [0, 1] is kept within."""
    topic, words = taught(Given(), (REEF, 12.0, True))
    page = Page("ok", marked=REEF, data={"beta": 12.0, "alpha": []})
    assert 12.0 == topic.judge(page, words.read(page)).beta


def test_a_label_is_the_last_word_on_its_page() -> None:
    """A page that got a no lies below the threshold, one that got a yes at it or above, whatever the judge thinks."""
    words = Vocabulary()
    pages = [visit(words, "http://a.test/yes", REEF, 0.0), visit(words, "http://a.test/no", TRAIN, 0.9)]
    teacher = Teacher({"http://a.test/yes": True, "http://a.test/no": False})
    for page in pages:
        teacher.see(page)
    topic = teacher.teach(Query("coral"))
    yes, no = (topic.rejudge(page, words.terms).beta for page in pages)
    assert no < topic.threshold <= yes


def test_failures_are_left_alone() -> None:
    """What brought no page is passed on as it is."""
    topic, words = taught(Query("coral"), (REEF, 0.05, True))
    gone = Visit("http://a.test/gone", "page", "gone", 3, terms=Terms())
    assert gone is topic.rejudge(gone, words.terms)


def test_the_fingerprint_tells_lessons_apart() -> None:
    """Other lessons, another fingerprint; the same lessons, the same one."""
    names = [repr(taught(Query("coral"), (REEF, 0.05, relevant))[0].fingerprint) for relevant in (True, True, False)]
    assert names[0] == names[1] != names[2]


def test_it_is_a_topic() -> None:
    """It does what a topic has to do, with lessons and without."""
    check_topic(lambda: taught(Query("coral reef"), (REEF, 0.05, True), (TRAIN, 0.3, False))[0])
    check_topic(lambda: Teacher({}).teach(Query("coral reef")))


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
