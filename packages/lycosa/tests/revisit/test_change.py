"""Changes recorded in visits."""

from __future__ import annotations

from lycosa.core.types import Visit
from lycosa.revisit.change import Change, change_of


def test_change_of_round_trip() -> None:
    change = Change("moved", says=["301"], target="http://b.test/")
    assert change == change_of(Visit("http://a.test/", "revisit", "redirect", 1, data={"change": change.as_data()}))


def test_change_of_unchanged_visit_is_none() -> None:
    assert change_of(Visit("http://a.test/", "revisit", "unchanged", 1)) is None


def test_change_keeps_detectors_with_explanations() -> None:
    change = Change("changed", "text", 0.25, ["tree"], ["level 4: text"])
    assert {"by": ["tree"], "says": ["level 4: text"]}.items() <= change.as_data().items()
