"""Options: the file that explains itself comes back as it was, and what is wrong is named."""

import dataclasses
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
def test_toml_round_trip(options: Options) -> None:
    """What is written as TOML is read back equal, whatever the values."""
    import tomllib

    assert options == Options.from_mapping(tomllib.loads(options.to_toml()), "test")


def test_defaults_are_commented_out() -> None:
    """A file of defaults sets nothing, but names every option."""
    import tomllib

    text = Options().to_toml()
    assert {} == tomllib.loads(text)
    assert all(f"# {item.name} = " in text for item in dataclasses.fields(Options))


def test_load_and_save(tmp_path: Path) -> None:
    """A file on disk gives the options that made it."""
    path = tmp_path / "crawl.toml"
    options = Options(topic='a "quoted"\ttopic \\ ünï', seeds=["http://a.test/"], budget=5, delay=0.25)
    path.write_text(options.to_toml(), encoding="utf-8")
    assert options == Options.load(path)


def test_every_option_has_help_and_group() -> None:
    """Each option is described: a sentence, a group, a flag."""
    for name, flag, kind, default, group, help in describe():
        assert help.endswith((".", ".)")), name
        assert group, name
        assert flag in (name, "--" + flag.removeprefix("--")), name
        assert isinstance(default, kind if isinstance(kind, type) else list), name


def test_option_without_flag(tmp_path: Path) -> None:
    """It is read from a file, and no command has it."""
    (tmp_path / "crawl.toml").write_text("min_rate = 5.0", "utf-8")
    assert 5.0 == Options.load(tmp_path / "crawl.toml").min_rate
    names = {parameter.name for parameter in crawl_options()}
    assert "min_rate" not in names
    assert "max_body" in names


def test_flags_are_unique() -> None:
    """No two options share a flag."""
    flags = [flag_of(item.name) for item in dataclasses.fields(Options)]
    assert len(set(flags)) == len(flags)


def test_lists_are_not_shared() -> None:
    """Two sets of options have lists of their own."""
    Options().seeds.append("x")
    assert [] == Options().seeds


def test_defaults_pass_the_check() -> None:
    """The defaults are values that can work."""
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
def test_wrong_values_are_named(values: dict[str, Any], message: str) -> None:
    """A wrong key or type is an error that says which, where and what is expected."""
    with pytest.raises(InputError) as error:
        Options.from_mapping(values, "crawl.toml")
    assert message in str(error.value)
    assert str(error.value).startswith("crawl.toml: ")


def test_lenient_values() -> None:
    """A whole number will do for a float, and a string for a list of one."""
    options = Options.from_mapping({"delay": 2, "seeds": "http://a.test/"}, "test")
    assert (2.0, float, ["http://a.test/"]) == (options.delay, type(options.delay), options.seeds)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("budget", 0), ("concurrency", 0), ("per_host", 0), ("attempts", 0), ("delay", -1.0), ("timeout", 0.0),
        ("max_body", 0), ("max_depth", -1), ("delay", float("nan")), ("delay", float("inf")), ("threshold", -0.1),
    ],
)  # fmt: skip
def test_values_that_can_not_work(name: str, value: Any) -> None:
    """A number out of range is refused, by the name it has on the command line."""
    with pytest.raises(InputError, match=flag_of(name)):
        Options.from_mapping({name: value}, "test").check()


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    """A file that can't be read is named, with the reason."""
    with pytest.raises(InputError, match=r"cannot read .*nowhere.toml: No such file"):
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
def test_a_file_that_is_not_toml(tmp_path: Path, content: bytes) -> None:
    """A file that isn't TOML is named as such."""
    path = tmp_path / "crawl.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"crawl\.toml is not valid TOML"):
        Options.load(path)


def test_a_file_that_is_too_large(tmp_path: Path) -> None:
    """Nobody writes a megabyte of options."""
    path = tmp_path / "crawl.toml"
    path.write_bytes(b"#" * 1_000_001)
    with pytest.raises(InputError, match="more than 1,000,000 bytes"):
        Options.load(path)


@pytest.mark.paper("batsakis-1000-pages")
def test_default_of_lists() -> None:
    """The default of a list is an empty list."""
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
def test_files_that_a_crawl_goes_by(options: Options, files: dict[str, str]) -> None:
    """Model, statistics and the file of a strategy, wherever they are named; what the log keeps is not among them."""
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
def test_files_in_another_place(strategy: str, changed: str) -> None:
    """Only the name of the file changes, whatever else is spelled alike."""
    options = Options(strategy=strategy, model="m", budget=7)
    assert Options(strategy=changed, model="m", budget=7) == options.with_files({"strategy": "new.tsv"})
    assert Options(strategy=strategy, model="n", budget=7) == options.with_files({"model": "n"})
    assert strategy == options.strategy


def test_files_come_back_whatever_they_are_called() -> None:
    """A directory may have commas and equal signs in its name."""
    names = {"model": "/a, b/m", "background": "/a=b/c,d", "strategy": "/a, b/x=1,y=2.tsv"}
    options = Options(model="m", background="b", strategy="rules,file=r,refine=yes").with_files(names)
    assert names == options.files()
    assert options == options.with_files(options.files())


def test_a_strategy_that_can_not_be_read() -> None:
    """It is an error of the user's, told as ever."""
    with pytest.raises(InputError, match="cannot read 'file' in 'rules,file'"):
        Options(strategy="rules,file").files()
