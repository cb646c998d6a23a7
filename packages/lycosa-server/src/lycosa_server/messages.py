"""Wording for the browser where the core's messages refer to the command line."""

from __future__ import annotations

from lycosa.collection.causes import OUTCOMES
from lycosa.core import budget

# Advice by outcome, where the command line's advice names options or files.
ADVICE = {
    "gone": "Dead links are normal on the web. If a seed is dead, correct it and start a new crawl.",
    "busy": "Lycosa waits as long as the host asks and tries again. If this happens often, try again later.",
    "denied": "If robots.txt forbids it, nothing was requested; if an account does, nothing is kept. You can ask the "
    "site's owner for permission.",
    "refused": "Nothing was sent. An administrator of this server can allow a private network.",
    "unreachable": "Several attempts failed. If many hosts are affected, check the server's own connection.",
    "unknown-host": "The name is misspelt or no longer exists. If all hosts are unknown, check the server's own "
    "connection.",
    "timeout": "The host is slow or does not respond. Try again later.",
    "slow": "The host sends its pages too slowly. Try again later.",
    "challenge": "The page is not kept, and its host gets fewer requests. You can ask the site's owner for permission.",
    "limited": "Lycosa waits for a while and tries again. If this happens often, try again later.",
    "unwanted": "Its body was not read: Lycosa reads text only.",
}

ENDINGS = {
    budget.PAGES_SPENT: "all requested pages were fetched",
    budget.LEFT_ALONE: "the remaining hosts cannot be crawled for now",
    budget.EXHAUSTED: "no links are left to follow",
    budget.HOSTS_SPENT: "each host's page limit was reached",
    budget.REQUESTS_SPENT: "too many requests returned no page",
    budget.NOTHING_DUE: "all pages were revisited",
}

# Summaries of strategies, where the usual one names options.
SUMMARIES = {"random": "follows links in random order, the same each time; ignores the topic"}


def cause_name(kind: str, outcome: str, usual: str) -> str:
    about_host = outcome in ("unknown-host", "unreachable", "refused", "timeout")
    return OUTCOMES[outcome][0] if kind == "robots" and about_host else usual


def explain_no_pages(complaint: str) -> str:
    node, _, failure = complaint.partition(": ")
    outcome = failure.partition(" ")[0]
    name, usual = OUTCOMES.get(outcome, (failure, ""))
    advised = ADVICE.get(outcome, usual).removesuffix(".")
    cause = f"{name[:1].lower()}{name[1:]}" if outcome in OUTCOMES and not name.startswith("robots") else name
    return f"no page could be read; {node.removesuffix('robots.txt')}: {cause}{'. ' if advised else ''}{advised}"
