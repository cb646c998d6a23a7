"""Validators of conditional requests, and hosts that send wrong ones."""

from __future__ import annotations

import pytest

from lycosa.core.types import Visit
from lycosa.revisit.validators import Honesty, Validators, learn

DATE = "Tue, 14 Nov 2023 22:13:20 GMT"
LATER = "Wed, 15 Nov 2023 22:13:20 GMT"
ENDED = 1_700_200_000.0


def visit(etag: str = "", modified: str = "", status: int = 200) -> Visit:
    return Visit("http://a.test/", "revisit", "ok", 1, status=status, etag=etag, modified=modified, ended=ENDED)


def test_conditions_include_both_validators() -> None:
    assert (("If-None-Match", '"a"'), ("If-Modified-Since", DATE)) == Validators('"a"', DATE).conditions(Honesty())


def test_conditions_skip_invalid_date() -> None:
    assert () == Validators(modified="yesterday").conditions(Honesty())


def test_conditions_are_empty_for_unreliable_host() -> None:
    honesty = Honesty()
    learn(honesty, Validators('"a"'), visit('"a"'), changed=True)
    assert honesty.stale_validators == 1
    assert () == Validators('"a"').conditions(honesty)


@pytest.mark.parametrize(
    ("before", "after", "changed", "proved", "true", "idle"),
    [
        (Validators('"a"'), visit('"b"'), True, 1, 0, 0),
        (Validators(modified=DATE), visit(modified=LATER), True, 1, 1, 0),
        (Validators(modified=DATE), visit(modified=LATER), False, 0, 0, 1),
        (Validators('"a"'), visit('"b"', status=304), False, 0, 0, 0),
    ],
)
def test_learn_counts_reliable_and_unreliable_validators(
    before: Validators, after: Visit, changed: bool, proved: int, true: int, idle: int
) -> None:
    honesty = Honesty()
    learn(honesty, before, after, changed)
    assert (0, proved, true, idle) == (honesty.stale_validators, honesty.proved, honesty.true, honesty.idle)
