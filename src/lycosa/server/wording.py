"""What the program's own words say of its command line, in words for people who see only the browser."""

from __future__ import annotations

ADVICE = {
    "gone": "Dead links are part of the web. If your seeds are among them, correct them, and start anew.",
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
    "unwanted": "Its body was not read: only pages of words are.",
}
"""What can be done about a failure, by its outcome, where the command line's advice names options or files."""

SUMMARIES = {"random": "in a random order, the same each time"}
"""Strategies, where what is said of them elsewhere names options."""


def advice(outcome: str, usual: str) -> str:
    """What can be done about a failure."""
    return ADVICE.get(outcome, usual)


def summary(name: str, usual: str) -> str:
    """What a strategy does."""
    return SUMMARIES.get(name, usual)
