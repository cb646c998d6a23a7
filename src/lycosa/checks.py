"""Does a topic, an estimator or a space of your own behave? Run it through the checks that Lycosa's own pass.

    from lycosa.checks import check_estimator, check_space, check_topic

    check_topic(lambda: MyTopic("coral"))           # a callable that makes a fresh one
    check_estimator(MyEstimator)
    check_space(MySpace(), "a node it knows")       # two dozen visits, some at once: use a host of yours

Each returns the names of the checks that passed, or raises CheckFailed, whose message says which check,
on what input, what went wrong and what to do. `CHECKS` lists them, each with a sentence on what it asks for.

>>> from lycosa.estimators.breadth_first import BreadthFirst
>>> check_estimator(BreadthFirst)[0]
'scores_have_one_number_per_row'
"""

from __future__ import annotations

import asyncio
import copy
import gc
import math
import pickle
import random
import time
import tracemalloc
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from lycosa.core.engine import Budget, Engine
from lycosa.core.protocols import Estimator, Space, Topic
from lycosa.core.strategies import Greedy
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Kind, Links, Outcome, Page, Place, Rows, Seed, Step, Task, Visit
from lycosa.spaces.graph import Given, GraphSpace
from lycosa.store import codec
from lycosa.store.log import MemoryLog
from lycosa.text.vocabulary import Vocabulary

SECONDS = 5.0
"""What judging or learning one page may take at most, however large it is."""

GROWTH = 32_768
"""Bytes that an estimator may grow by when it learns 12,000 times what it knows already."""

MakeTopic: TypeAlias = Callable[[], Topic]
MakeEstimator: TypeAlias = Callable[[], Estimator]


class CheckFailed(AssertionError):
    """A check did not pass; `check` is its name."""

    def __init__(self, message: str, check: str = "") -> None:
        super().__init__(f"{check}: {message}" if check else message)
        self.check = check


def check_topic(make: MakeTopic) -> list[str]:
    """Run all checks for topics; `make` gives a fresh topic at each call."""
    return [_passed(check, make) for check in TOPIC_CHECKS]


def check_estimator(make: MakeEstimator) -> list[str]:
    """Run all checks for estimators; `make` gives a fresh estimator at each call."""
    return [_passed(check, make) for check in ESTIMATOR_CHECKS]


def check_space(space: Space, node: str) -> list[str]:
    """Run all checks for spaces, on a node that the space knows; the space is closed at the end.

    Links are expected to be the same at every visit, unless the space has a true attribute `changes`.
    """

    async def run() -> list[str]:
        try:
            return [await _passed_async(check, space, node) for check in SPACE_CHECKS]
        finally:
            await space.close()

    return asyncio.run(run())


def _passed(check: Callable[[Any], None], make: Callable[[], Any]) -> str:
    """Run one check; its name if it passes."""
    name = check.__name__
    try:
        check(make)
    except CheckFailed as failure:
        raise CheckFailed(str(failure), name) from failure.__cause__
    except Exception as error:
        raise CheckFailed(_raised(check, error), name) from error
    return name


async def _passed_async(check: Callable[[Space, str], Awaitable[None]], space: Space, node: str) -> str:
    name = getattr(check, "__name__", "")
    try:
        await check(space, node)
    except CheckFailed as failure:
        raise CheckFailed(str(failure), name) from failure.__cause__
    except Exception as error:
        raise CheckFailed(_raised(check, error), name) from error
    return name


def _raised(check: Callable[..., object], error: Exception) -> str:
    asked = (check.__doc__ or "").strip()
    return f"it raised {type(error).__name__}: {error}. Asked for is: {asked} The traceback says where"


def _want(condition: object, message: str) -> None:
    if not condition:
        raise CheckFailed(message)


# -- topics --------------------------------------------------------------------------------------------------


def _page(text: str, anchors: Iterable[str] = (), *, marked: str | None = None, title: str = "A page") -> Page:
    """A page with a text and links, marked as a space would; with the scores that graphs carry."""
    anchors = list(anchors)
    if marked is None:
        marked = " ".join([text, *(f"\x01{anchor}\x02" for anchor in anchors)])
    links = Links.to(*(f"http://example.test/{n}" for n in range(len(anchors))), anchors=anchors)
    links.contexts = [f"around {anchor}" for anchor in anchors]
    return Page("ok", 200, title=title, marked=marked, links=links, data={"beta": 0.5, "alpha": [0.25] * len(anchors)})


