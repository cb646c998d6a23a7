"""What judges have in common."""

from __future__ import annotations

from collections.abc import Sequence

from lycosa.core.protocols import Topic
from lycosa.core.state import State
from lycosa.core.types import Links, Visit
from lycosa.text.addresses import words_of

FACETS = ("context", "url")
CONTEXT_SCORE = "context_score"
"""What a judge would say of the words around a link if they were a page. To most judges that is the context; a
classifier makes a difference, and `offers` both."""


class Judge:
    """Base of judges that tell of links what a strategy wants to know, and have nothing to learn themselves.

    Of words, their idf, the vocabulary learns.
    """

    threshold: float
    facets: tuple[str, ...] = ()
    """What a strategy wants to know of links beside alpha: "context", "url"."""

    def learn(self, visit: Visit) -> None:
        """Nothing to learn."""

    def state(self) -> State:
        """Nothing is learned."""
        return {}

    def restore(self, state: State) -> None:
        """Nothing to remember."""


def ask(topic: Topic, wants: Sequence[str]) -> None:
    """Tell a judge what a strategy wants to know of links, in the names that it knows; one without facets is left."""
    if hasattr(topic, "facets"):
        topic.facets = asked(topic, wants)


def asked(topic: Topic, wants: Sequence[str]) -> tuple[str, ...]:
    """What is wanted, in the names that a judge knows.

    >>> asked(Judge(), ("context", "context_score", "url"))
    ('context', 'url')
    """
    known = getattr(topic, "offers", FACETS)
    return tuple(dict.fromkeys("context" if name == CONTEXT_SCORE not in known else name for name in wants))


def facet_texts(links: Links, facet: str) -> list[str]:
    """What a facet of links is told by: the words around each, or those of its address."""
    return links.contexts if facet == "context" else [words_of(url) for url in links.urls]
