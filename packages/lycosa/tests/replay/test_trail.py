"""Referrers of a person's visits."""

from lycosa.replay.trail import VisitorTrail

A, B = "https://a.example", "https://b.example"


def test_step_keeps_complete_referrer() -> None:
    trail = VisitorTrail()
    trail.step(f"{A}/one", "")
    assert trail.step(f"{B}/", f"{A}/two?x=1") == f"{A}/two?x=1"


def test_step_replaces_origin_by_last_page() -> None:
    trail = VisitorTrail()
    trail.step(f"{A}/one", "")
    trail.step(f"{A}/two", f"{A}/one")
    assert trail.step(f"{B}/", f"{A}/") == f"{A}/two"


def test_step_within_site_keeps_front_page() -> None:
    trail = VisitorTrail()
    trail.step(f"{A}/one", "")
    assert trail.step(f"{A}/two", f"{A}/") == f"{A}/"


def test_step_keeps_unknown_origin() -> None:
    assert VisitorTrail().step(f"{B}/", f"{A}/") == f"{A}/"


def test_step_ignores_invalid_urls() -> None:
    trail = VisitorTrail()
    assert trail.step("about:blank", "not a url") == ""
    assert trail.step(f"{B}/", f"{A}/") == f"{A}/"
