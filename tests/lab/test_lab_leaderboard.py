"""The leaderboard: who is compared with whom, and how they are ranked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import run
from lycosa.core.errors import InputError
from lycosa.lab.findings import Findings, Table
from lycosa.lab.leaderboard import Board, Place, leaderboard

SMALL = Board(
    "small", [Place("embedded:pages=300,hosts=8,seed=3", ["marine biology/coral reefs"])], budgets=[10, 20], seed_sets=2
)
NAMES = ["breadth-first", "best-first", "fl_n", "hmm", "soft-focus", "rules"]


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    """The leaderboard, and where its runs are kept."""
    out = tmp_path_factory.mktemp("board")
    return leaderboard(SMALL, out, NAMES, workers=1), out


def test_strategies_are_ranked_among_those_that_are_given_the_same(ranked: tuple[Findings, Path]) -> None:
    """Each group has a table; a strategy that needs training is in none of those without; the oracle is in none."""
    found, _ = ranked
    tables = {part.key: [row[1] for row in part.rows] for part in found.parts if isinstance(part, Table)}
    assert ["breadth-first"] == tables["leaderboard-nothing"]
    assert {"best-first", "fl_n", "soft-focus"} == set(tables["leaderboard-query"])
    assert ["hmm"] == tables["leaderboard-training-record"]
    assert "rules" in tables["leaderboard-taxonomy"]
    for part in found.parts:
        if isinstance(part, Table):
            areas = [row[-3] for row in part.rows]
            assert areas == sorted(areas, reverse=True)
            assert [1, *range(2, len(areas) + 1)] == [row[0] for row in part.rows]


def test_a_second_call_finds_all_runs_done_and_the_same_table(ranked: tuple[Findings, Path]) -> None:
    """What is kept is used, and gives the same."""
    first, out = ranked
    kept = {path: path.stat().st_mtime_ns for path in out.rglob("*.npz")}
    assert first.as_dict() == leaderboard(SMALL, out, NAMES, workers=1).as_dict()
    assert kept == {path: path.stat().st_mtime_ns for path in out.rglob("*.npz")}


def test_a_board_of_ones_own_is_a_file(tmp_path: Path) -> None:
    """Places, topics and budgets are read; what is no board is an error that says what one has."""
    file = tmp_path / "mine.toml"
    file.write_text('budgets = [5]\n[[places]]\ncorpus = "x.index"\ntopics = ["a"]\n')
    assert Board("mine", [Place("x.index", ["a"])], budgets=[5]) == Board.load(file)
    file.write_text("budgets = [5]\n")
    with pytest.raises(InputError, match="names no corpus"):
        Board.load(file)
    file.write_text("colour = 1\n[[places]]\ncorpus = 'x'\n")
    with pytest.raises(InputError, match="is not a board"):
        Board.load(file)


def test_the_command_writes_a_page_and_tells_all_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A strategy of one's own stands beside the others."""
    own = "lycosa.estimators.best_first:BestFirst"
    (tmp_path / "board.toml").write_text('budgets = [9]\n[[places]]\ncorpus = "embedded:pages=120,hosts=4"\n')
    which = ["--board", str(tmp_path / "board.toml"), "--strategy", "best-first", "--also", own]
    code = run(
        monkeypatch, "lab", "leaderboard", *which, "--out", str(tmp_path / "o"), "--workers", "1", "--quiet", "--json"
    )
    assert 0 == code
    query = next(part for part in json.loads(capsys.readouterr().out)["parts"] if part["key"] == "leaderboard-query")
    assert {"best-first", own} == {row[1] for row in query["rows"]}
    assert (tmp_path / "o" / "index.html").is_file()


def test_an_unknown_board_or_strategy_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message names what there is."""
    assert 2 == run(monkeypatch, "lab", "leaderboard", "--board", "gold", "--out", str(tmp_path))
    assert "unknown board 'gold': use one of embedded, quick" in capsys.readouterr().err
    assert 2 == run(monkeypatch, "lab", "leaderboard", "--strategy", "best-frist", "--out", str(tmp_path))
    assert "best-first" in capsys.readouterr().err
