"""Suggest seeds and words from an interest, its labels and the results that the person opened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from lycosa.drawing.formats import many
from lycosa.text.tokens import stem_all
from lycosa_server.people.database import Database

OPENED_WEIGHT = 0.3  # weight of a page opened more than once; a yes weighs 1
MAX_SEEDS, MAX_TERMS = 8, 10  # maximum numbers of suggestions
PRIOR_PAGES = 2.0  # average pages added to both sides of the comparison

Column = NDArray[np.float64]


class CandidatePage(NamedTuple):
    url: str
    title: str
    host: str
    label: bool | None = None
    opened: int = 0  # times opened by the person
    copy: bool = False  # duplicates another page, so it is neither suggested nor counted

    @property
    def liking(self) -> float:
        if self.copy or self.label is False:
            return 0.0
        return 1.0 if self.label else OPENED_WEIGHT * (self.opened > 1)


@dataclass(frozen=True, slots=True)
class SuggestedSeed:
    url: str
    title: str
    why: str


class ScoredTerm(NamedTuple):
    term: int
    weight: float
    why: str


def suggest_seeds(
    pages: Sequence[CandidatePage], links: Mapping[int, Sequence[int]], left_out: Collection[str] = ()
) -> list[SuggestedSeed]:
    """Return hubs and hosts that lead to liked pages, best first, without `left_out`.

    A hub links to several liked pages; a host is suggested if half of its pages are liked and no seed is on it.
    `links` has the pages to which a page links, both by their places in `pages`.
    """
    likings = np.array([page.liking for page in pages])
    refused = {page.url for page in pages if page.label is False or page.copy} | set(left_out)
    best: dict[str, tuple[float, SuggestedSeed]] = {}

    def consider(url: str, title: str, members: NDArray[Any], why: str, share: float = 0.0) -> None:
        good = members[likings[members] > 0.0]
        weight = float(likings[good].sum())
        if url in refused or len(good) < 2 or weight < 1.0 or len(good) < share * len(members):
            return
        liked = _liked_pages([pages[at] for at in good.tolist()])
        reason = why.replace("LIKED", liked).replace("ALL", str(len(members)))
        weight /= float(np.sqrt(len(members) + 4))
        if url not in best or best[url][0] < weight:
            best[url] = weight, SuggestedSeed(url, title, reason)

    hosts: dict[str, list[int]] = defaultdict(list)
    for at, page in enumerate(pages):
        linked = np.array(sorted({*links.get(at, ())} - {at}), np.intp)
        why = "links to LIKED, of ALL fetched pages that it links to"
        consider(page.url, page.title, linked, why)
        if not page.copy:
            hosts[page.host].append(at)
    known = {urlsplit(url).netloc for url in left_out}
    titles = {page.url: page.title for page in pages}
    for host, own in hosts.items():
        parts = urlsplit(pages[own[0]].url)
        root = f"{parts.scheme}://{parts.netloc}/"
        if parts.netloc and parts.netloc not in known:
            consider(root, titles.get(root) or host, np.array(own), f"LIKED, of ALL fetched from {host}", share=0.5)
    ranked = sorted(best.values(), key=lambda pair: (-pair[0], pair[1].url))
    return [idea for _, idea in ranked[:MAX_SEEDS]]


def _liked_pages(good: Sequence[CandidatePage]) -> str:
    yes = sum(page.label is True for page in good)
    opened = len(good) - yes
    parts = [f"{many(yes, 'page')} you labelled yes"] if yes else []
    return ", ".join(parts + ([f"{opened} that you opened more than once"] if opened else []))


def suggest_terms(here: Column, pages_here: int, there: Column, pages_there: int) -> list[ScoredTerm]:
    """Return terms that are more frequent on liked pages than on others, most certain first.

    `here` and `there` count the liked and other pages with each term. The log odds of both sides, each with PRIOR_PAGES
    average pages added, are compared by their standard error, the root of 1 / n1 + 1 / m1 + 1 / n2 + 1 / m2 for n pages
    with the term and m without. A term has to occur on two liked pages and on 30 % of them. There must be three liked
    pages.
    """
    if pages_here < 3 or pages_there < 1:
        return []
    added = PRIOR_PAGES * (here + there) / (pages_here + pages_there)
    n1, n2 = here + added, there + added
    m1, m2 = pages_here + PRIOR_PAGES - n1, pages_there + PRIOR_PAGES - n2
    with np.errstate(divide="ignore", invalid="ignore"):  # all pages have the term, or none
        z = (np.log(n1 / m1) - np.log(n2 / m2)) / np.sqrt(1.0 / n1 + 1.0 / m1 + 1.0 / n2 + 1.0 / m2)
    kept = (here >= max(2.0, 0.3 * pages_here)) & np.isfinite(z) & (z >= 2.0)  # in standard errors
    chosen = np.flatnonzero(kept)
    order = chosen[np.lexsort((chosen, -z[chosen]))]
    return [
        ScoredTerm(
            term,
            round(float(z[term]), 3),
            f"on {here[term]:.0f} of {pages_here} pages you liked, on {there[term]:.0f} of {pages_there} others",
        )
        for term in order.tolist()
    ]


def spellings(texts: Iterable[tuple[str, str]], wanted: Collection[str]) -> dict[str, str]:
    """Return the most frequent spelling of each stem in some (text, language code) pairs."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, language in texts:
        raw = Counter("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())
        tokens = list(raw)
        stems = stem_all([token.encode("utf-8", "replace") for token in tokens], language)
        for token, stem in zip(tokens, stems, strict=True):
            if stem in wanted:
                counts[stem][token] += raw[token]
    return {stem: min(seen, key=lambda word: (-seen[word], word)) for stem, seen in sorted(counts.items())}


def answered(database: Database, interest: str, person: str) -> set[tuple[str, str]]:
    statement = "SELECT kind, value FROM suggestion WHERE interest = :interest AND person = :person"
    return {(row["kind"], row["value"]) for row in database.rows(statement, interest=interest, person=person)}


def record_answer(
    database: Database, now: float, interest: str, person: str, kind: str, value: str, answer: str
) -> None:
    key = {"interest": interest, "person": person, "kind": kind, "value": value}
    database.upsert("suggestion", {**key, "answer": answer, "at": now}, list(key), ("answer", "at"))


def opened_by(database: Database, interest: str, person: str) -> Mapping[str, int]:
    statement = "SELECT url, times FROM opened WHERE interest = :interest AND person = :person"
    return {row["url"]: row["times"] for row in database.rows(statement, interest=interest, person=person)}


def record_opened(database: Database, now: float, interest: str, person: str, url: str) -> None:
    statement = (
        "INSERT INTO opened (interest, person, url, times, at) VALUES (:interest, :person, :url, 1, :at) "
        "ON CONFLICT (interest, person, url) DO UPDATE SET times = opened.times + 1, at = excluded.at"
    )
    database.run(statement, interest=interest, person=person, url=url, at=now)
