"""Pages for the evaluator, as bags of words: those of a crawl, and those that someone has found relevant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import DamagedError, InputError
from lycosa.core.telling import Tell
from lycosa.core.types import Visit
from lycosa.lab.index import FACTS, Index
from lycosa.lab.indexing import Account
from lycosa.store.directory import CONFIG
from lycosa.store.log import NAME, SqliteLog
from lycosa.text.vocabulary import Vocabulary
from lycosa.web.urls import canonical, is_http

MOST = 100_000_000
"""Bytes of a list of addresses."""

NO_TEXT = "pages without text"


@dataclass
class Bag:
    """A page as numbers of stems and how often it has them."""

    name: str
    ids: NDArray[Any]
    counts: NDArray[Any]


def pages_of(crawl: Path, words: Vocabulary, account: Account, tell: Tell) -> Iterator[Bag]:
    """The pages of a crawl's directory, an index, a WARC file or a directory of them, in their order."""
    if not crawl.exists():
        raise InputError(f"there is no {crawl}: name a crawl's directory, an index, a WARC file or a directory of them")
    if (crawl / CONFIG).is_file():
        yield from _logged(crawl, words)
    elif (crawl / FACTS).is_file():
        yield from _indexed(Index.open(crawl), words)
    else:
        from lycosa.lab.corpora.archive import archive

        seen: set[str] = set()  # a page that was looked at again is one page still
        for recorded in archive([crawl], account, lambda url: True, tell):
            if recorded.page is not None and recorded.url not in seen:
                seen.add(recorded.url)
                terms = words.read(recorded.page).terms
                yield Bag(recorded.url, terms.ids, terms.counts)


def _logged(path: Path, words: Vocabulary) -> Iterator[Bag]:
    """The pages of a crawl, with the words that its log keeps: there is no need for its archive."""
    if not (path / NAME).exists():
        raise InputError(f"nothing has been crawled in {path} yet: start with 'lycosa resume {path}'")
    log = SqliteLog(path / NAME, readonly=True)
    number_of = np.zeros(0, np.intp)
    try:
        for event in log:
            if not isinstance(event, Visit):
                continue
            if event.terms.new:
                number_of = np.concatenate([number_of, _numbers(event.terms.new, words)])
            if event.is_page:
                if len(event.terms.ids) and event.terms.ids.max() >= len(number_of):
                    raise DamagedError(
                        f"{path / NAME} is damaged: it has words without a name. Restore it from a backup"
                    )
                yield Bag(event.node, number_of[event.terms.ids.astype(np.intp)], event.terms.counts)
    finally:
        log.close()


def _indexed(index: Index, words: Vocabulary) -> Iterator[Bag]:
    if not index.has_text:
        raise InputError(f"{index.path} holds a graph without texts: name a crawl, or an index of pages")
    number_of = _numbers(index.stems, words)
    for node in range(len(index)):
        terms = index.terms(node)
        yield Bag(index.names[node], number_of[terms.ids.astype(np.intp)], terms.counts)


def _numbers(stems: Sequence[str], words: Vocabulary) -> NDArray[np.intp]:
    """The numbers of stems in a vocabulary, which learns those that it does not know."""
    words.follow([*words.terms, *(stem for stem in dict.fromkeys(stems) if stem not in words.id_of)])
    return np.array([words.id_of[stem] for stem in stems], np.intp)


# -- the relevant pages ------------------------------------------------------------------------------------------


def relevant_of(
    source: Path,
    fetched: list[Bag],
    words: Vocabulary,
    account: Account,
    *,
    wanted: str,
    pages: Path | None,
    tell: Tell,
) -> list[Bag]:
    """The relevant pages that have words; what can't be used is counted."""
    if not source.exists():
        raise InputError(f"there is no {source}: name a directory of pages, or a file with an address a line")
    if source.is_dir():
        found = _files(source, words, account)
    else:
        found = _addressed(addresses(source, wanted, account), fetched, words, account, pages, tell)
    usable = []
    for one in found:
        if len(one.ids):
            usable.append(one)
        else:
            account.left_out[f"relevant {NO_TEXT}"] += 1
    if not usable:
        hint = "" if source.is_dir() or pages else "; --pages PLACE names where they are recorded, if not in the crawl"
        raise InputError(f"none of the relevant pages of {source} can be read{why(account.left_out)}{hint}")
    return usable


def _files(source: Path, words: Vocabulary, account: Account) -> Iterator[Bag]:
    from lycosa.lab.corpora.tree import tree

    for recorded in tree(source, account, lambda url: True):
        if recorded.page is not None:
            terms = words.read(recorded.page).terms
            yield Bag(recorded.url, terms.ids, terms.counts)


def addresses(source: Path, wanted: str, account: Account) -> list[str]:
    """The addresses of a file, each once: one a line, or the first column of a table; of a class if one is wanted."""
    if source.stat().st_size > MOST:
        raise InputError(f"{source} has more than {MOST:,} bytes: it should be a list of addresses")
    found: dict[str, None] = {}
    others: Counter[str] = Counter()
    try:
        lines = source.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}") from error
    for number, line in enumerate(lines):
        columns = line.decode("utf-8", "replace").rstrip("\r").split("\t")
        written = columns[0].strip()
        if not written or written.startswith("#"):
            continue
        url = canonical(written) if is_http(written) else None
        label = columns[1].strip() if len(columns) > 1 else ""
        if url is None:
            if number or len(columns) == 1:  # else titles
                account.left_out["lines that begin with no address"] += 1
        elif not wanted or label == wanted or label.startswith((f"{wanted}/", f"{wanted}.")):
            found[url] = None
        else:
            others[label] += 1
    if wanted and not found:
        there = ", ".join(name for name, _ in others.most_common(5)) or "none"
        raise InputError(f"{source} has no page of class {wanted!r}; there is {there}")
    if not found:
        raise InputError(f"{source} names no address: write one a line, beginning with http:// or https://")
    return list(found)


def _addressed(
    urls: Sequence[str], fetched: list[Bag], words: Vocabulary, account: Account, pages: Path | None, tell: Tell
) -> Iterator[Bag]:
    """Their pages: as the crawl has them, else out of `pages`."""
    crawled: Mapping[str, Bag] = {one.name: one for one in reversed(fetched)}
    missing = [url for url in urls if url not in crawled]
    yield from (crawled[url] for url in urls if url in crawled)
    if len(missing) < len(urls):
        account.notes.append(
            f"{len(urls) - len(missing):,} relevant pages are of the crawl itself: each is as similar as can be"
        )
    if pages is None:
        if missing:
            account.left_out["relevant pages that were not crawled"] += len(missing)
            account.notes.append(
                f"{len(missing):,} of {len(urls):,} relevant pages were not crawled and nothing is compared with them: "
                "crawls can be held against each other only with the same relevant pages; --pages PLACE reads them all"
            )
        return
    from lycosa.training.looking import recorded

    for url, page in recorded(pages)(missing, account, tell):
        terms = words.read(page).terms
        yield Bag(url, terms.ids, terms.counts)


def why(left_out: Mapping[str, int]) -> str:
    """What was left out, in parentheses; empty if nothing was."""
    told = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items() if count)
    return f" ({told})" if told else ""
