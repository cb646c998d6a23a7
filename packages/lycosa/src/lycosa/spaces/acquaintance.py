"""A message passed from acquaintance to acquaintance until it reaches its receiver."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import TypeAlias

from lycosa.core.types import Page, Task
from lycosa.spaces.graph import GraphSpace, draw, read_rows

Trait: TypeAlias = "str | Set[str] | tuple[float, ...]"  # one word (work), a set of words (hobbies), or coordinates


def read_traits(file: str) -> dict[str, dict[str, Trait]]:
    traits: dict[str, dict[str, Trait]] = {}
    for _, (person, name, value) in read_rows(file, "a person, a tab, a trait, a tab, and its value", 3, 3):
        traits.setdefault(person, {})[name] = _trait(value)
    return traits


def _trait(text: str) -> Trait:
    """Parse coordinates, a set of words, or a single text.

    >>> _trait("48.1 11.6"), sorted(_trait("chess, jazz")), _trait("jazz piano")
    ((48.1, 11.6), ['chess', 'jazz'], 'jazz piano')
    """
    try:
        place = tuple(float(number) for number in text.split())
    except ValueError:
        place = ()
    if len(place) > 1 and all(math.isfinite(number) for number in place):
        return place
    return frozenset(word.strip() for word in text.split(",")) if "," in text else text


class AcquaintanceSpace(GraphSpace):
    """Individuals, their acquaintances, and the nearness of each to the receiver as the holder of the message estimates
    it.

    V are individuals, E acquaintances, V0 the sender. alpha is the estimated nearness of an acquaintance to the
    receiver: the mean over the receiver's traits of

        1 or 0                    of a word: equal or not
        |a and b| / |a or b|      of several words: the share that both have
        1 / (1 + distance)        of a place, given as coordinates

    with an error of up to `misjudged`, drawn from (seed, holder, acquaintance). Acquaintances of the receiver make no
    error. beta is 1 for the receiver and 0 for all others, so the caller can stop at the first visit with beta 1.

    In Python acquaintances and traits are dictionaries. From files:

    - file: acquaintances, one per line: person, tab, acquaintance.
    - traits: one per line: person, tab, name of the trait, tab, value. Numbers separated by spaces are a place,
      words separated by commas are several words, everything else is one word.

    >>> import lycosa
    >>> from lycosa.judges.space_judge import SpaceJudge
    >>> space = AcquaintanceSpace(
    ...     {"ann": ["bob", "cat"], "cat": ["dan"], "bob": ["eve"]},
    ...     {"bob": {"work": "baker"}, "cat": {"work": "sailor"}, "dan": {"work": "sailor"}},
    ...     receiver="dan",
    ... )
    >>> for visit in lycosa.crawl(SpaceJudge(), ["ann"], space=space, concurrency=1):
    ...     print(visit.node, visit.relevance)
    ...     if visit.relevance:
    ...         break
    ann 0.0
    cat 0.0
    dan 1.0

    Paper: Gouriten, Maniu, Senellart 2014, 2.2; Travers, Milgram 1969; Kleinberg 2000. The traits are ours.
    """

    def __init__(
        self,
        acquaintances: Mapping[str, Sequence[str]] | None = None,
        traits: Mapping[str, Mapping[str, Trait]] | str = "",
        receiver: str = "",
        misjudged: float = 0.0,
        seed: int = 0,
        file: str = "",
    ) -> None:
        if not traits or not receiver:
            raise ValueError(
                "it needs the traits of people, one per line (person, tab, trait, tab, value), and a receiver: write "
                "acquaintance,file=...,traits=...,receiver=NAME"
            )
        super().__init__(acquaintances, relevance={receiver: 1.0}, file=file)
        traits = read_traits(traits) if isinstance(traits, str) else traits
        if not 0.0 <= misjudged < math.inf:
            raise ValueError(f"'misjudged' is {misjudged}: it must be 0 or more")
        if not traits.get(receiver):
            raise ValueError(f"the receiver {receiver!r} has no traits: add some to the file")
        self.traits, self.receiver = traits, receiver
        self.misjudged, self.seed = misjudged, seed

    async def visit(self, task: Task) -> Page:
        page = await super().visit(task)
        if page.outcome != "ok":
            return page
        page.data["alpha"] = [self.assessment(task.node, person) for person in page.links.urls]
        return page

    def assessment(self, holder: str, person: str) -> float:
        if person == self.receiver:
            return 1.0
        error = self.misjudged * (2.0 * draw(self.seed, holder, person) - 1.0) if self.misjudged else 0.0
        return min(1.0, max(0.0, self.nearness(person) + error))

    def nearness(self, person: str) -> float:
        """Return a person's nearness to the receiver: the mean over the receiver's traits."""
        wanted, own = self.traits[self.receiver], self.traits.get(person, {})
        return sum(_likeness(own[name], trait) for name, trait in wanted.items() if name in own) / len(wanted)


def _likeness(a: Trait, b: Trait) -> float:
    if isinstance(a, str) or isinstance(b, str):
        return float(a == b)
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return 1.0 / (1.0 + math.dist(a, b))
    first, second = frozenset(map(str, a)), frozenset(map(str, b))
    return len(first & second) / max(1, len(first | second))