_REEF = "Coral reefs bleach when the sea is too warm for too long."


def _judged(topic: Topic, page: Page, what: str) -> Judgement:
    """Judge a page and look at the form of the judgement."""
    judgement = topic.judge(page, Vocabulary().read(page))
    _want(isinstance(judgement, Judgement), f"judge() gave {judgement!r} for {what}: return a Judgement")
    beta, alphas = judgement.beta, judgement.alphas
    _want(
        isinstance(beta, float | int) and math.isfinite(beta),
        f"beta is {beta!r} ({type(beta).__name__}) for {what}: it has to be a finite Python float; write float(beta)",
    )
    _want(
        isinstance(alphas, np.ndarray) and alphas.shape == (len(page.links),),
        f"alphas are {_shape(alphas)} for {what}, which has {len(page.links)} links: return one number "
        "per link, "
        "as a numpy array in the order of page.links",
    )
    _want(
        np.issubdtype(alphas.dtype, np.floating),
        f"alphas are of type {alphas.dtype} for {what}: make them np.float32",
    )
    wrong = np.flatnonzero(~np.isfinite(alphas)).tolist()
    _want(not wrong, f"alpha {wrong[:1]} is not finite for {what}: guard against dividing by 0")
    return judgement


def _shape(value: object) -> str:
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"


def _same(a: Judgement, b: Judgement) -> bool:
    return a.beta == b.beta and np.array_equal(a.alphas, b.alphas) and a.data == b.data


def threshold_is_a_number(make: MakeTopic) -> None:
    """A topic has a threshold, a finite number."""
    value = getattr(make(), "threshold", None)
    _want(
        isinstance(value, float | int) and math.isfinite(value),
        f"threshold is {value!r}: give the topic an attribute `threshold`, from which on a page counts as found",
    )


def a_page_with_links(make: MakeTopic) -> None:
    """beta is a finite float, and there is one finite alpha per link."""
    _judged(make(), _page(_REEF, ["coral bleaching", "the weather", "Coral"]), "a page with three links")


def an_empty_page(make: MakeTopic) -> None:
    """A page with neither text nor links can be judged."""
    _judged(make(), _page("", title=""), "an empty page")


def a_page_without_links(make: MakeTopic) -> None:
    """A page without links can be judged, and gets no alphas."""
    _judged(make(), _page(_REEF), "a page without links")


def ten_thousand_links(make: MakeTopic) -> None:
    """A page with 10,000 links is judged within SECONDS."""
    _in_time(make(), _page(_REEF, (f"coral number {n}" for n in range(10_000))), "a page with 10,000 links")


def links_without_anchors(make: MakeTopic) -> None:
    """Links without a single word in them get an alpha, too."""
    _judged(make(), _page(_REEF, ["", " ", "", "coral"]), "a page whose links have no anchor text")


def other_scripts(make: MakeTopic) -> None:
    """Text in Japanese, Arabic, Cyrillic and of no script at all can be judged."""
    for name, text in {
        "Japanese": "サンゴ礁の白化現象は、海水温の上昇によって起こる。珊瑚",
        "Arabic": "تبيض الشعاب المرجانية عندما ترتفع حرارة البحر",
        "Cyrillic": "Обесцвечивание коралловых рифов вызвано потеплением моря",
        "emoji and control characters": "🪸🐠 \x00\x07\x1b\x1f \u200f\ufeff\ufffd",
    }.items():
        _judged(make(), _page(text, [text, "coral"]), f"a page in {name}")


def a_very_long_page(make: MakeTopic) -> None:
    """A page of 200,000 words is judged within SECONDS."""
    words = " ".join(f"coral{n % 5000} reef" for n in range(100_000))
    _in_time(make(), _page(words, ["coral", "reef"]), "a page of 200,000 words")


def _in_time(topic: Topic, page: Page, what: str) -> None:
    _judged(topic, page, what)
    reading = Vocabulary().read(page)
    begun = time.perf_counter()
    topic.judge(page, reading)
    took = time.perf_counter() - begun
    _want(took < SECONDS, f"{what} took {took:.1f} s: nothing else runs meanwhile, stay below {SECONDS:.0f} s")


