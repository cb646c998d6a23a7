"""Failures and remarks in words: what happened, and what a person can do about it."""

from __future__ import annotations

OUTCOMES: dict[str, tuple[str, str]] = {
    "gone": (
        "The page is not there",
        "Dead links are part of the web. If your seeds are among them, correct the seeds in crawl.toml and resume.",
    ),
    "broken": (
        "The server failed",
        "An error of the host, not of yours. Links there can be fetched again later with a new crawl.",
    ),
    "busy": (
        "The host was too busy, or asked to come back later",
        "Lycosa waits as long as it is told to and tries again. If it happens a lot, resume later with a larger "
        "delay in crawl.toml.",
    ),
    "denied": (
        "robots.txt does not allow it, or an account has opted out",
        "By robots.txt, nothing was sent; of an account, nothing is kept. It is their decision; who runs the host can "
        "be asked for permission. --contact tells them whom to answer.",
    ),
    "refused": (
        "The address lies in a network that is not public",
        "Nothing was sent. If it is your own network, allow it by name: --allow-network 10.0.0.0/8.",
    ),
    "unknown-host": (
        "There is no such host",
        "A misspelt or abandoned name. If all hosts are unknown, look at your own connection first.",
    ),
    "unreachable": (
        "No connection, or it broke",
        "Tried again up to --attempts times. If many hosts are affected, look at your own connection or proxy.",
    ),
    "timeout": (
        "No answer in time",
        "Give slow hosts longer with --timeout.",
    ),
    "slow": (
        "The answer came too slowly",
        "Given up because of --min-rate: lower it to wait for such hosts.",
    ),
    "loop": (
        "Too many redirects in a row",
        "Usually a host that wants cookies. There is nothing to fetch for a crawler.",
    ),
    "unwanted": (
        "Neither a page nor a document, or too large",
        "It was not read. --documents says which documents are, --accept archives files of other types, such as "
        "image/png; --max-page is the limit.",
    ),
    "invalid": (
        "The answer made no sense",
        "Not HTTP, a broken encoding, or a redirect to nowhere. The host's to mend.",
    ),
    "unreadable": (
        "Could not be read",
        "A document that is damaged or encrypted; or reading it took too much time or memory, or ended the process. It "
        "is archived as it came, and left alone.",
    ),
    "challenge": (
        "A check for bots came in place of the page",
        "It is not kept, and its host is asked less often. Who runs the host can be asked to let you in: --contact "
        "says whom to answer, --identity proves that it is you.",
    ),
    "login": (
        "A form to log in came in place of the page",
        "It is not kept. Lycosa logs in nowhere: such pages are for people with an account.",
    ),
    "limited": (
        "The host says that it was asked too often",
        "It is left alone for a while, and asked again. If it happens a lot, resume with a larger delay in crawl.toml.",
    ),
    "consent": (
        "A wall of consent came in place of the page",
        "It is not kept. Lycosa agrees to nothing in your name.",
    ),
    "crashed": (
        "Lycosa itself failed",
        "This is a bug, and the crawl went on without the page. Please report it, with the example.",
    ),
}

ROBOTS = (
    "robots.txt could not be read",
    "Until it can be, the whole host is closed. Lycosa asks again after a while: resume later.",
)

FINE = frozenset({"ok", "redirect", "unchanged"})
"""Outcomes that are no failures, whatever was asked for."""

EXPECTED = frozenset({("robots", "gone"), ("probe", "gone"), ("revisit", "gone")})
"""Nor are these: a host without rules, one that says plainly that it does not have a page, a page that has vanished."""

KINDS = {
    "page": "pages",
    "redirect": "redirects",
    "robots": "robots.txt",
    "sitemap": "sources",
    "probe": "probes: made-up addresses, to see how a host says no",
    "example": "example pages",
    "revisit": "pages again",
    "image": "images",
    "search": "questions to search engines",
    "requisite": "requisites: what pages need to be shown",
}

FLAGS = {
    "soft-404": "that say 200 and mean: no such page",
    "maze": "that have few words and lead on to more of the same: no finds",
    "language": "in a language that was not asked for: no finds",
    "noindex": "that ask not to be listed",
    "noarchive": "that ask not to be kept in caches",
    "nofollow": "that ask not to follow their links, and were obeyed",
    "nofollow-links": "with links marked nofollow, which were left alone",
    "bot": "of accounts that are automated",
    "limited": "of accounts that their server has limited",
    "undiscoverable": "of accounts that do not want to be recommended",
    "unsearchable": "of accounts that their server's search leaves out",
    "secrets": "with statuses that are not public: not archived",
    "scanned": "that are scans: pictures without text, so nothing to judge",
    "no-text": "that are documents without text",
    "truncated:document": "that are very long documents, of which the beginning was read",
    "truncated:length": "longer than --max-body, cut off",
    "truncated:inflated": "that grew too large when unpacked, cut off",
    "truncated:time": "that took too long, cut off",
    "truncated:disconnect": "that broke off on the way",
}


def explain(kind: str, outcome: str) -> tuple[str, str]:
    """A failure's name, and what to do about it."""
    if kind in KINDS and kind not in ("page", "redirect") and outcome != "denied":
        if kind == "robots":
            return ROBOTS
        name, advice = OUTCOMES.get(outcome, (outcome, ""))
        return f"{'Looking again' if kind == 'revisit' else kind.capitalize()}: {name[0].lower()}{name[1:]}", advice
    return OUTCOMES.get(outcome, (outcome, ""))
