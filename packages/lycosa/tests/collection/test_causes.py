"""Tests of descriptions of failures."""

from typing import get_args

import pytest

from lycosa.collection.causes import OUTCOMES, ROBOTS, SUCCESSFUL, describe_failure
from lycosa.core.types import Outcome


@pytest.mark.parametrize(
    ("kind", "outcome", "name"),
    [
        ("page", "gone", "Page not found"),
        ("revisit", "timeout", "Revisit: timeout"),
        ("sitemap", "denied", "robots.txt does not allow it, or an account has opted out"),
        ("robots", "timeout", ROBOTS[0]),
        ("page", "odd", "odd"),
    ],
)
def test_describe_failure_returns_name(kind: str, outcome: str, name: str) -> None:
    assert name == describe_failure(kind, outcome)[0]


def test_describe_failure_covers_all_causes() -> None:
    assert set(get_args(Outcome)) - SUCCESSFUL <= set(OUTCOMES)