def markers_that_do_not_pair(make: MakeTopic) -> None:
    """A page whose text has fewer, more or broken link markers is judged all the same."""
    for marked in (
        "coral",
        "\x01coral",
        "coral\x02",
        "\x02coral\x01",
        "\x01a\x01coral\x02b\x02 \x02",
    ):
        page = _page("", ["coral", "reef"], marked=marked)
        _judged(make(), page, f"a page with two links and the text {marked!r}")


def judging_is_pure(make: MakeTopic) -> None:
    """Judging changes nothing: the same page gets the same judgement until something is learned."""
    topic = make()
    page, other = _page(_REEF, ["coral", "weather"]), _page("Trains and coral", ["timetable"])
    before = copy.deepcopy(page)
    first = _judged(topic, page, "a page")
    for _ in range(3):
        _judged(topic, other, "another page")
    again = _judged(topic, page, "the same page")
    _want(
        _same(first, again),
        f"the same page got {first} and, after judging others, {again}: learn in learn(visit), not in judge()",
    )
    same = (page.title, page.marked, page.data) == (before.title, before.marked, before.data)
    _want(
        same and page.links.urls == before.links.urls and page.links.anchors == before.links.anchors,
        "judge() changed the page: leave it as it is, put what is to be kept into Judgement.data",
    )


def fresh_ones_agree(make: MakeTopic) -> None:
    """Two fresh topics that learned the same visits judge alike: no chance, no time, no hash order."""
    topics, page = (make(), make()), _page(_REEF, ["coral", "weather"])
    results = []
    for topic in topics:
        words = Vocabulary()
        for visit in _visits():
            topic.learn(visit)
            words.learn(visit)
        results.append(topic.judge(page, words.read(page)))
    _want(
        _same(*results),
        f"one gave {results[0]}, the other {results[1]}: seed chance, sort what comes from sets",
    )
    told = [repr(getattr(topic, "weights", "")) for topic in topics]
    _want(told[0] == told[1], f"their `weights` differ, {told[0]} and {told[1]}: they name the topic in the log")


def any_visit_can_be_learned(make: MakeTopic) -> None:
    """learn() takes failed visits, redirects and robots.txt as well as pages."""
    topic = make()
    for visit in [
        *_visits(),
        Visit("http://example.test/robots.txt", "robots", "ok", 0, origin="http://example.test/"),
    ]:
        topic.learn(visit)


def data_can_be_stored(make: MakeTopic) -> None:
    """What a topic remembers of a page comes back from the log as it was."""
    data = _judged(make(), _page(_REEF, ["coral"]), "a page").data
    advice = "use dictionaries with string keys, lists, strings, bytes, bool, int and float (no numpy, no tuples)"
    try:
        stored = codec.decode_visit(codec.encode_visit(Visit("n", "page", "ok", 1, data=data)), Place()).data
    except (TypeError, ValueError, OverflowError) as error:
        raise CheckFailed(f"Judgement.data is {data!r}, which the log can't keep ({error}): {advice}") from error
    _want(stored == data, f"Judgement.data is {data!r}, but comes back from the log as {stored!r}: {advice}")


# -- estimators ----------------------------------------------------------------------------------------------


def _graph(nodes: int = 120) -> GraphSpace:
    """A small random graph with scores, always the same."""
    chance = random.Random(7)
    names = [f"n{n}" for n in range(nodes)]
    links = {name: chance.sample(names, chance.randrange(1, 8)) for name in names}
    beta = {name: round(chance.random(), 3) for name in names if chance.random() < 0.6}
    alpha = {(a, b): round(chance.random(), 3) for a in names for b in links[a]}
    return GraphSpace(links, beta, alpha)


def _visit(node: str, targets: Iterable[str], beta: float, alphas: Iterable[float], pick: int = 1) -> Visit:
    links = Links.to(*targets)
    links.alphas = np.array(list(alphas), np.float32)
    return Visit(node, "page", "ok", pick, beta=beta, links=links)


def _visits() -> Iterator[Visit]:
    """Sixty visits of the graph, breadth first, with a failure, a retry and a redirect on the way."""
    graph = _graph()
    queue, seen = ["n0"], {"n0"}
    for pick in range(1, 61):
        node = queue.pop(0)
        if pick == 20:
            yield Visit(node, "page", "unreachable", pick, retry_at=1.0)
        if pick == 10:
            yield Visit(node, "page", "gone", pick, status=404)
        elif pick == 30:
            yield Visit(node, "redirect", "redirect", pick, status=301, links=Links.to("moved"))
        else:
            targets = graph.links[node]
            alphas = [graph.alpha[node, target] for target in targets]
            yield _visit(node, targets, graph.beta.get(node, 0.0), alphas, pick)
            queue += [target for target in dict.fromkeys(targets) if target not in seen]
            seen.update(targets)


