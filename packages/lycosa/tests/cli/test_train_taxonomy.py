"""`lycosa train taxonomy`: browsing a web directory, marking topics, writing a training table."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import Command
from lycosa.cli.demo import _write_directory
from lycosa.core.types import Page
from lycosa.judges.model_judge import ModelJudge
from lycosa.testweb import Web
from lycosa.training.train_model import train

ROWS = [("Science/Physics", 4), ("Science/Biology", 4), ("Arts", 4)]


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Write a table of URLs and topics in the current directory."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"http://{topic.lower().replace('/', '.')}.example/{n}\t{topic}\n" for topic, many in ROWS for n in range(many)
    ]
    Path("dump.tsv").write_text("".join(rows))
    return "dump.tsv"


def test_taxonomy_lists_branches_and_pages(command: Command, dump: str) -> None:
    first = command.out("train", "taxonomy", dump, "--quiet", width=80) + command.out(
        "train", "taxonomy", dump, width=80
    )
    assert ["All", "topic", "Arts", "Science", "Look"] == [line.split()[0] for line in first.splitlines()]
    assert ["Science", "2", "8"] == first.splitlines()[3].split()
    below = command.out("train", "taxonomy", dump, "--branch", "science", "--limit", 1, width=80).splitlines()
    assert ["Science: 8 pages", "Biology", "and 1 more: --limit 0 lists all"] == [
        below[0],
        below[2].split()[0],
        below[3],
    ]
    assert "http://arts.example/3" in command.out("train", "taxonomy", dump, "-b", "Arts")


@pytest.mark.paper("rules-marking")
def test_taxonomy_marks_topics(command: Command, dump: str) -> None:
    assert "topics.tsv: 12 pages of 3 topics" in command.out("train", "taxonomy", dump, "--out", "topics.tsv")
    told = command.out("train", "taxonomy", "topics.tsv", "--mark", "Science/Physics", width=80)
    assert "Marked: Science/Physics" in told
    assert "some marked" in told
    children = command.json("train", "taxonomy", "topics.tsv", "--branch", "Science")["children"]
    assert {"Biology": False, "Physics": True} == {child["name"]: child["marked"] for child in children}
    assert [] == command.json("train", "taxonomy", "topics.tsv", "--mark", "")["marked"]


def test_taxonomy_mark_keeps_all_pages(command: Command, dump: str) -> None:
    Path(dump).write_text("".join(f"http://a.example/{n}\tArts\n" for n in range(200)))
    command.out("train", "taxonomy", dump, "--most", 0, "--out", "topics.tsv")
    assert "topics.tsv: 200 pages of 1 topics" in command.out("train", "taxonomy", "topics.tsv", "--mark", "Arts")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["dump.tsv", "--mark", "Arts"], "is not a table written by this command"),
        (["dump.tsv", "--mark", "Art", "--out", "x.tsv"], "the directory has no class 'Art': did you mean Arts"),
        (["dump.tsv", "-b", "Sport"], "has no class 'Sport'"),
        (["dump.tsv", "dump.tsv", "--mark", "Arts"], "needs --out"),
        (["nowhere.tsv"], "cannot read the dump nowhere.tsv"),
        (["dump.tsv", "--limit", "-1"], "--limit is -1"),
        (["dump.tsv", "--most", "-1"], "'most' is -1"),
    ],
)
def test_taxonomy_errors_are_one_line(command: Command, dump: str, words: list[str], said: str) -> None:
    before = Path(dump).read_text()
    refused = command("train", "taxonomy", *words)
    assert (2, True, 1) == (refused.code, said in refused.err, len(refused.err.splitlines())), refused.err
    assert (before, ["dump.tsv"]) == (Path(dump).read_text(), [path.name for path in Path().iterdir()])


@pytest.mark.paper("rules-marking")
def test_marked_topics_are_targets_of_model(command: Command, dump: str) -> None:
    command.out("train", "taxonomy", dump, "--mark", "Science/Physics", "--out", "topics.tsv")
    words = {"science.physics": "quantum atom", "science.biology": "cell gene", "arts": "opera paint"}

    def look(urls, account, progress):  # type: ignore[no-untyped-def]
        for url in urls:
            host = url.removeprefix("http://").partition(".example")[0]
            yield url, Page("ok", marked=f"{words[host]} page{url[-1]}x " * 5)

    done = train(["topics.tsv"], Path("m.model"), look, held_out=0.0)
    assert ["Science/Physics"] == done.model.default_targets == ModelJudge(done.model).targets
    assert ["Arts"] == ModelJudge(done.model, ["Arts"]).targets
    merged = train(["topics.tsv"], Path("m.model"), look, held_out=0.0, least=5)
    assert (["Arts", "Science"], ["Science"]) == (merged.model.classes, merged.model.default_targets)


def test_demo_web_directory_has_topics(command: Command, tmp_path: Path) -> None:
    web = Web(seed=7, pages=400, hosts=8, traps=())
    _write_directory(web, tmp_path / "web.rdf")
    found = command.json("train", "taxonomy", tmp_path / "web.rdf")
    assert len(web.topics) + len({topic.partition("/")[0] for topic in web.topics}) == found["topics"]
    assert 10 == max(
        child["own"] for child in command.json("train", "taxonomy", tmp_path / "web.rdf", "-b", "astronomy")["children"]
    )
