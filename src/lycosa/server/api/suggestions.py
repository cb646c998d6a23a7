"""Seeds, words and pages that a person might like to add to an interest, gathered from the views of the person's own
crawls; and what they say to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Literal, NamedTuple

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from lycosa.collection.judging import page_of
from lycosa.collection.reading import Collection
from lycosa.collection.rows import PageRow
from lycosa.collection.view import CrawlView
from lycosa.core.errors import InputError, LycosaError
from lycosa.core.protocols import Topic
from lycosa.core.spec import parse
from lycosa.core.types import Page, Terms
from lycosa.people import catalogue, feedback, interests
from lycosa.people import suggestions as ideas
from lycosa.people.accounts import preferences
from lycosa.people.database import Row
from lycosa.people.suggestions import Idea, Known
from lycosa.people.typed import line
from lycosa.server.api import Body, Named
from lycosa.server.guards import InterestAccess, Site, interest_to
from lycosa.server.results import CachedView
from lycosa.server.validation import checked
from lycosa.store.directory import Directory, located
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.tokens import stems
from lycosa.text.vocabulary import Reading, Vocabulary
from lycosa.topics import DEFAULT
from lycosa.topics.making import make_topic
from lycosa.topics.probability.judge import asked
from lycosa.web.urls import check_seed

router = APIRouter(tags=["suggestions"])


class TermIdea(BaseModel):
    term: str
    weight: float
    why: str


class PageIdea(BaseModel):
    url: str
    title: str
    interest: Named
    score: float
    why: str


class Suggestions(BaseModel):
    """What there is to suggest; nothing where the person does not want any."""

    allowed: bool
    seeds: list[Idea]
    terms: list[TermIdea]
    pages: list[PageIdea]


class Answer(Body):
    kind: Literal["seed", "term", "page"]
    value: str = Field(min_length=1, max_length=4_000, description="The address, or the word, as it was suggested.")
    answer: Literal["accepted", "dismissed"]


@router.get("/interests/{interest}/suggestions")
def get_suggestions(access: InterestAccess = interest_to("read", "read")) -> Suggestions:
    """Suggestions for the person who asks: from this interest, its feedback, and what is their own."""
    wanted = preferences(access.site.database, access.person.id)
    if wanted.get("suggestions", True) is False:
        return Suggestions(allowed=False, seeds=[], terms=[], pages=[])
    return _suggest(access.site, access.interest, access.person.id, wanted.get("history", True) is not False)


@router.post("/interests/{interest}/suggestions", status_code=204)
def answer_suggestion(body: Answer, access: InterestAccess = interest_to("edit", "feedback")) -> None:
    """Accept or dismiss a suggestion; it is not shown again.

    An accepted seed or page becomes a seed of the interest, an accepted word joins its words: the next crawl goes by
    them.
    """
    site, interest = access.site, access.interest["id"]
    value = line(body.value, "the suggestion", 4_000, 1)
    suggested = get_suggestions(access)
    offered = {
        "seed": {idea.url for idea in suggested.seeds},
        "term": {idea.term for idea in suggested.terms},
        "page": {page.url for page in suggested.pages},
    }
    if value not in offered[body.kind]:
        raise InputError(f"{value[:200]!r} is not suggested as a {body.kind} now: look at the suggestions again")
    with site.database.transaction():
        row = site.database.get("interest", interest, locked=True)
        if row is not None and body.answer == "accepted":
            wishes = asdict(interests.wishes_of(row))
            if body.kind == "term":
                wishes["words"] = f"{wishes['words']} {value}".strip()
            else:
                wishes["seeds"] = list(dict.fromkeys([*wishes["seeds"], value]))
            most = max(site.settings.max_budget, wishes["budget"])
            wished = checked(wishes, site.database, most, row["owner"], site.settings.model_file)
            interests.change(site.database, site.clock(), interest, wishes=wished)
        ideas.answer(site.database, site.clock(), interest, access.person.id, body.kind, value, body.answer)


# -- what there is to suggest ----------------------------------------------------------------------------------


def _suggest(site: Site, interest: Row, person: str, history: bool) -> Suggestions:
    """What to suggest; `history`: whether the results that the person opened may be looked at."""
    cached = next(site.views_of(interest["id"]), None)
    if cached is None:
        return Suggestions(allowed=True, seeds=[], terms=[], pages=[])
    view, database = cached.view, site.database
    labels = feedback.labels_of(database, interest["id"])
    opened = ideas.opened_by(database, interest["id"], person) if history else {}
    done = ideas.answered(database, interest["id"], person)
    key = ("suggested", person, view.generation, view.seq, interest["changed"], _frozen(labels), _frozen(opened),
           frozenset(done), _others(site, interest["id"], person))  # fmt: skip
    kept = cached.arranged.get(key)
    if isinstance(kept, Suggestions):
        return kept
    wishes = interests.wishes_of(interest)
    with view.lock:
        pages, scores = cached.scores(labels)
        known = [
            Known(page.node, page.title, page.host, labels.get(page.node), opened.get(page.node, 0), score, page.copy)
            for page, score in zip(pages, scores.tolist(), strict=True)
        ]
        starts, targets = _links(view, pages)
    chosen = catalogue.seeds_of(database, wishes.preferences, wishes.words)
    taken = {check_seed(url) or url for url in [*wishes.seeds, *chosen]}
    answered = {kind: {value for other, value in done if other == kind} for kind in ("seed", "term", "page")}
    made = Suggestions(
        allowed=True,
        seeds=ideas.seeds(known, starts, targets, view.threshold, taken | answered["seed"]),
        terms=_terms(cached, pages, known, wishes.words, answered["term"]),
        pages=_pages(site, cached, interest, person, answered["page"] | taken),
    )
    cached.remember(key, made)
    return made


def _others(site: Site, interest: str, person: str) -> tuple[tuple[str, int], ...]:
    """The person's own other interests, and how many pages their crawls have: what suggestions depend on."""
    rows = site.database.rows(
        "SELECT i.id, COALESCE(SUM(c.pages), 0) AS pages FROM interest i LEFT JOIN crawl c ON c.interest = i.id "
        "WHERE i.owner = :person AND i.id <> :interest GROUP BY i.id ORDER BY i.id",
        person=person,
        interest=interest,
    )
    return tuple((row["id"], int(row["pages"])) for row in rows)


