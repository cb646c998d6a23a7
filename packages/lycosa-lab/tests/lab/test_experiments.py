from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lycosa.core.errors import InputError
from lycosa_lab.experiments import Experiment

PLAIN = 'name = "mine"\ncorpus = "my.index"\nstrategies = ["best-first", "breadth-first"]\n'


def plan(**more: object) -> Experiment:
    return Experiment("mine", "my.index", **{"strategies": ["best-first"], **more})  # type: ignore[arg-type]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load_error(path: Path) -> str:
    with pytest.raises(InputError) as output:
        Experiment.load(path)
    return str(output.value)


@pytest.mark.paper("otie-tuning")
def test_load_applies_defaults(tmp_path: Path) -> None:
    read = Experiment.load(written(tmp_path, PLAIN + "budgets = [300, 100, 300]\ntold = 'examples'\n"))
    assert ("mine", ["best-first", "breadth-first"], [100, 300], "examples", "on-topic", 300) == (
        read.name, read.strategies, read.budgets, read.told, read.seeds, read.budget,
    )  # fmt: skip


def test_load_default_name_is_file_name(tmp_path: Path) -> None:
    assert Experiment.load(written(tmp_path, PLAIN.partition("\n")[2])).name == "mine"


def test_load_corpus_relative_to_file(tmp_path: Path) -> None:
    assert Experiment.load(written(tmp_path, PLAIN)).corpus == "my.index"
    (tmp_path / "my.index").mkdir()
    assert Experiment.load(written(tmp_path, PLAIN)).corpus == str(tmp_path / "my.index")


def test_load_reads_as_toml(tmp_path: Path) -> None:
    odd = plan(subjects=['a "quoted" \\ class', "Größe\x7f\t"], budgets=[7], seeds="off-topic", judge="vector,idf=none")
    assert Experiment.load(written(tmp_path, odd.as_toml())) == odd
    assert all(f"\n{key} = " in odd.as_toml() for key in odd.as_dict())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("strategys = []", "a key is 'strategys': did you mean strategies?"),
        ("xyzzy = 1", "a key is 'xyzzy': there are name, corpus, strategies"),
        ("hops = 'two'", "hops is 'two': it must be a whole number"),
        ("hops = true", "hops is True: it must be a whole number"),
        ("told = 3", "told is 3: it must be a text"),
        ("budgets = [100, '300']", "budgets is '300': it must be a whole number"),
        ("= 3", "is not valid TOML"),
    ],
)
def test_load_names_bad_line(tmp_path: Path, line: str, said: str) -> None:
    assert said in load_error(written(tmp_path, PLAIN + line))


def test_load_names_missing_setting(tmp_path: Path) -> None:
    assert "corpus is missing" in load_error(written(tmp_path, 'strategies = ["best-first"]'))
    assert "cannot read" in load_error(tmp_path / "nothing.toml")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"strategies": ["best-frist"]}, "there is no strategy 'best-frist': did you mean best-first"),
        ({"strategies": ["best-first,merge=some"]}, "it must be max or"),
        ({"strategies": ["fl_n,depth=3"]}, "fl_n has no parameter 'depth'"),
        ({"strategies": []}, "no strategy to compare"),
        ({"strategies": ["fl_n", "fl_n"]}, "strategies has 'fl_n' twice"),
        ({"subjects": [" "]}, "subjects has an empty name"),
        (
            {"seeds": "offtopic"},
            "seeds is 'offtopic': did you mean off-topic? there are on-topic, off-topic, cold",
        ),
        ({"told": "xyz"}, "told is 'xyz': there are words, examples, model, score"),
        ({"mode": "published"}, "did you mean as-published?"),
        ({"budgets": []}, "name one at least"),
        ({"budgets": [100, 0]}, "budgets are [0, 100]"),
        ({"repetitions": 0}, "repetitions is 0: it must be 1 or more"),
    ],
)
def test_check_rejects_bad_settings(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as output:
        plan(**settings).check()
    assert said in str(output.value)


def test_check_accepts_strategies_trained_later() -> None:
    plan(strategies=["hmm", "rules,depth=3", "oracle", "best-first,merge=sum"]).check()


def test_open_corpus_without_index_suggests_command(tmp_path: Path) -> None:
    crawl = tmp_path / "my crawl"
    crawl.mkdir()
    for corpus, said in [
        (str(crawl), f"lycosa lab index '{crawl}' --out 'my crawl.index'"),
        (str(tmp_path / "none.index"), f"lycosa lab index SOURCE --out {tmp_path}/none.index"),
        ("", "lycosa lab index SOURCE"),
    ]:
        with pytest.raises(InputError) as output:
            Experiment("mine", corpus, ["best-first"]).open()
        assert said in str(output.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [("budgets", [10**12]), ("seed_sets", 10**9), ("repetitions", 10**9), ("random_seed", -1)],
)
def test_check_rejects_huge_numbers(key: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{key} is .*it must be .* or (less|more)"):
        Experiment("x", "x", ["best-first"], **{key: value}).check()
