"""Seeds and words suggested from an interest's newest crawl, and responses to suggestions."""

from __future__ import annotations

import json
from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from typing import Literal

import numpy as np
from fastapi import APIRouter
from pydantic import BaseModel, Field

from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.pages import PageArray, PageRow, pages_at, select_pages, terms_of
from lycosa.core.errors import InputError, LycosaError
from lycosa.store.codec import unpack_links
from lycosa.store.log import SqliteLog
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.tokens import stems
from lycosa.web.urls import check_seed
from lycosa_server.api import Body
from lycosa_server.crawl_cache import CachedCrawl, places
from lycosa_server.guards import InterestAccess, ServerContext, interest_to
from lycosa_server.people import catalogue, feedback, interests
from lycosa_server.people import suggestions as ideas
from lycosa_server.people.accounts import preferences
from lycosa_server.people.database import Row
from lycosa_server.people.interest_settings import InterestSettings
from lycosa_server.people.suggestions import CandidatePage, SuggestedSeed
from lycosa_server.people.text_input import clean_line
from lycosa_server.results import open_crawl_directory
from lycosa_server.validation import validate_settings

router = APIRouter(tags=["suggestions"])

MAX_HUBS = 5_000  # best pages whose links are read, besides those of the pages that led to liked ones


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
    database, cached = site.database, next(site.cached_crawls(interest["id"]), None)
    collection = open_crawl_directory(cached.path) if cached else None
    if cached is None or collection is None:
        return Suggestions(allowed=True, seeds=[], terms=[])
    labels = feedback.labels_of(database, interest["id"])
    opened = ideas.opened_by(database, interest["id"], person) if history else {}
    done = ideas.answered(database, interest["id"], person)
    liked = {url for url in {*labels, *opened} if labels.get(url, opened.get(url, 0) > 1)}
    with collection:
        key = cached.pages.end, interest["changed"], labels, opened, done
        before, kept = cached.suggested.get(person, (None, None))
        if before == key and isinstance(kept, Suggestions):
            return kept
        settings = InterestSettings.from_json(interest["settings"])
        rows, links = _neighbourhood(collection.log, cached.pages, liked)
        known = [
            CandidatePage(
                row.url, row.title, row.host, labels.get(row.url), opened.get(row.url, 0), row.duplicate_of != ""
            )
            for row in rows
        ]
        chosen = catalogue.seeds_of(database, settings.preferences, settings.words)
        taken = {check_seed(url) or url for url in [*settings.seeds, *chosen]}
        answered = {kind: {value for other, value in done if other == kind} for kind in ("seed", "term")}
        likings = [(row, page.liking) for row, page in zip(rows, known, strict=True) if page.liking]
        suggested = Suggestions(
            allowed=True,
            seeds=ideas.suggest_seeds(known, links, taken | answered["seed"]),
            terms=_terms(cached, collection, likings, settings.words, answered["term"]),
        )
    cached.suggested[person] = key, suggested
    return suggested


def _neighbourhood(log: SqliteLog, pages: PageArray, liked: set[str]) -> tuple[list[PageRow], dict[int, list[int]]]:
    """Return liked pages, all pages of their hosts, and the hubs that led to them with the pages to which these link.

    The second value has the links of the hubs, by places in the first.
    """
    mine = _rows(log, pages, liked)
    linked = defaultdict[str, set[str]](set)
    for row in mine:
        linked[row.parent].add(row.url)  # there may be redirects between
    hubs = [*np.argsort(-pages["relevance_now"], kind="stable")[:MAX_HUBS], *places(log, pages, linked).values()]
    query = """
        SELECT url, links FROM visit JOIN content USING (seq)
        WHERE links NOT NULL AND seq IN (SELECT value FROM json_each(?))
    """
    for url, blob in log.query(query, (json.dumps(pages["seq"][hubs].tolist()),)):
        urls = set(log.decoded(unpack_links, blob).urls)
        if url in linked or len(urls & liked) > 1:
            linked[url] |= urls
    hosts = json.dumps([row.host for row in mine if row.host])
    same_hosts = select_pages(log, "visit.host IN (SELECT value FROM json_each(?))", given=(hosts,))
    others = _rows(log, pages, set(linked).union(*linked.values()))
    rows = {row.url: row for row in [*mine, *same_hosts, *others]}
    place = {url: number for number, url in enumerate(rows)}
    links = {place[hub]: [place[url] for url in urls if url in place] for hub, urls in linked.items() if hub in place}
    return list(rows.values()), links


def _rows(log: SqliteLog, pages: PageArray, urls: set[str]) -> list[PageRow]:
    return pages_at(log, pages["first"][list(places(log, pages, urls).values())].tolist())


def _terms(
    cached: CachedCrawl, collection: CrawlDirectory, liked: list[tuple[PageRow, float]], query: str, done: set[str]
) -> list[SuggestedTerm]:
    known = cached.words(collection)
    size = len(known.words)
    here = np.zeros(size)
    for row, _ in liked:
        ids, _ = terms_of(collection.log, row.seq)
        here[ids[ids < size]] += 1.0
    every = np.maximum(known.page_counts, here)
    others = int(cached.pages.counted.sum()) - len(liked)
    chosen = ideas.suggest_terms(here, len(liked), every - here, others)[: 4 * ideas.MAX_TERMS]
    named = {known.words[word.term]: word for word in chosen}
    languages = {ENGLISH, *(row.language for row, _ in liked)}
    taken = {stem for code in languages for stem in stems(query, code_of(code))}
    named = {stem: word for stem, word in named.items() if stem not in taken and len(stem) > 2 and not stem.isdigit()}
    best = [row for row, _ in sorted(liked, key=lambda pair: -pair[1])[:20]]
    spelled = ideas.spellings(_texts(collection, best), named) if named else {}
    return [
        SuggestedTerm(term=spelled[stem], weight=word.weight, why=word.why)
        for stem, word in named.items()
        if stem in spelled and spelled[stem] not in done
    ][: ideas.MAX_TERMS]


def _texts(collection: CrawlDirectory, pages: list[PageRow]) -> list[tuple[str, str]]:
    texts = [(page.title, code_of(page.language, ENGLISH)) for page in pages]
    with suppress(LycosaError, OSError):  # without the archive, titles alone are used
        for page in pages:
            content = collection.document(collection.log.visit(page.seq)).content
            texts.append((content, code_of(page.language, ENGLISH)))
    return texts
