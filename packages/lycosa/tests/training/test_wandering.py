"""Simulated browsing sessions."""

from __future__ import annotations

from lycosa.training.wandering import PageView, sessions

WEB = {
    "start": ["shop", "bridge"],
    "shop": ["start"],
    "bridge": ["target", "shop"],
    "target": ["other", "start"],
    "other": [],
    "lost": ["lost"],
}


def test_a_session_ends_at_a_relevant_page_and_a_little_beyond() -> None:
    """The way is a shortest one, each page with the page that linked to it, then links of the relevant page."""
    (walk,) = sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], detours=0)
    assert [
        PageView("start", None),
        PageView("bridge", "start"),
        PageView("target", "bridge"),
        PageView("other", "target"),
    ] == walk


def test_detours_are_looked_at_and_left() -> None:
    """A detour is a page beside the way: it has its referrer, and the way goes on from there."""
    (walk,) = sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], detours=1)
    assert PageView("shop", "start") in walk
    assert PageView("target", "bridge") in walk


def test_a_start_without_a_way_gives_no_session() -> None:
    """A page from which no relevant one can be reached within the distance is left out."""
    assert [] == list(sessions(WEB.__getitem__, {"target"}.__contains__, ["lost"]))
    assert [] == list(sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], farthest=1))


def test_the_same_seed_gives_the_same_sessions() -> None:
    """Chance is drawn from the seed, the number of the session and its start."""
    again = [list(sessions(WEB.__getitem__, {"target"}.__contains__, ["start"] * 9, random_seed=s)) for s in (1, 1, 2)]
    assert again[0] == again[1]
    assert again[0] != again[2]
