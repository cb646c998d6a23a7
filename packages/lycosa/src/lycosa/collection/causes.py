"""User-facing names of failures and flags, with advice."""

from __future__ import annotations

OUTCOMES: dict[str, tuple[str, str]] = {
    "gone": (
        "Page not found",
        "Dead links are normal on the web. If a seed is dead, correct it in crawl.toml and resume.",
    ),
    "broken": ("Server error", "The error is on the host's side. Fetch these links again later with a new crawl."),
    "busy": (
        "The host was too busy",
        "Lycosa waits as long as the host asks and tries again. If this happens often, resume later with a "
        "larger delay in crawl.toml.",
    ),
    "denied": (
        "robots.txt does not allow it, or an account has opted out",
        "If robots.txt forbids it, nothing was requested; if an account does, nothing is kept. You can ask "
        "the site's owner for permission; --contact tells them how to reach you.",
    ),
    "refused": (
        "The address is in a private network",
        "Nothing was sent. If it is your own network, allow it with --allow-network, such as "
        "--allow-network 10.0.0.0/8.",
    ),
    "unknown-host": (
        "Unknown host",
        "The name is misspelt or no longer exists. If all hosts are unknown, check your own connection first.",
    ),
    "unreachable": (
        "Connection failed",
        "Tried up to three times. If many hosts are affected, check your own connection or proxy.",
    ),
    "timeout": ("Timeout", "Allow slow hosts more time with `timeout` in crawl.toml."),
    "slow": (
        "The response was too slow",
        "Given up because of min_rate in crawl.toml: lower it to wait for such hosts.",
    ),
    "loop": ("Too many redirects", "Usually a host that requires cookies. There is nothing for a crawler to fetch."),
    "unwanted": (
        "Not a page or document, or too large",
        "It was not read. --documents sets which documents are read, --accept archives files of other "
        "types, such as image/png; `max_page` in crawl.toml is the size limit.",
    ),
    "invalid": (
        "The response was not valid HTTP",
        "A broken header or encoding, or an invalid redirect. Only the host can fix this.",
    ),
    "unreadable": (
        "Could not be read",
        "The document is damaged or encrypted, or reading it took too much time or memory or crashed the "
        "process. It is archived as received.",
    ),
    "challenge": (
        "The host sent a bot check instead of the page",
        "The page is not kept, and its host gets fewer requests. You can ask the site's owner to let you "
        "in: --contact tells them how to reach you, --identity proves that the requests are yours.",
    ),
    "login": (
        "The host sent a login form instead of the page",
        "The page is not kept. Lycosa does not log in: such pages are for people with an account.",
    ),
    "limited": (
        "The host reported too many requests",
        "Lycosa waits for a while and tries again. If this happens often, resume with a larger delay in crawl.toml.",
    ),
    "consent": (
        "The host sent a consent form instead of the page",
        "The page is not kept. Lycosa does not agree to anything on your behalf.",
    ),
    "crashed": (
        "Internal error in Lycosa",
        "This is a bug; the crawl continued without the page. Please report it with the example.",
    ),
}

ROBOTS = (
    "robots.txt could not be read",
    "Until it can be read, nothing is fetched from the host. Lycosa tries again after a while: resume later.",
)

SUCCESSFUL = frozenset({"ok", "redirect", "unchanged"})  # outcomes that are not failures
# Failures that are expected as well: a host without robots.txt or probe page, and a page that has vanished.
EXPECTED = frozenset({("robots", "gone"), ("probe", "gone"), ("revisit", "gone")})

KINDS = {
    "page": "pages",
    "redirect": "redirects",
    "robots": "robots.txt",
    "sitemap": "sources",
    "probe": "probes: made-up addresses, to see how a host reports missing pages",
    "example": "example pages",
    "revisit": "pages again",
    "search": "search engine queries",
    "asset": "page assets: what pages need to be displayed",
}

FLAGS = {
    "soft-404": "that report success but mean that the page does not exist",
    "maze": "with few words that lead to more of the same: not counted as relevant",
    "language": "in another language: not counted as relevant",
    "noindex": "that ask not to be listed",
    "noarchive": "that ask not to be kept in caches",
    "nofollow": "that ask robots not to follow their links; respected",
    "nofollow-links": "with links marked nofollow, which were not followed",
    "bot": "of accounts that are automated",
    "limited": "of accounts that their server has limited",
    "undiscoverable": "of accounts that do not want to be recommended",
    "unsearchable": "of accounts that their server's search leaves out",
    "secrets": "with statuses that are not public: not archived",
    "scanned": "that are scans: images without text, which cannot be judged",
    "no-text": "that are documents without text",
    "truncated:document": "that are very long documents, read in part",
    "truncated:length": "longer than --max-body, cut off",
    "truncated:inflated": "that grew too large when unpacked, cut off",
    "truncated:time": "that took too long, cut off",
    "truncated:disconnect": "that were cut off in transit",
}


def describe_failure(kind: str, outcome: str) -> tuple[str, str]:
    """Return the name of a failure and advice on it."""
    if kind in KINDS and kind not in ("page", "redirect") and outcome != "denied":
        if kind == "robots":
            return ROBOTS
        name, advice = OUTCOMES.get(outcome, (outcome, ""))
        return f"{'Revisit' if kind == 'revisit' else kind.capitalize()}: {name[0].lower()}{name[1:]}", advice
    return OUTCOMES.get(outcome, (outcome, ""))
