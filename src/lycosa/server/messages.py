"""What the program's own words say of its command line, in words for people who see only the browser."""

from __future__ import annotations

from lycosa.collection.causes import OUTCOMES
from lycosa.core import budget

ADVICE = {
    "gone": "Dead links are part of the web. If your seeds are among them, correct them, and start a new crawl.",
    "busy": "Lycosa waits as long as it is told to and tries again. If it happens a lot, look again later.",
    "denied": "By robots.txt, nothing was sent; of an account, nothing is kept. It is their decision; who runs the "
    "host can be asked for permission.",
    "refused": "Nothing was sent. Whoever keeps this server can allow a network of your own.",
    "unreachable": "It was tried again, several times. If many hosts are affected, the server's own connection may be "
    "what fails.",
    "unknown-host": "A misspelt or abandoned name. If all hosts are unknown, the server's own connection may be what "
    "fails.",
    "timeout": "The host is slow, or does not answer at all. It may do better another time.",
    "slow": "The host sends its pages drop by drop. It may do better another time.",
    "challenge": "It is not kept, and its host is asked less often. Who runs the host can be asked for permission.",
    "limited": "It is left alone for a while, and asked again. If it happens a lot, look again later.",
    "unwanted": "Its body was not read: only pages of words are.",
}
"""What can be done about a failure, by its outcome, where the command line's advice names options or files."""

ENDINGS = {
    budget.PAGES_SPENT: "all pages that were asked for are fetched",
    budget.LEFT_ALONE: "the hosts that are left cannot be asked for now",
    budget.EXHAUSTED: "no links are left to follow",
    budget.HOSTS_SPENT: "of each host as many pages as it may be asked for are fetched",
    budget.REQUESTS_SPENT: "too many requests gave no page",
    budget.REFRESHED: "all pages were looked at again",
}
"""Why a crawl is over."""

NO_HOST = frozenset({"unknown-host", "unreachable", "refused", "timeout"})
"""Outcomes that are about a host: that it was robots.txt that was asked for says nothing to a reader."""

SUMMARIES = {"random": "in a random order, the same each time"}
"""Strategies, where what is said of them elsewhere names options."""


def cause(kind: str, outcome: str, usual: str) -> str:
    """What went wrong, by its name."""
    return OUTCOMES[outcome][0] if kind == "robots" and outcome in NO_HOST else usual


def nothing(complaint: str) -> str:
    """Why a crawl has not a single page, from what the engine says of its last failure.

    >>> nothing("https://reef.example/robots.txt: unknown-host no such host: reef.example")
    "no page could be read; https://reef.example/: there is no such host. A misspelt or abandoned name. If all hosts \
are unknown, the server's own connection may be what fails"
    """
    node, _, said = complaint.partition(": ")
    outcome = said.partition(" ")[0]
    name, usual = OUTCOMES.get(outcome, (said, ""))
    advised = ADVICE.get(outcome, usual).removesuffix(".")
    told = f"{name[:1].lower()}{name[1:]}" if outcome in OUTCOMES and not name.startswith("robots") else name
    return f"no page could be read; {node.removesuffix('robots.txt')}: {told}{'. ' if advised else ''}{advised}"