def _links(view: CrawlView, pages: list[PageRow]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each page the pages that it links to, by their places in the list; redirects are followed."""
    graph = view.graph.breadth(view.column("kind"))
    place = np.full(len(view) + 1, -1, np.int64)  # one more, for what leads nowhere
    place[[page.number for page in pages]] = np.arange(len(pages))
    ends = place[graph.landing()[graph.edges]] if len(graph.edges) else np.zeros(0, np.int64)
    parts = [ends[graph.starts[page.number] : graph.starts[page.number + 1]] for page in pages]
    parts = [part[part >= 0] for part in parts]
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return starts, np.concatenate([*parts, np.zeros(0, np.int64)])


# -- words -----------------------------------------------------------------------------------------------------


def _terms(cached: CachedView, pages: list[PageRow], known: list[Known], query: str, done: set[str]) -> list[TermIdea]:
    """Words that are typical of liked pages; of the best finds where fewer than three are liked."""
    view = cached.view
    likings = [ideas.liking(page, view.threshold) for page in known]
    fresh = [at for at, page in enumerate(pages) if not page.copy]
    mine = [at for at in fresh if ideas.is_liked(known[at])]
    liked = len(mine) >= 3
    if not liked:
        finds = [at for at in fresh if likings[at] > 0.0]
        mine = sorted(finds, key=lambda at: (-likings[at], -known[at].score, at))[:10]
    others = len(fresh) - len(mine)
    with view.lock:
        size = len(view.words)
        here, every = np.zeros(size), view.word_pages[:size].astype(float)
        for ids, _ in view.words_on([pages[at].number for at in mine]):
            here[ids] += 1.0
        every = np.maximum(every, here)
        chosen = ideas.words(here, len(mine), every - here, others)[: 4 * ideas.TERMS]
        languages = {ENGLISH, *(pages[at].language for at in mine)}
        named = {view.words[word.term]: word for word in chosen}
    taken = {stem for code in languages for stem in stems(query, code_of(code))}
    named = {stem: word for stem, word in named.items() if stem not in taken and len(stem) > 2 and not stem.isdigit()}
    best = sorted(mine, key=lambda at: -likings[at])[:20]
    spelled = ideas.spelled(_texts(view, [pages[at] for at in best]), named) if named else {}
    return [
        TermIdea(term=spelled[stem], weight=word.weight, why=ideas.because(word, len(mine), others, liked))
        for stem, word in named.items()
        if stem in spelled and spelled[stem] not in done
    ][: ideas.TERMS]


def _texts(view: CrawlView, pages: list[PageRow]) -> list[tuple[str, str]]:
    texts = [(page.title, code_of(page.language, ENGLISH)) for page in pages]
    with suppress(LycosaError, OSError), Collection(view.path) as collection:  # else titles have to do
        for page in pages:
            for visit in collection.history(page.node)[-1:]:
                texts.append((collection.document(visit).said, code_of(page.language, ENGLISH)))
    return texts


# -- pages of other interests ----------------------------------------------------------------------------------


def _pages(site: Site, cached: CachedView, interest: Row, person: str, left_out: set[str]) -> list[PageIdea]:
    """Finds of the person's other interests that are like this one's topic, and that it has not fetched."""
    found: dict[str, PageIdea] = {}
    rows = site.database.rows(
        "SELECT * FROM interest WHERE owner = :person AND id <> :id ORDER BY id", person=person, id=interest["id"]
    )
    made = _likeness(cached) if rows else None
    if made is None:
        return []
    for row in rows:
        other = next(site.views_of(row["id"]), None)
        if other is None:
            continue
        theirs = feedback.labels_of(site.database, row["id"])
        for page, score in _judged(made, other, theirs):
            if score < made.topic.threshold or cached.view.page(page.node) is not None or page.node in left_out:
                continue
            enough = f"{score:.2f}, {made.topic.threshold:.2f} is enough"
            why = f"found for “{row['name']}”; {made.told} ({enough})"
            if page.node not in found or found[page.node].score < score:
                whose = Named(id=row["id"], name=row["name"])
                found[page.node] = PageIdea(
                    url=page.node, title=page.title, interest=whose, score=round(score, 4), why=why
                )
    return sorted(found.values(), key=lambda page: (-page.score, page.url))[: ideas.PAGES]


class Likeness(NamedTuple):
    """How like the topic of a crawl the pages of others are."""

    topic: Topic
    told: str
    reads: bool = False  # whether pages have to be read again for it


def _likeness(cached: CachedView) -> Likeness | None:
    """By the crawl's own judge, if it can judge a page alone.

    One that goes by words, or that has learned from its crawl, gives way to the plain comparison of words, for which
    what is known of all pages will do.
    """
    path = cached.view.path
    with suppress(LycosaError, OSError):
        options = Directory.read_options(path)
        name = parse(options.judge)[0]
        with cached.view.reading() as log:
            learned = log.setting("learned", {})
        learned = learned.get("centroid", learned)
        if name and name not in (DEFAULT, "vector"):
            own = make_topic(located(options, path), learned)
            return Likeness(own, f"so says the judge of this interest, {name}", reads=True)
        told = replace(options, topic=asked(options.topic).text, judge="vector", threshold=0.0)
        return Likeness(make_topic(told, learned), "its words are like those of this topic")
    return None


def _judged(like: Likeness, other: CachedView, labels: Mapping[str, bool]) -> list[tuple[PageRow, float]]:
    """The best finds of another crawl, and how like the topic they are. How rare words are is taken from that crawl."""
    view = other.view
    with view.lock:
        pages, scores = other.scores(labels)
        finds = [
            (-score, page.place, page)
            for page, score in zip(pages, scores.tolist(), strict=True)
            if score >= view.threshold and not page.copy and not page.foreign and labels.get(page.node) is not False
        ]
        best = [page for *_, page in sorted(finds)[: 50 if like.reads else 400]]  # reading archives takes long
        words = Vocabulary()
        words.follow(view.words)
        having = view.word_pages[: len(words.frequency)]
        words.frequency[: len(having)] = having
        words.pages = len(pages)
        terms = view.words_on([page.number for page in best])
    if like.reads:
        return _read_again(like.topic, view, best, words)
    judged = []
    for page, (ids, counts) in zip(best, terms, strict=True):
        language = code_of(page.language, ENGLISH)
        reading = Reading(np.zeros(0, np.int32), Terms(ids, counts), page.simhash, words, language)
        judgement = like.topic.judge(Page("ok", title=page.title, language=page.language), reading)
        judged.append((page, float(judgement.beta)))
    return judged


def _read_again(topic: Topic, view: CrawlView, pages: list[PageRow], words: Vocabulary) -> list[tuple[PageRow, float]]:
    """What a judge says of pages as they are archived; of those that are not, nothing."""
    judged = []
    with Collection(view.path) as collection:
        for page in pages:
            for visit in collection.history(page.node)[-1:]:
                with suppress(LycosaError, OSError):
                    found = page_of(collection, visit)
                    judged.append((page, float(topic.judge(found, words.read(found)).beta)))
    return judged


def _frozen(mapping: Mapping[str, int]) -> frozenset[tuple[str, int]]:
    return frozenset(mapping.items())
