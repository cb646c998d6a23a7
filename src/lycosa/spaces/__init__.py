"""Spaces: anything that can be visited.

`SPACES` names what `--space` accepts: where it lives, what its nodes are and whose idea it is.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.spec import imported, parameters


class Entry(NamedTuple):
    """A space by name: `lycosa.spaces.MODULE:ATTRIBUTE`."""

    module: str
    attribute: str
    summary: str
    seeds: str
    """What a seed is."""
    paper: str = ""
    judge: str = ""
    """Who judges when nobody is named and no topic is given."""
    accept: tuple[str, ...] = ()
    """Content types that it reads, beside those of the web."""


GOURITEN = "Gouriten, Maniu, Senellart 2014, 2.2"

SPACES: dict[str, Entry] = {
    "web": Entry("web", "WebSpace", "pages and their links", "an address", GOURITEN),
    "social": Entry(
        "social", "SocialSpace", "people on a server with Mastodon's API, and whom they mention in what they write",
        "an account (name, name@host, its address), #tag or search:WORDS", GOURITEN, accept=("application/json",),
    ),
    "search-form": Entry(
        "search_form", "SearchFormSpace", "what a site has behind its search form: keywords, and those in the results",
        "a keyword", f"{GOURITEN}; Barbosa, Freire 2010", "given",
    ),
    "graph": Entry(
        "graph", "GraphSpace", "a graph in a file: links, what they promise, and what nodes are worth",
        "a node", GOURITEN, "given",
    ),
}  # fmt: skip

KNOWN = ("web", "clock")
"""Parameters that a space gets from the crawl, not after its name."""


def maker(name: str) -> Any:
    """The class of a space by name, or of one's own as `module:Class`."""
    entry = SPACES.get(name)
    if entry is not None:
        return getattr(import_module(f"lycosa.spaces.{entry.module}"), entry.attribute)
    if ":" not in name:
        raise InputError(
            f"there is no space {name!r}: choose one of {', '.join(SPACES)}, or name your own as module:Class"
        )
    return imported(name, "the space")


def describe(name: str) -> dict[str, tuple[Any, Any]]:
    """The parameters of a space that can be set after its name, each with its type and its default."""
    if name == "web":
        return {}
    return {key: told for key, told in parameters(maker(name)).items() if key not in KNOWN}
