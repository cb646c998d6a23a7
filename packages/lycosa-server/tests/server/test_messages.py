"""Messages for people without a command line."""

from __future__ import annotations

import re

from lycosa.collection.causes import KINDS, OUTCOMES, describe_failure
from lycosa_server.messages import ADVICE, SUMMARIES, cause_name, explain_no_pages
from lycosa_server.validation import JUDGES, UNTRAINED_STRATEGIES

OF_THE_COMMAND_LINE = re.compile(r"--\w|\.toml|\bresume\b.* with\b")


def test_advice_never_names_options() -> None:
    for outcome in OUTCOMES:
        for kind in KINDS:
            answer = ADVICE.get(outcome, describe_failure(kind, outcome)[1])
            assert (True, None) == (bool(answer), OF_THE_COMMAND_LINE.search(answer))


def test_summaries_never_name_options() -> None:
    entries = [*UNTRAINED_STRATEGIES.items(), *JUDGES.items()]
    assert [] == [name for name, entry in entries if OF_THE_COMMAND_LINE.search(SUMMARIES.get(name, entry.summary))]


def test_cause_name_distinguishes_unreachable_hosts() -> None:
    names = [
        cause_name("robots", outcome, describe_failure("robots", outcome)[0]) for outcome in ("unknown-host", "broken")
    ]
    assert ["Unknown host", "robots.txt could not be read"] == names


def test_explain_no_pages_is_plain() -> None:
    for outcome in OUTCOMES:
        answer = explain_no_pages(
            f"https://reef.example/robots.txt: {outcome} allow it with --allow-network 10.0.0.0/8"
        )
        assert answer.startswith("no page could be read; https://reef.example/: ")
        assert None is OF_THE_COMMAND_LINE.search(answer)
        assert f": {outcome} " not in answer