def _steps(table: Table) -> Iterator[Step]:
    table.add_seed("n0")
    for visit in _visits():
        step = table.absorb(visit)
        assert step is not None
        yield step


def _taught(make: MakeEstimator) -> tuple[Estimator, Table]:
    """A fresh estimator that has learned the visits, and the table they made."""
    estimator, table = make(), Table()
    for step in _steps(table):
        estimator.learn(step, table)
    return estimator, table


def _all(table: Table) -> Rows:
    return np.arange(len(table), dtype=np.int32)


def scores_have_one_number_per_row(make: MakeEstimator) -> None:
    """score(rows) is an array with one float per row, also for no rows and before anything is learned."""
    estimator, table = make(), Table()
    table.add_seed("n0")
    none = np.zeros(0, np.int32)
    for rows, what in ((_all(table), "a seed, before anything was learned"), (none, "no rows at all")):
        _right_shape(estimator.score(rows, table), len(rows), what)
    estimator, table = _taught(make)
    for rows, what in (
        (_all(table), "all rows"),
        (_all(table)[::-3], "some rows, last first"),
        (none, "no rows"),
    ):
        _right_shape(estimator.score(rows, table), len(rows), what)


def _right_shape(scores: object, rows: int, what: str) -> None:
    _want(
        isinstance(scores, np.ndarray) and scores.shape == (rows,) and np.issubdtype(scores.dtype, np.floating),
        f"score() gave {_shape(scores)} for {what} ({rows} of them): return one float per row, as a numpy array",
    )


def scores_are_finite(make: MakeEstimator) -> None:
    """No score is ever NaN or infinite: such a row would never be picked, or before the seeds."""
    estimator, table = make(), Table()
    for step in _steps(table):
        estimator.learn(step, table)
        scores = estimator.score(_all(table), table)
        bad = np.flatnonzero(~np.isfinite(scores))
        _want(
            not len(bad),
            f"row {bad[:1]} scores {scores[bad[:1]]} after pick {step.visit.pick}: guard against dividing by 0",
        )


def scoring_is_pure(make: MakeEstimator) -> None:
    """score() changes neither estimator nor table, and a row's score doesn't depend on the rows around it."""
    estimator, table = _taught(make)
    rows = _all(table)
    columns: list[NDArray[Any]] = [table.depth, table.in_degree, table.alpha_sum, table.beta_sum]
    before = [column.copy() for column in columns]
    state = _state(estimator)
    first = np.array(estimator.score(rows, table))
    turned = np.array(estimator.score(rows[::-1], table))[::-1]
    again = np.array(estimator.score(rows, table))
    _want(
        np.array_equal(first, again),
        "the same rows scored differently the second time: draw chance from (seed, row), change state in learn() only",
    )
    _want(
        np.array_equal(first, turned),
        "scores depend on the order in which rows are asked for: score row by row",
    )
    _want(state == _state(estimator), "score() changed the estimator's attributes: change them in learn() only")
    _want(
        all(np.array_equal(old, new) for old, new in zip(before, columns, strict=True)),
        "score() changed the table, which all share: copy a column before you change it",
    )


def _state(estimator: Estimator) -> bytes:
    """All that an estimator is; empty for one that can't be pickled."""
    try:
        return pickle.dumps(estimator)
    except (TypeError, AttributeError, pickle.PicklingError):
        return b""


def learned_rows_are_in_the_table(make: MakeEstimator) -> None:
    """learn() returns whole numbers, each of a row that the table has."""
    estimator, table = make(), Table()
    for step in _steps(table):
        rows = np.asarray(estimator.learn(step, table))
        _want(
            rows.ndim == 1 and (not len(rows) or np.issubdtype(rows.dtype, np.integer)),
            f"learn() returned {_shape(rows)} of {rows.dtype}: return row numbers as an integer array",
        )
        wrong = rows[(rows < 0) | (rows >= len(table))]
        _want(
            not len(wrong),
            f"learn() returned row {wrong[:1]} of a table with {len(table)} rows: return rows of "
            "step.children, "
            "or others that exist already",
        )


