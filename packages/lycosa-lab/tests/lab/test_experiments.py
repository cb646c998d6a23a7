from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from input_errors import raises_input_error
from lycosa_lab.experiments import Experiment

PLAIN = 'name = "mine"\ncorpus = "my.index"\nstrategies = ["best-first", "breadth-first"]\n'


def plan(**more: object) -> Experiment:
    return Experiment("mine", "my.index", **{"strategies": ["best-first"], **more})  # type: ignore[arg-type]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.paper("otie-tuning")
def test_load_applies_defaults(tmp_path: Path) -> None:
    read = Experiment.load(written(tmp_path, PLAIN + "budgets = [300, 100, 300]\ndescription = 'examples'\n"))
    assert ("mine", ["best-first", "breadth-first"], [100, 300], "examples", "on-topic", 300) == (
        read.name, read.strategies, read.budgets, read.description, read.seeds, read.budget,
    )  # fmt: skip


def test_load_default_name_is_file_name(tmp_path: Path) -> None:
    assert Experiment.load(written(tmp_path, PLAIN.partition("\n")[2])).name == "mine"


def test_load_resolves_corpus_relative_to_file(tmp_path: Path) -> None:
    assert Experiment.load(written(tmp_path, PLAIN)).corpus == "my.index"
    (tmp_path / "my.index").mkdir()
    assert Experiment.load(written(tmp_path, PLAIN)).corpus == str(tmp_path / "my.index")


def test_load_of_written_toml_is_equal(tmp_path: Path) -> None:
    odd = plan(subjects=['a "quoted" \\ class', "Größe\x7f\t"], budgets=[7], seeds="off-topic", judge="vector,idf=none")
    assert Experiment.load(written(tmp_path, odd.as_toml())) == odd
    assert all(f"\n{key} = " in odd.as_toml() for key in odd.as_dict())


@pytest.mark.parametrize(
    ("line", "code", "match"),
    [
        ("strategys = []", "unknown-name", "'strategys': did you mean strategies"),
        ("xyzzy = 1", "unknown-name", "'xyzzy': choose one of name, corpus, strategies"),
        ("hops = 'two'", "bad-value", "hops is 'two'"),
        ("hops = true", "bad-value", "hops is True"),
        ("description = 3", "bad-value", "description is 3"),
        ("budgets = [100, '300']", "bad-value", "budgets is '300'"),
        ("= 3", "bad-file", "TOML"),
    ],
)
def test_load_quotes_bad_line(tmp_path: Path, line: str, code: str, match: str) -> None:
    with raises_input_error(code, match):
        Experiment.load(written(tmp_path, PLAIN + line))


def test_load_names_missing_setting(tmp_path: Path) -> None:
    with raises_input_error("missing-option", "corpus is missing"):
        Experiment.load(written(tmp_path, 'strategies = ["best-first"]'))
    with raises_input_error("unreadable-file"):
        Experiment.load(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("settings", "code", "match"),
    [
        ({"strategies": ["best-frist"]}, "unknown-name", "did you mean best-first"),
        ({"strategies": ["best-first,merge=some"]}, "bad-value", "max or"),
        ({"strategies": ["fl_n,depth=3"]}, "unknown-option", "'depth'"),
        ({"strategies": []}, "missing-option", "strategy"),
        ({"strategies": ["fl_n", "fl_n"]}, "duplicate", "'fl_n'"),
        ({"subjects": [" "]}, "bad-value", "subjects"),
        ({"seeds": "offtopic"}, "unknown-name", "did you mean off-topic.* on-topic, off-topic, cold"),
        ({"description": "xyz"}, "unknown-name", "words, examples, model, score"),
        ({"mode": "published"}, "unknown-name", "did you mean as-published"),
        ({"budgets": []}, "out-of-range", "budgets"),
        ({"budgets": [100, 0]}, "out-of-range", r"budgets.* must"),
        ({"repetitions": 0}, "out-of-range", "repetitions.* .0. must be at least 1"),
    ],
)
def test_check_rejects_bad_settings(settings: dict[str, object], code: str, match: str) -> None:
    with raises_input_error(code, match):
        plan(**settings).check()


def test_check_accepts_strategies_trained_later() -> None:
    plan(strategies=["hmm", "rules,depth=3", "oracle", "best-first,merge=sum"]).check()


def test_open_corpus_without_index_suggests_command(tmp_path: Path) -> None:
    crawl = tmp_path / "my crawl"
    crawl.mkdir()
    for corpus, code, command in [
        (str(crawl), "not-an-index", f"lycosa lab index '{crawl}' --out 'my crawl.index'"),
        (str(tmp_path / "none.index"), "not-an-index", f"lycosa lab index SOURCE --out {tmp_path}/none.index"),
        ("", "missing-option", "lycosa lab index SOURCE"),
    ]:
        with raises_input_error(code, command):
            Experiment("mine", corpus, ["best-first"]).open()


@pytest.mark.parametrize(
    ("key", "value"), [("budgets", [10**12]), ("seed_sets", 10**9), ("repetitions", 10**9), ("random_seed", -1)]
)
def test_check_rejects_huge_numbers(key: str, value: Any) -> None:
    with raises_input_error("out-of-range", f"{key}.* must be at (least|most)"):
        Experiment("x", "x", ["best-first"], **{key: value}).check()
