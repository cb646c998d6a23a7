"""Seeds and words that a person might like to add to an interest, each with the reason in words and numbers.

All of it comes from what is the person's own: the interest, its feedback, the results that they opened. A page is liked
that got a yes; one that was opened more than once counts a little, a find that scores well less; one that got a no not
at all. Everything here but the answers is arithmetic on plain data.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from lycosa.drawing.formats import many
from lycosa.people.database import Database
from lycosa.text.tokens import stem_all

OPENED, OPENED_ONCE, FOUND = 0.3, 0.1, 0.2  # what it counts that a page was opened, opened once, found; a yes is 1
SEEDS, TERMS = 8, 10  # how many are suggested at most
CERTAIN = 2.0  # standard errors that a word has to be more frequent by on liked pages
PRIOR = 2.0  # pages as the crawl has them on average, that are added to both sides

Column = NDArray[np.float64]


class Known(NamedTuple):
    """A page that the interest has, as far as suggestions need it."""

    url: str
    title: str
    host: str
    label: bool | None = None
    opened: int = 0
    """How often the person opened it."""
    score: float = 0.0
    copy: bool = False
    """Whether it only repeats another page: then it is neither suggested nor counted."""


@dataclass(frozen=True, slots=True)
class Idea:
    url: str
    title: str
    why: str
    weight: float = field(metadata={"exclude": True})
    """What they are ordered by: nothing that the API tells."""


class Word(NamedTuple):
    """A term that is more frequent on liked pages: its number, how sure that is, and on how many pages it is."""

    term: int
    weight: float
    here: int
    """Liked pages with it, and others."""
    there: int


def liking(page: Known, threshold: float) -> float:
    """How much a page is liked, from 0 to 1.

    >>> [liking(Known("u", "", "", label, opened, score), .1)
    ...  for label, opened, score in ((True, 0, 0), (None, 2, 0), (None, 0, .4), (None, 2, .1), (False, 9, .9))]
    [1.0, 0.3, 0.2, 0.4, 0.0]
    """
    if page.label is not None:
        return float(page.label)
    opened = OPENED if page.opened > 1 else OPENED_ONCE if page.opened else 0.0
    relevant = FOUND * min(1.0, page.score / (2.0 * (threshold or 0.1))) if page.score >= threshold else 0.0
    return round(opened + relevant, 6)


def is_liked(page: Known) -> bool:
    """Whether to call it liked: it got a yes, or was opened more than once and got no answer.

    >>> [is_liked(Known("u", "", "", label, times)) for label, times in ((True, 0), (None, 2), (None, 1), (False, 9))]
    [True, True, False, False]
    """
    return page.opened > 1 if page.label is None else page.label


# -- seeds -----------------------------------------------------------------------------------------------------


def seeds(
    pages: Sequence[Known],
    starts: NDArray[Any],
    targets: NDArray[Any],
    threshold: float,
    left_out: Collection[str] = (),
) -> list[Idea]:
    """Hubs and hosts that lead to liked pages, the best first; `left_out`: seeds already, answered already.

    The links of page i to other pages are `targets[starts[i]:starts[i + 1]]`.
    """
    likings = np.array([0.0 if page.copy else liking(page, threshold) for page in pages])
    ideas = [*_hubs(pages, likings, starts, targets), *_hosts(pages, likings, left_out)]
    refused = {page.url for page in pages if page.label is False} | set(left_out)
    best: dict[str, Idea] = {}
    for idea in sorted(ideas, key=lambda idea: (-idea.weight, idea.url)):
        if idea.url not in refused:
            best.setdefault(idea.url, idea)
    return list(best.values())[:SEEDS]


def _hubs(pages: Sequence[Known], likings: Column, starts: NDArray[Any], targets: NDArray[Any]) -> Iterable[Idea]:
    """Pages with links to several liked ones: the more of their links are, the better."""
    for at, page in enumerate(pages):
        if page.copy:
            continue
        linked = np.unique(targets[starts[at] : starts[at + 1]])
        linked = linked[linked != at]
        good = linked[likings[linked] > 0.0]
        weight = float(likings[good].sum())
        if len(good) < 2 or weight < 1.0:
            continue
        why = f"links to {_told([pages[at] for at in good.tolist()])}, of {len(linked)} fetched pages that it links to"
        yield Idea(page.url, page.title, why, weight / float(np.sqrt(len(linked) + 4)))


def _hosts(pages: Sequence[Known], likings: Column, left_out: Collection[str]) -> Iterable[Idea]:
    """Front pages of hosts half of whose pages, and at least two, are liked; not where a seed lies already."""
    members: dict[str, list[int]] = defaultdict(list)
    for at, page in enumerate(pages):
        if not page.copy:
            members[page.host].append(at)
    known = {urlsplit(url).netloc for url in left_out}
    titles = {page.url: page.title for page in pages}
    for host, own in members.items():
        some = np.array(own)
        good = some[likings[some] > 0.0]
        weight = float(likings[good].sum())
        parts = urlsplit(pages[own[0]].url)
        if len(good) < 2 or weight < 1.0 or 2 * len(good) < len(own) or parts.netloc in known or not parts.netloc:
            continue
        root = f"{parts.scheme}://{parts.netloc}/"
        why = f"{_told([pages[at] for at in good.tolist()])}, of {len(own)} fetched from {host}"
        yield Idea(root, titles.get(root) or host, why, weight / float(np.sqrt(len(own) + 4)))


def _told(good: Sequence[Known]) -> str:
    """Pages that count in words: each once, by the best that is known of it."""
    yes = sum(page.label is True for page in good)
    often = sum(page.label is None and page.opened > 1 for page in good)
    once = sum(page.label is None and page.opened == 1 for page in good)
    rest = len(good) - yes - often - once
    said = [
        f"{many(yes, 'page')} you labelled yes" if yes else "",
        f"{often} that you opened more than once" if often else "",
        f"{once} that you opened once" if once else "",
        f"{rest} that {'scores' if rest == 1 else 'score'} well" if rest else "",
    ]
    return ", ".join(filter(None, said))


# -- words -----------------------------------------------------------------------------------------------------


def words(here: Column, pages_here: int, there: Column, pages_there: int) -> list[Word]:
    """Terms that stand on liked pages (`here`: on how many of them) more often than on others, the surest first.

    The log odds of both, each with PRIOR average pages added, are compared by their standard error, the root of
    1 / n1 + 1 / m1 + 1 / n2 + 1 / m2 for n pages with the word and m without. A word has to be on two liked pages and
    on three in ten of them.

    >>> words(np.array([4., 4., 0.]), 4, np.array([2., 90., 90.]), 100)[0][:1]
    (0,)
    """
    if pages_here < 2 or pages_there < 1:
        return []
    added = PRIOR * (here + there) / (pages_here + pages_there)
    n1, n2 = here + added, there + added
    m1, m2 = pages_here + PRIOR - n1, pages_there + PRIOR - n2
    with np.errstate(divide="ignore", invalid="ignore"):  # a word of every page, or of none
        z = (np.log(n1 / m1) - np.log(n2 / m2)) / np.sqrt(1.0 / n1 + 1.0 / m1 + 1.0 / n2 + 1.0 / m2)
    kept = (here >= max(2.0, 0.3 * pages_here)) & np.isfinite(z) & (z >= CERTAIN)
    chosen = np.flatnonzero(kept)
    order = chosen[np.lexsort((chosen, -z[chosen]))]
    return [Word(int(term), round(float(z[term]), 3), int(here[term]), int(there[term])) for term in order.tolist()]


def because(word: Word, pages_here: int, pages_there: int, liked: bool) -> str:
    """Why a word is suggested.

    >>> because(Word(0, 3.1, 7, 3), 9, 120, True)
    'on 7 of 9 pages you liked, on 3 of 120 others'
    """
    return (
        f"on {word.here} of {'' if liked else 'the '}{pages_here} {'pages you liked' if liked else 'best pages'}, on "
        + (f"{word.there} of {pages_there} others")
    )


def spelled(texts: Iterable[tuple[str, str]], wanted: Collection[str]) -> dict[str, str]:
    """Stems as words that people write: of those that have a stem, the one that is most frequent in the texts.

    A text comes with the code of its language.

    >>> spelled([("Polyps build reefs; a polyp, polyps", "en")], {"polyp", "reef"})
    {'polyp': 'polyps', 'reef': 'reefs'}
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for text, language in texts:
        raw = Counter("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())
        tokens = list(raw)
        stems = stem_all([token.encode("utf-8", "replace") for token in tokens], language)
        for token, stem in zip(tokens, stems, strict=True):
            if stem in wanted:
                counts[stem][token] += raw[token]
    return {stem: min(seen, key=lambda word: (-seen[word], word)) for stem, seen in sorted(counts.items())}


# -- answers ---------------------------------------------------------------------------------------------------


def answered(database: Database, interest: str, person: str) -> set[tuple[str, str]]:
    """What the person has said yes or no to, by kind and value: it does not come again."""
    statement = "SELECT kind, value FROM suggestion WHERE interest = :interest AND person = :person"
    return {(row["kind"], row["value"]) for row in database.rows(statement, interest=interest, person=person)}


def answer(database: Database, now: float, interest: str, person: str, kind: str, value: str, said: str) -> None:
    key = {"interest": interest, "person": person, "kind": kind, "value": value}
    database.upsert("suggestion", {**key, "answer": said, "at": now}, list(key), ("answer", "at"))


def opened_by(database: Database, interest: str, person: str) -> Mapping[str, int]:
    rows = database.rows(
        "SELECT url, times FROM opened WHERE interest = :interest AND person = :person",
        interest=interest,
        person=person,
    )
    return {row["url"]: row["times"] for row in rows}


def open_again(database: Database, now: float, interest: str, person: str, url: str) -> None:
    database.run(
        "INSERT INTO opened (interest, person, url, times, at) VALUES (:interest, :person, :url, 1, :at) "
        "ON CONFLICT (interest, person, url) DO UPDATE SET times = opened.times + 1, at = excluded.at",
        interest=interest,
        person=person,
        url=url,
        at=now,
    )