def new_links_are_returned(make: MakeEstimator) -> None:
    """learn() returns every new link: a row that is never returned is never ranked and never fetched."""
    estimator, table = make(), Table()
    returned: set[int] = {0}
    for step in _steps(table):
        returned.update(np.asarray(estimator.learn(step, table)).tolist())
        missing = [table.nodes[row] for row in step.children.tolist() if row not in returned]
        _want(
            not missing,
            f"after {step.visit.node}, learn() did not return its link {missing[:1]}: return step.children",
        )


def other_scores_stay(make: MakeEstimator) -> None:
    """A row that learn() does not return keeps its score: the frontier asks for the returned ones only."""
    estimator, table = make(), Table()
    before = np.zeros(0)
    for step in _steps(table):
        rows = np.asarray(estimator.learn(step, table))
        after = np.array(estimator.score(_all(table), table), np.float64)
        changed = np.flatnonzero(before != after[: len(before)])
        lost = sorted(set(changed.tolist()) - set(rows.tolist()) - {step.row})
        _want(
            not lost,
            f"after pick {step.visit.pick} the score of row {lost[:1]} changed, but learn() did not "
            "return it: "
            "return every row whose score may have changed (table.rows() if that's all of them)",
        )
        before = after


def fresh_ones_score_alike(make: MakeEstimator) -> None:
    """Two fresh estimators that learned the same visits give the same scores: chance is seeded."""
    (one, table), (other, _) = _taught(make), _taught(make)
    rows = _all(table)
    _want(
        np.array_equal(one.score(rows, table), other.score(rows, table)),
        "two of them, fed alike, score differently: take a seed as an argument, and draw from (seed, row or pick)",
    )


class _Shuffled(GraphSpace):
    """A graph whose answers come back in another order than they were asked for."""

    def __init__(self, graph: GraphSpace) -> None:
        super().__init__(graph.links, graph.beta, graph.alpha)
        self.chance = random.Random(11)

    async def visit(self, task: Task) -> Page:
        for _ in range(self.chance.randrange(12)):
            await asyncio.sleep(0)
        return await super().visit(task)


def _engine(make: MakeEstimator, log: MemoryLog) -> Engine:
    return Engine(
        _Shuffled(_graph(400)),
        Given(),
        Greedy(make()),
        log,
        clock=lambda: 0.0,
        budget=Budget(pages=150),
        concurrency=8,
    )


def _picks(engine: Engine) -> list[tuple[str, float]]:
    """What an engine would fetch from here on, and the scores."""
    rows = iter(lambda: engine.frontier.take(0.0), -1)
    return [(engine.table.nodes[row], float(engine.frontier.score[row])) for row in rows]


def a_crawl_can_be_resumed(make: MakeEstimator) -> None:
    """Replaying the log gives the next picks of the live crawl, with 8 in flight and shuffled answers."""
    log = MemoryLog()
    live = _engine(make, log)

    async def crawl() -> None:
        log.append(Seed("n0"))
        live.fold(Seed("n0"))
        async for _ in live.run():
            pass

    asyncio.run(crawl())
    resumed = _engine(make, MemoryLog())
    resumed.replay(log)
    expected, actual = _picks(live), _picks(resumed)
    differ = [(a, b) for a, b in zip(expected, actual, strict=False) if a != b]
    _want(
        expected == actual,
        f"after {live.tally.pages} pages the live crawl goes on with {len(expected)} rows and the "
        "resumed one with "
        f"{len(actual)}; first difference {differ[:1]}: let learn() depend on its arguments and earlier "
        "learn() calls only",
    )


def a_redirect_hands_on_its_score(make: MakeEstimator) -> None:
    """A redirect's target is worth what its source was (unless a score is drawn for the row number alone)."""
    estimator, table = _taught(make)
    row = int(table.rows()[0])
    source = np.array([row], np.int32)
    worth = float(estimator.score(source, table)[0])
    step = table.absorb(Visit(table.nodes[row], "redirect", "redirect", 99, links=Links.to("target")))
    assert step is not None
    returned = np.asarray(estimator.learn(step, table)).tolist()
    target = int(step.children[0])
    _want(target in returned, "learn() did not return the target of a redirect: return step.children")
    got = float(estimator.score(step.children, table)[0])
    _want(
        math.isclose(worth, got, rel_tol=1e-6, abs_tol=1e-12) or _by_number(make, row, worth),
        f"a row that scored {worth:.6g} redirects, and its target scores {got:.6g}: when step.visit.kind "
        "is 'redirect', "
        "give the child what its source (step.row) had",
    )


