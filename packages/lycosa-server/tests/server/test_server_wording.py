"""Words for people who have no command line."""

from __future__ import annotations

import re

from lycosa.collection.causes import KINDS, OUTCOMES, describe_failure
from lycosa_server.messages import ADVICE, SUMMARIES, cause_name, no_pages_reason
from lycosa_server.validation import JUDGES, UNTRAINED_STRATEGIES

OF_THE_COMMAND_LINE = re.compile(r"--\w|\.toml|\bresume\b.* with\b")


def test_advice() -> None:
    """What is said of a failure in the browser names no option and no file, and says something."""
    for outcome in OUTCOMES:
        for kind in KINDS:
            said = ADVICE.get(outcome, describe_failure(kind, outcome)[1])
            assert (True, None) == (bool(said), OF_THE_COMMAND_LINE.search(said))


def test_summaries() -> None:
    """Nor does what is said of strategies and judges."""
    entries = [*UNTRAINED_STRATEGIES.items(), *JUDGES.items()]
    assert [] == [name for name, entry in entries if OF_THE_COMMAND_LINE.search(SUMMARIES.get(name, entry.summary))]


def test_a_host_that_is_not_there() -> None:
    """That a host has no name or answer is said so, though it was robots.txt that was asked for first."""
    names = [
        cause_name("robots", outcome, describe_failure("robots", outcome)[0]) for outcome in ("unknown-host", "broken")
    ]
    assert ["Unknown host", "robots.txt could not be read"] == names


def test_a_crawl_without_a_page() -> None:
    """Why a crawl has no page is said in whole words, without the program's own names."""
    for outcome in OUTCOMES:
        said = no_pages_reason(f"https://reef.example/robots.txt: {outcome} allow it with --allow-network 10.0.0.0/8")
        assert said.startswith("no page could be read; https://reef.example/: ")
        assert None is OF_THE_COMMAND_LINE.search(said)
        assert f": {outcome} " not in said
