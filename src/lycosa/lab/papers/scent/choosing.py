"""What is hunted: topics and keywords, by rule and chance, in two halves: one to develop on, one to report."""

from __future__ import annotations

import re
import zlib
from collections import Counter
from dataclasses import dataclass, field

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.lab.index import Index
from lycosa.lab.subjects import chance
from lycosa.text.tokens import stems
from lycosa.training.record import NO

DEVELOPMENT, REPORT = "development", "report"

LEAST, MOST = 30, 600
"""Pages of a topic."""

LARGEST = 1 / 3
"""Of the corpus: a class that has more is what is left over, no topic."""

RARE, COMMON = 0.05, 0.2
"""Share of the pages that have a keyword."""

OFTEN = 3.0
"""How often a keyword is on the pages that have it, in the mean: 1 takes any word, 3 those that pages are about. Words
that stand on a page once say little of the links around it, and no strategy does much better than breadth-first."""

_WORD = re.compile(r"\b[^\W\d_]{4,}\b")


@dataclass
class Hunted:
    """Topics by name, keywords with the number of pages that have them, and what is to be said of the choice."""

    half: str
    topics: list[str]
    keywords: dict[str, int]
    remarks: list[str] = field(default_factory=list)


def half_of(name: str) -> str:
    """On which side a topic or keyword is, whatever the corpus: by the last bit of its checksum.

    >>> half_of("student"), half_of("staff")
    ('report', 'development')
    """
    return REPORT if zlib.crc32(name.encode()) % 2 else DEVELOPMENT


def choose(index: Index, half: str, count: int, random_seed: int = 0, tell: Tell = silent) -> Hunted:
    """`count` topics and as many keywords of a half."""
    made = Hunted(half, [], {})
    made.topics = topics(index, half, count, random_seed, made.remarks)
    made.keywords = keywords(index, half, count, random_seed, tell)
    if len(made.keywords) < count:
        made.remarks.append(f"{len(made.keywords)} keywords only, {count} were wanted: the corpus has no more.")
    if not made.keywords:
        raise InputError(f"no word is on {RARE:.0%} to {COMMON:.0%} of the pages: the corpus is too small, or no text")
    made.remarks.append(
        f"The {half} half: topics and keywords whose CRC-32 is {'odd' if half == REPORT else 'even'}. Topics: "
        f"{', '.join(made.topics)}. Keywords: {', '.join(made.keywords)}: words on {RARE:.0%} to {COMMON:.0%} of the "
        f"pages, there {OFTEN:g} times or more in the mean. Topics of the two halves may have pages in common, where "
        "pages are of several classes, or one is a branch of the other."
    )
    return made


def topics(index: Index, half: str, count: int, random_seed: int, remarks: list[str]) -> list[str]:
    """Topics of a fitting size by chance, none within another; where they are too few, the larger ones as well."""
    sizes = {name: size for name, size in index.sizes().items() if name.casefold() not in NO and half_of(name) == half}
    fitting = [name for name, size in sizes.items() if LEAST <= size <= MOST]
    order = chance(random_seed, "scent", "topics").permutation(len(fitting)).tolist()
    chosen: list[str] = []
    for name in (fitting[place] for place in order):
        if len(chosen) < count and not any(within(name, other) or within(other, name) for other in chosen):
            chosen.append(name)
    if len(chosen) < count:
        larger = sorted((size, name) for name, size in sizes.items() if MOST < size <= LARGEST * len(index))
        more = [name for _, name in larger if not any(within(other, name) for other in chosen)][: count - len(chosen)]
        chosen += more
        remarks.append(
            f"The {half} half has {len(chosen)} topics"
            + (f", {len(more)} of them with more than {MOST} pages" if more else "")
            + f"; {count} of {LEAST} to {MOST} pages were wanted. Intervals over so few topics are too narrow."
        )
    if not chosen:
        raise InputError(f"no class of the {half} half has {LEAST} pages or more: take a corpus with more classes")
    return sorted(chosen)


def keywords(index: Index, half: str, count: int, random_seed: int, tell: Tell = silent) -> dict[str, int]:
    """Words that are on 5 % to 20 % of the pages, as written (so counts the keyword judge), by chance.

    Stop words, digits and words of fewer than four letters are none, nor are those that are there less than OFTEN.
    """
    if not index.has_text:
        raise InputError("the corpus has no text: scent is measured on pages with words")
    pages: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for node in range(len(index)):
        page = index.page(node)
        words = _WORD.findall(f"{page.title} {page.text}".casefold())
        pages.update(set(words))
        times.update(words)
        tell("counting words", node + 1, len(index))
    fitting = sorted(
        word
        for word, many in pages.items()
        if RARE * len(index) <= many <= COMMON * len(index) and times[word] >= OFTEN * many and half_of(word) == half
    )
    order = chance(random_seed, "scent", "keywords").permutation(len(fitting)).tolist()
    chosen = [word for word in (fitting[place] for place in order) if stems(word)][:count]
    return {word: pages[word] for word in sorted(chosen)}


def within(name: str, other: str) -> bool:
    """Whether a class is another one, or below it."""
    return name == other or name.startswith(f"{other}/")
