"""Tests of names with parameters."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from input_errors import raises_input_error
from lycosa.core.spec import describe_type, format_spec, make_with, parameters, parse_spec

NONE = inspect.Parameter.empty

WORDS = st.text("abcxyz._019", min_size=1)


@dataclass
class Kettle:
    """Class with every type of parameter that can be given as text."""

    litres: float
    cups: int = 4
    whistle: bool = True
    label: str = ""
    size: Literal["small", "large"] = "small"
    teas: tuple[str, ...] = ("green",)
    warm: float | None = None
    column_: np.ndarray[Any, Any] = field(default_factory=lambda: np.zeros(0))
    shape: np.ndarray[Any, Any] | None = None

    def __post_init__(self) -> None:
        if self.litres <= 0:
            raise ValueError(f"litres is {self.litres}: it must be more than 0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("best-first", ("best-first", {})),
        ("best-first,merge=sum", ("best-first", {"merge": "sum"})),
        (" best-first , merge = sum ", ("best-first", {"merge": "sum"})),
        ("my.module:Class,max-depth=3", ("my.module:Class", {"max_depth": "3"})),
        ("a,key=", ("a", {"key": ""})),
        ("a,key=x=y", ("a", {"key": "x=y"})),
        ("", ("", {})),
    ],
)
def test_parse_returns_name_and_parameters(text: str, expected: tuple[str, dict[str, str]]) -> None:
    assert expected == parse_spec(text)


@pytest.mark.parametrize("text", ["a,b", "a,", "a,=3", "a,b=1,,c=2"])
def test_parse_refuses_malformed_pairs(text: str) -> None:
    with raises_input_error("bad-value", "cannot read .* write it as name,key=value"):
        parse_spec(text)


@pytest.mark.parametrize("text", ["a,b=1,b=2", "a,max-depth=1,max_depth=2", "a,max_depth=1,max-depth=2"])
def test_parse_refuses_duplicate_keys(text: str) -> None:
    with raises_input_error("duplicate", "given twice"):
        parse_spec(text)


@given(WORDS, st.dictionaries(WORDS, WORDS))
def test_format_spec_round_trip(name: str, pairs: dict[str, str]) -> None:
    assert (name, pairs) == parse_spec(",".join([name, *(f"{key}={value}" for key, value in pairs.items())]))


def test_parameters_use_annotations() -> None:
    assert {
        "litres": (float, NONE),
        "cups": (int, 4),
        "whistle": (bool, True),
        "label": (str, ""),
        "size": (Literal["small", "large"], "small"),
        "teas": (tuple[str, ...], ("green",)),
        "warm": (float | None, None),
    } == parameters(Kettle)


def test_parameters_without_annotations_use_types_of_defaults() -> None:
    def pour(cups=2, strength=0.5, iced=False, into="mug", whom=None):  # type: ignore[no-untyped-def]
        return cups, strength, iced, into, whom

    expected = {"cups": int, "strength": float, "iced": bool, "into": str, "whom": str}
    assert expected == {name: kind for name, (kind, _) in parameters(pour).items()}
    given = {"cups": "3", "strength": ".25", "iced": "yes", "into": "7"}
    assert (3, 0.25, True, "7", None) == make_with(pour, given, "pour")


def test_parameters_of_class_without_init_are_empty() -> None:
    class Nothing:
        pass

    assert {} == parameters(Nothing)
    with raises_input_error("unknown-option", "nothing has no"):
        make_with(Nothing, {"a": "1"}, "nothing")


def test_parameters_ignore_variadic_arguments() -> None:
    def anything(first: int = 1, *args: Any, **rest: Any) -> int:
        return first + len(args) + len(rest)

    assert {"first": (int, 1)} == parameters(anything)
    assert 2 == make_with(anything, {"first": "2"}, "anything")


def test_make_with_converts_values() -> None:
    given = {"litres": "1.5", "cups": "6", "whistle": "off", "label": "5", "size": "large", "teas": "green + black"}
    made = make_with(Kettle, {**given, "warm": ".5"}, "kettle")
    assert (1.5, 6, False, "5", "large", ("green", "black"), 0.5) == (
        made.litres,
        made.cups,
        made.whistle,
        made.label,
        made.size,
        made.teas,
        made.warm,
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("yes", True), ("TRUE", True), ("1", True), ("No", False), ("0", False)]
)
def test_make_with_parses_booleans(text: str, expected: bool) -> None:
    assert expected is make_with(Kettle, {"litres": "1", "whistle": text}, "kettle").whistle


@pytest.mark.parametrize(
    ("key", "text", "wanted"),
    [
        ("litres", "much", "number"),
        ("litres", "nan", "number"),
        ("litres", "-inf", "number"),
        ("litres", "", "number"),
        ("cups", "1.5", "whole number"),
        ("cups", "9" * 5_000, "whole number"),
        ("whistle", "perhaps", "yes or no"),
        ("size", "huge", "small or large"),
        ("warm", "very", "number"),
    ],
)
def test_make_with_refuses_bad_value(key: str, text: str, wanted: str) -> None:
    with raises_input_error("bad-value", f"{key} of kettle is .* it must be (a )?{wanted}"):
        make_with(Kettle, {"litres": "1", key: text}, "kettle")


def test_make_with_rejects_unknown_parameter() -> None:
    with raises_input_error("unknown-option", "kettle has no parameter 'lid': it takes litres, cups, .*warm$"):
        make_with(Kettle, {"lid": "1"}, "kettle")


@pytest.mark.parametrize("key", ["column_", "shape"])
def test_make_with_refuses_untypable_parameter(key: str) -> None:
    with raises_input_error("unknown-option", "has no parameter"):
        make_with(Kettle, {"litres": "1", key: "1"}, "kettle")


def test_make_with_names_missing_parameter() -> None:
    with raises_input_error("missing-option", "kettle needs litres"):
        make_with(Kettle, {}, "kettle")


def test_make_with_passes_known_arguments() -> None:
    assert 2.5 == make_with(Kettle, {}, "kettle", litres=2.5, seed=7).litres
    assert 1.0 == make_with(Kettle, {"litres": "1"}, "kettle", litres=2.5).litres


def test_make_with_reports_value_errors() -> None:
    with raises_input_error("bad-value", r"kettle: litres is -1\.0: it must be more than 0"):
        make_with(Kettle, {"litres": "-1"}, "kettle")


def test_make_with_converts_choices_to_numbers() -> None:
    def level(depth: Literal[1, 2] = 1) -> int:
        return depth

    assert 2 == make_with(level, {"depth": "2"}, "level")


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (float, "number"),
        (int, "whole number"),
        (bool, "yes or no"),
        (str, "text"),
        (float | None, "number"),
        (Literal["a", "b"], "a or b"),
        (Literal["a", "b"] | None, "a or b"),
        (tuple[str, ...], "names with + in between"),
    ],
)
def test_describe_type_names_annotations(kind: Any, expected: str) -> None:
    assert expected == describe_type(kind)


@given(WORDS, st.dictionaries(st.text("abc_", min_size=1), st.text("ab,=./ \u00e4", max_size=12).map(str.strip)))
def test_format_spec_quotes_file_names(name: str, given: dict[str, str]) -> None:
    assert (name, given) == parse_spec(format_spec(name, given))