def _by_number(make: MakeEstimator, row: int, worth: float) -> bool:
    """Whether the score of a row is the same whatever has happened: then there is nothing to hand on."""
    table = Table()
    for number in range(row + 1):
        table.add(f"node {number}", depth=number % 3)
    return float(make().score(np.array([row], np.int32), table)[0]) == worth


def a_page_without_any_links(make: MakeEstimator) -> None:
    """An empty page teaches something or nothing, but works."""
    _learn(make, _visit("start", [], 0.0, []))


def a_page_with_ten_thousand_links(make: MakeEstimator) -> None:
    """A page with 10,000 links is learned and scored within SECONDS."""
    begun = time.perf_counter()
    _learn(
        make,
        _visit("start", (f"link {n}" for n in range(10_000)), 0.5, (n % 100 / 100 for n in range(10_000))),
    )
    took = time.perf_counter() - begun
    _want(took < SECONDS, f"a page with 10,000 links took {took:.1f} s: use arrays, not a loop over rows")


def links_that_say_nothing(make: MakeEstimator) -> None:
    """Links without anchor on a page without words (all alphas and beta are 0) can be scored."""
    _learn(make, _visit("start", ["a", "b"], 0.0, [0.0, 0.0]))


def _learn(make: MakeEstimator, visit: Visit) -> None:
    """Let a fresh one learn a single visit, and score what came of it."""
    estimator, table = make(), Table()
    table.add_seed(visit.node)
    step = table.absorb(visit)
    assert step is not None
    estimator.learn(step, table)
    scores = estimator.score(_all(table), table)
    _right_shape(scores, len(table), f"a page with {len(visit.links)} links")
    _want(np.isfinite(scores).all(), f"a score is not finite after a page with {len(visit.links)} links")


def memory_is_bounded(make: MakeEstimator) -> None:
    """State grows with the table, not with the visits: learning the same pages again adds nothing."""
    estimator, table = make(), Table()
    steps = list(_steps(table))
    tracing = tracemalloc.is_tracing()
    if not tracing:
        tracemalloc.start()
    try:
        sizes = []
        for rounds in (3, 200):
            for _ in range(rounds):
                for step in steps:
                    estimator.learn(step, table)
            gc.collect()
            sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        if not tracing:
            tracemalloc.stop()
    _want(
        sizes[1] - sizes[0] < GROWTH,
        f"it grew by {sizes[1] - sizes[0]} bytes while it learned the same {len(steps)} visits 200 "
        "times: keep sums and "
        "columns with one entry per row, not lists of what was seen",
    )


# -- spaces --------------------------------------------------------------------------------------------------


async def lanes_are_stable(space: Space, node: str) -> None:
    """lane(node) is a string, the same at every call."""
    first, second = space.lane(node), space.lane(node)
    _want(
        isinstance(first, str) and first == second,
        f"lane({node!r}) is {first!r}, then {second!r}: derive it from the node's name alone",
    )


async def ready_says_when_and_why(space: Space, node: str) -> None:
    """ready(lane) is a time, not NaN, and a reason."""
    answer = space.ready(space.lane(node))
    _want(
        isinstance(answer, tuple)
        and len(answer) == 2
        and isinstance(answer[0], float | int)
        and not math.isnan(answer[0])
        and isinstance(answer[1], str),
        f"ready({space.lane(node)!r}) is {answer!r}: return (seconds since the epoch, what the lane waits for)",
    )


async def errands_are_of_three_kinds(space: Space, node: str) -> None:
    """errand(node) is a Task to be run first, an outcome with its reason, or None."""
    errand = space.errand(node)
    refusal = isinstance(errand, tuple) and len(errand) == 2 and errand[0] in get_args(Outcome)
    _want(
        errand is None or isinstance(errand, Task) or (refusal and isinstance(errand[1], str)),
        f"errand({node!r}) is {errand!r}: return a Task, (outcome, reason) or None",
    )


async def a_visit_gives_a_page(space: Space, node: str) -> None:
    """visit(Task(node)) gives a Page with an outcome and a kind that Lycosa knows."""
    page = await _visited(space, node)
    _want(
        page.kind in get_args(Kind),
        f"the page of {node!r} is of kind {page.kind!r}: use one of core.types.Kind",
    )


