"""Words for people who have no command line."""

from __future__ import annotations

import re

import pytest

from lycosa.collection.report.causes import KINDS, OUTCOMES, explain
from lycosa.server.wishing import GUIDES, JUDGES
from lycosa.server.wording import advice, summary

OF_THE_COMMAND_LINE = re.compile(r"--\w|\.toml|\bresume\b.* with\b")


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_advice(outcome: str) -> None:
    """What is said of a failure in the browser names no option and no file, and says something."""
    for kind in KINDS:
        said = advice(outcome, explain(kind, outcome)[1])
        assert (True, None) == (bool(said), OF_THE_COMMAND_LINE.search(said))


def test_summaries() -> None:
    """Nor does what is said of strategies and judges."""
    entries = [*GUIDES.items(), *JUDGES.items()]
    assert [] == [name for name, entry in entries if OF_THE_COMMAND_LINE.search(summary(name, entry.summary))]
