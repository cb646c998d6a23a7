"""Spaces: anything that can be visited.

`SPACES` registers the values of `--space` with their class and source.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lycosa.core.spec import Registry, RegistryEntry


@dataclass(frozen=True)
class SpaceEntry(RegistryEntry):
    """A registered space; it always needs seeds."""

    judge: str = ""  # default judge without a topic
    accept: tuple[str, ...] = ()  # content types read in addition to those of the web


GOURITEN = "Gouriten, Maniu, Senellart 2014, 2.2"

ENTRIES = {
    "web": SpaceEntry("web_space", "WebSpace", "pages and their links", GOURITEN, "a URL"),
    "social": SpaceEntry(
        "social", "SocialSpace", "people on a server with Mastodon's API, and the people they mention",
        GOURITEN, "an account (name, name@host, its URL), #tag or search:WORDS", accept=("application/json",),
    ),
    "search-form": SpaceEntry(
        "search_form", "SearchFormSpace", "records behind the search form of a site, reached by keywords",
        f"{GOURITEN}; Barbosa, Freire 2010", "a keyword", judge="given",
    ),
    "graph": SpaceEntry(
        "graph", "GraphSpace", "a graph in a file: links and their scores, nodes and theirs",
        GOURITEN, "a node", judge="given",
    ),
    "gossip": SpaceEntry(
        "gossip", "GossipSpace", "peers with documents, in files: a query is passed on by what peers know of others",
        GOURITEN, "the querying peer",
    ),
    "acquaintance": SpaceEntry(
        "acquaintance", "AcquaintanceSpace",
        "people in files, who pass a message on to the person they think is nearest to the receiver",
        f"{GOURITEN}; Travers, Milgram 1969", "the sender", judge="given",
    ),
}  # fmt: skip
SPACES = Registry("space", __name__, ENTRIES, group="spaces")

KNOWN = ("web", "clock")  # parameters that the crawl sets, not the user


def describe(name: str) -> dict[str, tuple[Any, Any]]:
    """Return the user's parameters of a space with type and default."""
    return {} if name == "web" else SPACES.parameters(name, KNOWN)
