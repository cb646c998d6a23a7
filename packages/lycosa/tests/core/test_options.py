"""Tests of options and their TOML file."""

import dataclasses
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.cli.parameters import crawl_options
from lycosa.core.errors import InputError
from lycosa.core.options import Options, default_of, describe, flag_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False),
    bool: st.booleans(),
    list[str]: st.lists(TEXT, max_size=3),
}
OPTIONS = st.builds(Options, **{name: VALUES[kind] for name, kind in get_type_hints(Options).items()})


@settings(max_examples=60, deadline=None)
@given(OPTIONS)
def test_toml_of_round_trip(options: Options) -> None:
    import tomllib

    assert options == Options.from_mapping(tomllib.loads(options.to_toml()), "test")


def test_to_toml_comments_out_defaults() -> None:
    import tomllib

    text = Options().to_toml()
    assert {} == tomllib.loads(text)
    assert all(f"# {item.name} = " in text for item in dataclasses.fields(Options))


def test_load_returns_saved_options(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    options = Options(topic='a "quoted"\ttopic \\ ünï', seeds=["http://a.test/"], budget=5, delay=0.25)
    path.write_text(options.to_toml(), encoding="utf-8")
    assert options == Options.load(path)


def test_options_have_help_and_group() -> None:
    for name, flag, kind, default, group, help in describe():
        assert help.endswith((".", ".)")), name
        assert group, name
        assert flag in (name, "--" + flag.removeprefix("--")), name
        assert isinstance(default, kind if isinstance(kind, type) else list), name


def test_option_without_flag_is_set_in_file(tmp_path: Path) -> None:
    (tmp_path / "crawl.toml").write_text("min_rate = 5.0", "utf-8")
    assert 5.0 == Options.load(tmp_path / "crawl.toml").min_rate
    names = {parameter.name for parameter in crawl_options()}
    assert "min_rate" not in names
    assert "max_body" in names


def test_flags_are_unique() -> None:
    flags = [flag_of(item.name) for item in dataclasses.fields(Options)]
    assert len(set(flags)) == len(flags)


def test_lists_are_not_shared() -> None:
    Options().seeds.append("x")
    assert [] == Options().seeds


def test_check_accepts_defaults() -> None:
    Options().check()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"budgit": 3}, "unknown option 'budgit'"),
        ({"budget": "many"}, "budget is 'many': it must be of type int"),
        ({"budget": 1.5}, "budget is 1.5: it must be of type int"),
        ({"budget": True}, "budget is True: it must be of type int"),
        ({"delay": True}, "delay is True: it must be of type float"),
        ({"delay": "1"}, "delay is '1': it must be of type float"),
        ({"archive": 1}, "archive is 1: it must be of type bool"),
        ({"topic": 7}, "topic is 7: it must be of type str"),
        ({"seeds": 7}, "seeds is 7: it must be a list of strings"),
        ({"seeds": ["a", 7]}, "seeds is ['a', 7]: it must be a list of strings"),
    ],
)
def test_from_mapping_names_wrong_values(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        Options.from_mapping(values, "crawl.toml")
    assert message in str(error.value)
    assert str(error.value).startswith("crawl.toml: ")


def test_from_mapping_converts_types() -> None:
    options = Options.from_mapping({"delay": 2, "seeds": "http://a.test/"}, "test")
    assert (2.0, float, ["http://a.test/"]) == (options.delay, type(options.delay), options.seeds)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget", 0), ("concurrency", 0), ("per_host", 0), ("attempts", 0), ("delay", -1.0), ("timeout", 0.0),
        ("max_body", 0), ("max_depth", -1), ("delay", float("nan")), ("delay", float("inf")), ("threshold", -0.1),
    ],
)  # fmt: skip
def test_check_refuses_values_out_of_range(name: str, value: Any) -> None:
    with raises_input_error("out-of-range", flag_of(name)):
        Options.from_mapping({name: value}, "test").check()


def test_load_missing_file_raises(tmp_path: Path) -> None:
    with raises_input_error("unreadable-file", "cannot read .*nowhere.toml: No such file"):
        Options.load(tmp_path / "nowhere.toml")


@pytest.mark.parametrize(
    "content",
    [
        b"budget = = 3",
        b"topic = \xff",
        b"budget = 1\nbudget = 2",
        b"a = " + b"[" * 5_000,
        b"a." * 20_000 + b"b = 1",
        b"budget = " + b"1" * 5_000,
    ],
)
def test_load_invalid_toml_raises(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "crawl.toml"
    path.write_bytes(content)
    with raises_input_error("bad-file", r"crawl\.toml is not valid TOML"):
        Options.load(path)


def test_load_too_large_file_raises(tmp_path: Path) -> None:
    path = tmp_path / "crawl.toml"
    path.write_bytes(b"#" * 1_000_001)
    with raises_input_error("too-large", "more than 1,000,000"):
        Options.load(path)


@pytest.mark.paper("batsakis-1000-pages")
def test_default_of_lists_is_empty() -> None:
    assert [] == default_of(Options.__dataclass_fields__["seeds"])
    assert 1000 == default_of(Options.__dataclass_fields__["budget"])


@pytest.mark.parametrize(
    ("options", "files"),
    [
        (Options(), {}),
        (Options(model="m", background="b"), {"model": "m", "background": "b"}),
        (Options(strategy="rules,file=r.tsv,depth=3"), {"strategy": "r.tsv"}),
        (Options(strategy="oracle, scores = t.tsv"), {"strategy": "t.tsv"}),
        (Options(strategy=r"rules,file=a\,b.tsv"), {"strategy": "a,b.tsv"}),
        (Options(strategy="rules,file="), {}),
        (Options(strategy="best-first,merge=sum", terms="t", seed_files=["s"]), {}),
    ],
)
def test_files_of_crawl_are_listed(options: Options, files: dict[str, str]) -> None:
    assert files == options.files()


@pytest.mark.parametrize(
    ("strategy", "changed"),
    [
        ("rules,file=old,depth=3", "rules,file=new.tsv,depth=3"),
        ("rules, depth=3, file = old", "rules,depth=3,file=new.tsv"),
        ("rules,file=sum,paths=sum", "rules,file=new.tsv,paths=sum"),
        ("oracle,scores=a=b.tsv", "oracle,scores=new.tsv"),
    ],
)
def test_files_replaced_in_options_keep_other_values(strategy: str, changed: str) -> None:
    options = Options(strategy=strategy, model="m", budget=7)
    assert Options(strategy=changed, model="m", budget=7) == options.with_files({"strategy": "new.tsv"})
    assert Options(strategy=strategy, model="n", budget=7) == options.with_files({"model": "n"})
    assert strategy == options.strategy


def test_files_replaced_may_have_any_name() -> None:
    names = {"model": "/a, b/m", "background": "/a=b/c,d", "strategy": "/a, b/x=1,y=2.tsv"}
    options = Options(model="m", background="b", strategy="rules,file=r,refine=yes").with_files(names)
    assert names == options.files()
    assert options == options.with_files(options.files())


def test_files_of_invalid_strategy_are_empty() -> None:
    with raises_input_error("bad-value", "cannot read 'file'"):
        Options(strategy="rules,file").files()
