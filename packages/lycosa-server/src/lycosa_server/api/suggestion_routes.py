"""Seeds and words suggested from an interest's newest crawl, and responses to suggestions."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Literal

import numpy as np
from fastapi import APIRouter
from numpy.typing import NDArray
from pydantic import BaseModel, Field

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.page_rows import PageRow
from lycosa.collection.view import CrawlView
from lycosa.core.errors import InputError, LycosaError
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.tokens import stems
from lycosa.web.urls import check_seed
from lycosa_server.api import Body
from lycosa_server.guards import InterestAccess, ServerContext, interest_to
from lycosa_server.people import catalogue, feedback, interests
from lycosa_server.people import suggestions as ideas
from lycosa_server.people.accounts import preferences
from lycosa_server.people.database import Row
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.suggestions import CandidatePage, SuggestedSeed
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import CachedView
from lycosa_server.validation import validate_settings

router = APIRouter(tags=["suggestions"])


class SuggestedTerm(BaseModel):
    term: str
    weight: float
    why: str


class Suggestions(BaseModel):
    """Suggestions; empty lists and `allowed` false if the person has turned them off."""

    allowed: bool
    seeds: list[SuggestedSeed]
    terms: list[SuggestedTerm]


class SuggestionAnswer(Body):
    kind: Literal["seed", "term"]
    value: str = Field(min_length=1, max_length=4_000, description="The address, or the word, as it was suggested.")
    answer: Literal["accepted", "dismissed"]


@router.get("/interests/{interest}/suggestions")
def get_suggestions(access: InterestAccess = interest_to("read", "read")) -> Suggestions:
    """Return suggestions for you, from this interest, its labels, and the results you opened."""
    wanted = preferences(access.site.database, access.person.id)
    if wanted.get("suggestions", True) is False:
        return Suggestions(allowed=False, seeds=[], terms=[])
    return _suggest(access.site, access.interest, access.person.id, wanted.get("history", True) is not False)


@router.post("/interests/{interest}/suggestions", status_code=204)
def answer_suggestion(body: SuggestionAnswer, access: InterestAccess = interest_to("edit", "feedback")) -> None:
    """Accept a suggestion, which adds it to the interest's settings, or dismiss it. It is not shown again."""
    site, interest = access.site, access.interest["id"]
    value = clean_line(body.value, "the suggestion", 4_000, 1)
    suggested = get_suggestions(access)
    offered = {"seed": {idea.url for idea in suggested.seeds}, "term": {idea.term for idea in suggested.terms}}
    if value not in offered[body.kind]:
        raise InputError("unknown-suggestion", f"{value[:200]!r} is no longer suggested: reload the suggestions")
    with site.database.transaction():
        row = site.database.get("interest", interest, locked=True)
        if row is not None and body.answer == "accepted":
            settings = InterestSettings.from_json(row["settings"])
            if body.kind == "term":
                settings = replace(settings, words=f"{settings.words} {value}".strip())
            else:
                settings = replace(settings, seeds=[*settings.seeds, value])
            max_pages = max(site.settings.max_budget, settings.budget)
            valid = validate_settings(settings, site.database, max_pages, row["owner"], site.settings.model_file)
            interests.change(site.database, site.clock(), interest, settings=valid)
        ideas.record_answer(site.database, site.clock(), interest, access.person.id, body.kind, value, body.answer)


def _suggest(site: ServerContext, interest: Row, person: str, history: bool) -> Suggestions:
    cached = next(site.views_of(interest["id"]), None)
    if cached is None:
        return Suggestions(allowed=True, seeds=[], terms=[])
    view, database = cached.view, site.database
    labels = feedback.labels_of(database, interest["id"])
    opened = ideas.opened_by(database, interest["id"], person) if history else {}
    done = ideas.answered(database, interest["id"], person)
    key = view.generation, view.seq, interest["changed"], labels, opened, done
    before, kept = cached.suggested.get(person, (None, None))
    if before == key and isinstance(kept, Suggestions):
        return kept
    settings = InterestSettings.from_json(interest["settings"])
    with view.lock:
        pages, _ = cached.scores(labels)
        known = [
            CandidatePage(page.node, page.title, page.host, labels.get(page.node), opened.get(page.node, 0), page.copy)
            for page in pages
        ]
        starts, targets = _links(view, pages)
    chosen = catalogue.seeds_of(database, settings.preferences, settings.words)
    taken = {check_seed(url) or url for url in [*settings.seeds, *chosen]}
    answered = {kind: {value for other, value in done if other == kind} for kind in ("seed", "term")}
    suggested = Suggestions(
        allowed=True,
        seeds=ideas.suggest_seeds(known, starts, targets, taken | answered["seed"]),
        terms=_terms(cached, pages, known, settings.words, answered["term"]),
    )
    cached.suggested[person] = key, suggested
    return suggested


def _links(view: CrawlView, pages: list[PageRow]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    graph = view.graph.breadth(view.column("kind"))
    place = np.full(len(view) + 1, -1, np.int64)  # with an additional entry for links to unknown pages
    place[[page.number for page in pages]] = np.arange(len(pages))
    ends = place[graph.redirect_targets()[graph.edges]] if len(graph.edges) else np.zeros(0, np.int64)
    parts = [ends[graph.starts[page.number] : graph.starts[page.number + 1]] for page in pages]
    parts = [part[part >= 0] for part in parts]
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return starts, np.concatenate([*parts, np.zeros(0, np.int64)])


def _terms(
    cached: CachedView, pages: list[PageRow], known: list[CandidatePage], query: str, done: set[str]
) -> list[SuggestedTerm]:
    view = cached.view
    fresh = [at for at, page in enumerate(known) if not page.copy]
    mine = [at for at in fresh if known[at].liking]
    others = len(fresh) - len(mine)
    with view.lock:
        size = len(view.words)
        here, every = np.zeros(size), view.word_pages[:size].astype(float)
        for ids, _ in view.words_on([pages[at].number for at in mine]):
            here[ids] += 1.0
        every = np.maximum(every, here)
        chosen = ideas.suggest_terms(here, len(mine), every - here, others)[: 4 * ideas.MAX_TERMS]
        languages = {ENGLISH, *(pages[at].language for at in mine)}
        named = {view.words[word.term]: word for word in chosen}
    taken = {stem for code in languages for stem in stems(query, code_of(code))}
    named = {stem: word for stem, word in named.items() if stem not in taken and len(stem) > 2 and not stem.isdigit()}
    best = sorted(mine, key=lambda at: -known[at].liking)[:20]
    spelled = ideas.spellings(_texts(view, [pages[at] for at in best]), named) if named else {}
    return [
        SuggestedTerm(term=spelled[stem], weight=word.weight, why=word.why)
        for stem, word in named.items()
        if stem in spelled and spelled[stem] not in done
    ][: ideas.MAX_TERMS]


def _texts(view: CrawlView, pages: list[PageRow]) -> list[tuple[str, str]]:
    texts = [(page.title, code_of(page.language, ENGLISH)) for page in pages]
    # without the archive, titles alone are used
    with suppress(LycosaError, OSError), CrawlDirectory(view.path) as collection:
        for page in pages:
            for visit in collection.history(page.node)[-1:]:
                texts.append((collection.document(visit).content, code_of(page.language, ENGLISH)))
    return texts
