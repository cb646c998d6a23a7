"""What judges have in common."""

from __future__ import annotations

from lycosa.core.types import Links, Visit
from lycosa.text.addresses import words_of

FACETS = ("context", "url")


class Judge:
    """Base of judges that tell of links what a strategy wants to know, and have nothing to learn themselves.

    Of words, their idf, the vocabulary learns.
    """

    threshold: float
    facets: tuple[str, ...] = ()
    """What a strategy wants to know of links beside alpha: "context", "url"."""

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""


def facet_texts(links: Links, facet: str) -> list[str]:
    """What a facet of links is told by: the words around each, or those of its address."""
    return links.contexts if facet == "context" else [words_of(url) for url in links.urls]
