"""Creation of spaces from options."""

from __future__ import annotations

from pathlib import Path

import pytest

from lycosa.core.options import Options
from lycosa.spaces.graph import GraphSpace
from lycosa.spaces.making import make_space, user_agent, wall_clock, web_space


def test_make_space_creates_named_space(tmp_path: Path) -> None:
    (tmp_path / "links.tsv").write_text("a\tb\n")
    space = make_space(Options(space=f"graph,file={tmp_path}/links.tsv"), lambda: 0.0)
    assert isinstance(space, GraphSpace)
    assert ["b"] == list(space.links["a"])


def test_make_space_web_rejects_parameters() -> None:
    with pytest.raises(Exception, match="the web space has no parameter 'delay'"):
        make_space(Options(space="web,delay=3"), lambda: 0.0)


def test_web_space_uses_options() -> None:
    space = web_space(Options(delay=2.5), lambda: 0.0)
    assert 2.5 == space.politeness.delay


def test_user_agent_names_contact() -> None:
    assert user_agent(Options(contact="https://me.example/")).endswith("(+https://me.example/)")


@pytest.mark.parametrize("agent", ["two\nlines", "größe/1.0", "(no name)"])
def test_user_agent_rejects_invalid_contact(agent: str) -> None:
    with pytest.raises(Exception, match="must be one line of plain ASCII"):
        user_agent(Options(user_agent=agent))


def test_wall_clock_never_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = wall_clock()
    before = clock()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert clock() >= before > 1.6e9
