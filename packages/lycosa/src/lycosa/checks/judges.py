"""Checks for judges: results for all kinds of pages, and purity."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lycosa.checks.failing import SECONDS, CheckFailed, shape, want
from lycosa.checks.trials import visits
from lycosa.core.protocols import Judge, Learner
from lycosa.core.types import Judgement, Label, Links, Page, Visit
from lycosa.store import codec
from lycosa.text.vocabulary import PageWords, Vocabulary

MakeJudge: TypeAlias = Callable[[], Judge]

FACETS = ("context", "url")


def _page(text: str, anchors: Iterable[str] = (), *, marked: str | None = None, title: str = "A page") -> Page:
    """Return a page with a text and links, marked as by a space, with the relevances of graph corpora."""
    anchors = list(anchors)
    if marked is None:
        marked = " ".join([text, *(f"\x01{anchor}\x02" for anchor in anchors)])
    links = Links.to(*(f"http://example.test/{n}" for n in range(len(anchors))), anchors=anchors)
    links.contexts = [f"around {anchor}" for anchor in anchors]
    return Page("ok", 200, title=title, marked=marked, links=links, data={"beta": 0.5, "alpha": [0.25] * len(anchors)})


_REEF = "Coral reefs bleach when the sea is too warm for too long."


def _judged(judge: Judge, page: Page, case: str, reading: PageWords | None = None) -> Judgement:
    """Judge a page and check the form of the judgement."""
    reading = reading or Vocabulary().read(page)
    judgement = judge.judge(page, reading)
    want(isinstance(judgement, Judgement), f"judge() returned {judgement!r} for {case}: return a Judgement")
    relevance, link_relevances = judgement.relevance, judgement.link_relevances
    want(
        isinstance(relevance, float | int) and math.isfinite(relevance),
        f"'relevance' is {relevance!r} ({type(relevance).__name__}) for {case}: make it a finite Python float",
    )
    want(
        isinstance(link_relevances, np.ndarray) and link_relevances.shape == (len(page.links),),
        f"link relevances are {shape(link_relevances)} for {case}, which has {len(page.links)} links: return a "
        "numpy array with one number per link, in the order of page.links",
    )
    want(
        np.issubdtype(link_relevances.dtype, np.floating),
        f"link relevances are of type {link_relevances.dtype} for {case}: make them np.float32",
    )
    wrong = np.flatnonzero(~np.isfinite(link_relevances)).tolist()
    want(not wrong, f"link relevance {wrong[:1]} is not finite for {case}: guard against dividing by 0")
    if hasattr(judge, "facets"):
        _right_facets(judge, page, reading, judgement, case)
    return judgement


def _right_facets(judge: Any, page: Page, reading: PageWords, plain: Judgement, case: str) -> None:
    """Judge a page with every facet that a strategy may want: finite, one value per link, and nothing else changes."""
    before = judge.facets
    judge.facets = FACETS
    try:
        judgement = judge.judge(page, reading)
    finally:
        judge.facets = before
    for name in FACETS:
        column = judgement.facets.get(name)
        want(
            isinstance(column, np.ndarray)
            and column.shape == (len(page.links),)
            and np.issubdtype(column.dtype, np.floating),
            f"with judge.facets = {FACETS}, facet {name!r} is {shape(column)} for {case}, which has "
            f"{len(page.links)} links: put np.float32 numbers, one per link, into Judgement.facets",
        )
        wrong = np.flatnonzero(~np.isfinite(column)).tolist()
        want(not wrong, f"facet {name!r} is not finite for link {wrong[:1]} of {case}: guard against dividing by 0")
    want(_same(plain, judgement), f"relevance, link relevances or data of {case} change with facets: only add columns")


def _same(a: Judgement, b: Judgement) -> bool:
    return a.relevance == b.relevance and np.array_equal(a.link_relevances, b.link_relevances) and a.data == b.data


def threshold_is_a_number(make: MakeJudge) -> None:
    """The threshold is a finite number."""
    value = getattr(make(), "threshold", None)
    want(
        isinstance(value, float | int) and math.isfinite(value),
        f"'threshold' is {value!r}: give the judge an attribute `threshold`, the lowest relevance of a relevant page",
    )


def page_with_links(make: MakeJudge) -> None:
    """The relevance is a finite float, and there is one finite link relevance per link."""
    _judged(make(), _page(_REEF, ["coral bleaching", "the weather", "Coral"]), "a page with three links")


def empty_page(make: MakeJudge) -> None:
    """A page with neither text nor links can be judged."""
    _judged(make(), _page("", title=""), "an empty page")


def page_without_links(make: MakeJudge) -> None:
    """A page without links can be judged and gets no link relevances."""
    _judged(make(), _page(_REEF), "a page without links")


def ten_thousand_links(make: MakeJudge) -> None:
    """A page with 10,000 links is judged within SECONDS."""
    _in_time(make(), _page(_REEF, (f"coral number {n}" for n in range(10_000))), "a page with 10,000 links")


def links_without_anchors(make: MakeJudge) -> None:
    """Links without a single word get a link relevance as well."""
    _judged(make(), _page(_REEF, ["", " ", "", "coral"]), "a page whose links have no anchor text")


def other_scripts(make: MakeJudge) -> None:
    """Text in Japanese, Arabic, Cyrillic and without any script can be judged."""
    for name, text in {
        "Japanese": "サンゴ礁の白化現象は、海水温の上昇によって起こる。珊瑚",
        "Arabic": "تبيض الشعاب المرجانية عندما ترتفع حرارة البحر",
        "Cyrillic": "Обесцвечивание коралловых рифов вызвано потеплением моря",
        "emoji and control characters": "🪸🐠 \x00\x07\x1b\x1f \u200f\ufeff\ufffd",
    }.items():
        _judged(make(), _page(text, [text, "coral"]), f"a page in {name}")


def very_long_page(make: MakeJudge) -> None:
    """A page of 200,000 words is judged within SECONDS."""
    words = " ".join(f"coral{n % 5000} reef" for n in range(100_000))
    _in_time(make(), _page(words, ["coral", "reef"]), "a page of 200,000 words")


def _in_time(judge: Judge, page: Page, case: str) -> None:
    reading = Vocabulary().read(page)
    begun = time.process_time()
    judge.judge(page, reading)
    took = time.process_time() - begun
    _judged(judge, page, case, reading)
    want(took < SECONDS, f"{case} took {took:.1f} s: judging blocks the crawl, stay below {SECONDS:.0f} s")


def unpaired_markers(make: MakeJudge) -> None:
    """A page with missing, extra or broken link markers can be judged."""
    for marked in ("coral", "\x01coral", "coral\x02", "\x02coral\x01", "\x01a\x01coral\x02b\x02 \x02"):
        page = _page("", ["coral", "reef"], marked=marked)
        _judged(make(), page, f"a page with two links and the text {marked!r}")
    for marked in ("\x01coral\x02", "coral \x01reef\x02 \x01coral\x02"):  # links without a target are dropped
        _judged(make(), _page("", marked=marked), f"a page without links and the text {marked!r}")


def judging_is_pure(make: MakeJudge) -> None:
    """Judging changes nothing, so a page gets the same judgement until something is learned."""
    judge = make()
    page, other = _page(_REEF, ["coral", "weather"]), _page("Trains and coral", ["timetable"])
    before = copy.deepcopy(page)
    first = _judged(judge, page, "a page")
    for _ in range(3):
        _judged(judge, other, "another page")
    again = _judged(judge, page, "the same page")
    want(
        _same(first, again),
        f"the same page got {first} and, after judging others, {again}: learn in learn(visit), not in judge()",
    )
    same = (page.title, page.marked, page.data) == (before.title, before.marked, before.data)
    want(
        same and page.links.urls == before.links.urls and page.links.anchors == before.links.anchors,
        "judge() changed the page: leave it as it is, store data in Judgement.data",
    )


def fresh_judges_agree(make: MakeJudge) -> None:
    """Two fresh judges that learned the same visits agree, regardless of randomness, time and hash order."""
    judges, page = (make(), make()), _page(_REEF, ["coral", "weather"])
    results = []
    for judge in judges:
        words = Vocabulary()
        for visit in visits():
            judge.learn(visit)
            words.learn(visit)
        results.append(judge.judge(page, words.read(page)))
    want(_same(*results), f"one returned {results[0]}, the other {results[1]}: seed random numbers, sort sets")
    weights = [repr(getattr(judge, "weights", "")) for judge in judges]
    want(
        weights[0] == weights[1],
        f"their `weights` differ, {weights[0]} and {weights[1]}: they identify the judge in the log",
    )


def any_visit_can_be_learned(make: MakeJudge) -> None:
    """learn() accepts failed visits, redirects and robots.txt as well as pages."""
    judge = make()
    for visit in [*visits(), Visit("http://example.test/robots.txt", "robots", "ok", 0, origin="http://example.test/")]:
        judge.learn(visit)


def data_can_be_stored(make: MakeJudge) -> None:
    """The data that a judge stores with a page survives the log unchanged."""
    data = _judged(make(), _page(_REEF, ["coral"]), "a page").data
    advice = "use dictionaries with string keys, lists, strings, bytes, bool, int and float (no numpy, no tuples)"
    try:
        stored = codec.unpack_data(*codec.pack_data(data))
    except (TypeError, ValueError, OverflowError) as error:
        raise CheckFailed(f"Judgement.data is {data!r}, which the log cannot store ({error}): {advice}") from error
    want(stored == data, f"Judgement.data is {data!r}, but comes back from the log as {stored!r}: {advice}")


def model_updates_are_exact(make: MakeJudge) -> None:
    """A learning judge changes only by its model updates, and a judge that replays them from the log is equal."""
    judge, again = make(), make()
    if not isinstance(judge, Learner) or not isinstance(again, Learner):
        return
    words, page = Vocabulary(), _page(_REEF, ["coral", "weather"])
    versions = 0
    for visit in visits():
        words.learn(visit)
        judge.learn(visit)
        again.learn(visit)
        versions += visit.is_version
    seen = next(visit.node for visit in visits() if visit.is_page)
    for one in (judge, again):
        one.add_label(Label(seen, True, 1.0))
        _checked_relevances(one, versions)
    before = judge.judge(page, words.read(page))
    update = judge.next_update(2.0, force=True)
    want(
        _same(before, judge.judge(page, words.read(page))),
        "next_update() changed the judgements: change in adopt(update) only, which a replayed crawl calls as well",
    )
    if update is None:
        return
    try:
        stored = replace(update, data=codec.unpack_data(*codec.pack_data(update.data)))
    except (TypeError, ValueError, OverflowError) as error:
        raise CheckFailed(f"the log cannot store the update ({error}): use plain values, bytes and arrays") from error
    judge.adopt(update)
    again.adopt(stored)
    judged = [one.judge(page, words.read(page)) for one in (judge, again)]
    want(
        _same(*judged),
        f"after its own update it returns {judged[0]}, one that replayed the update {judged[1]}: all that is learned "
        "must be in the update or follow from the visits",
    )
    relevances_now = [_checked_relevances(one, versions) for one in (judge, again)]
    want(
        np.array_equal(relevances_now[0], relevances_now[1]),
        f"relevances_now() differ, {relevances_now[0]} and {relevances_now[1]}, after the same visits and update",
    )


def _checked_relevances(judge: Learner, versions: int) -> NDArray[np.floating[Any]]:
    relevances_now = judge.relevances_now()
    want(
        isinstance(relevances_now, np.ndarray)
        and relevances_now.shape == (versions,)
        and bool(np.isfinite(relevances_now).all()),
        f"relevances_now() returned {shape(relevances_now)} after {versions} versions of pages: return one "
        "finite number for each visit with `visit.is_version`, in log order, including revisits",
    )
    return relevances_now


JUDGE_CHECKS = (
    threshold_is_a_number,
    page_with_links,
    empty_page,
    page_without_links,
    ten_thousand_links,
    links_without_anchors,
    other_scripts,
    very_long_page,
    unpaired_markers,
    data_can_be_stored,
    judging_is_pure,
    fresh_judges_agree,
    any_visit_can_be_learned,
    model_updates_are_exact,
)