async def _visited(space: Space, node: str) -> Page:
    page = await space.visit(Task(node))
    _want(isinstance(page, Page), f"visit({node!r}) gave {page!r}: return a Page")
    _want(
        page.outcome in get_args(Outcome),
        f"the page of {node!r} has the outcome {page.outcome!r}: use one of core.types.Outcome",
    )
    return page


async def links_are_columns(space: Space, node: str) -> None:
    """The columns of page.links are of equal length; alphas may be left to the topic."""
    links = (await _visited(space, node)).links
    _want(
        isinstance(links, Links),
        f"the links of {node!r} are a {type(links).__name__}: use Links, or Links.to(...)",
    )
    columns = {name: len(getattr(links, name)) for name in ("urls", "anchors", "contexts", "rels", "positions")}
    _want(
        len(set(columns.values())) == 1,
        f"the links of {node!r} have columns of lengths {columns}: fill them all",
    )
    _want(
        len(links.alphas) in (0, len(links)),
        f"the links of {node!r} have {len(links.alphas)} alphas for {len(links)} links: leave them out, or give all",
    )
    wrong = [url for url in links.urls if not isinstance(url, str)]
    _want(not wrong, f"a link of {node!r} is {wrong[:1]}: nodes are strings")


async def links_can_be_visited(space: Space, node: str) -> None:
    """Each link has a lane, so that it can join the frontier."""
    for url in (await _visited(space, node)).links.urls:
        _want(isinstance(space.lane(url), str), f"lane({url!r}) of a link of {node!r} is not a string")


async def failures_are_outcomes(space: Space, node: str) -> None:
    """Visiting a node that does not exist gives a page that says so, not an exception."""
    stranger = f"{node}-no-such-node"
    try:
        await _visited(space, stranger)
    except CheckFailed:
        raise
    except Exception as error:
        raise CheckFailed(
            f"visit({stranger!r}) raised {type(error).__name__}: {error}: return Page('gone'), or another outcome"
        ) from error


async def visits_repeat(space: Space, node: str) -> None:
    """Visiting a node twice gives the same links, unless the space has `changes = True`."""
    first, second = await _visited(space, node), await _visited(space, node)
    _want(
        getattr(space, "changes", False) or first.links.urls == second.links.urls,
        f"{node!r} had {len(first.links)} links, then {len(second.links)} or others: sort them, or set changes = True",
    )


async def eight_at_once(space: Space, node: str) -> None:
    """Eight visits can be under way at the same time, and none mixes with another."""
    names = [node, f"{node}-no-such-node"]
    alone = [(await _visited(space, name)).links.urls for name in names]
    together = await asyncio.gather(*(_visited(space, name) for name in names * 4))
    for name, expected, page in zip(names * 4, alone * 4, together, strict=True):
        _want(
            getattr(space, "changes", False) or page.links.urls == expected,
            f"{name!r} had other links when eight visits ran at once: keep nothing of a visit on the space",
        )


TOPIC_CHECKS = (
    threshold_is_a_number,
    a_page_with_links,
    an_empty_page,
    a_page_without_links,
    ten_thousand_links,
    links_without_anchors,
    other_scripts,
    a_very_long_page,
    markers_that_do_not_pair,
    data_can_be_stored,
    judging_is_pure,
    fresh_ones_agree,
    any_visit_can_be_learned,
)

ESTIMATOR_CHECKS = (
    scores_have_one_number_per_row,
    scores_are_finite,
    scoring_is_pure,
    learned_rows_are_in_the_table,
    new_links_are_returned,
    other_scores_stay,
    fresh_ones_score_alike,
    a_crawl_can_be_resumed,
    a_redirect_hands_on_its_score,
    a_page_without_any_links,
    a_page_with_ten_thousand_links,
    links_that_say_nothing,
    memory_is_bounded,
)

SPACE_CHECKS = (
    lanes_are_stable,
    ready_says_when_and_why,
    errands_are_of_three_kinds,
    a_visit_gives_a_page,
    links_are_columns,
    links_can_be_visited,
    failures_are_outcomes,
    visits_repeat,
    eight_at_once,
)

CHECKS: dict[str, dict[str, str]] = {
    kind: {check.__name__: (check.__doc__ or "").strip() for check in checks}
    for kind, checks in (("topic", TOPIC_CHECKS), ("estimator", ESTIMATOR_CHECKS), ("space", SPACE_CHECKS))
}
"""Every check by kind and name, and the sentence that says what it asks for."""
