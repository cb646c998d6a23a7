"""Simulated browsing sessions."""

from __future__ import annotations

from lycosa.training.simulated_browsing import PageView, sessions

WEB = {
    "start": ["shop", "bridge"],
    "shop": ["start"],
    "bridge": ["target", "shop"],
    "target": ["other", "start"],
    "other": [],
    "lost": ["lost"],
}


def test_sessions_follow_shortest_path_and_beyond() -> None:
    (walk,) = sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], detours=0)
    assert [
        PageView("start", None),
        PageView("bridge", "start"),
        PageView("target", "bridge"),
        PageView("other", "target"),
    ] == walk


def test_sessions_return_to_path_after_detours() -> None:
    (walk,) = sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], detours=1)
    assert PageView("shop", "start") in walk
    assert PageView("target", "bridge") in walk


def test_sessions_skip_starts_without_path() -> None:
    assert [] == list(sessions(WEB.__getitem__, {"target"}.__contains__, ["lost"]))
    assert [] == list(sessions(WEB.__getitem__, {"target"}.__contains__, ["start"], max_distance=1))


def test_sessions_depend_on_seed() -> None:
    again = [list(sessions(WEB.__getitem__, {"target"}.__contains__, ["start"] * 9, random_seed=s)) for s in (1, 1, 2)]
    assert again[0] == again[1]
    assert again[0] != again[2]
