"""Names with parameters, as people type them."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.core.errors import InputError
from lycosa.core.spec import make_with, describe_type, parameters, parse_spec, format_spec

NONE = inspect.Parameter.empty

WORDS = st.text("abcxyz._019", min_size=1)


@dataclass
class Kettle:
    """Something with every kind of parameter that can be typed."""

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


# -- parse ---------------------------------------------------------------------------------------------------


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
def test_a_name_and_its_parameters(text: str, expected: tuple[str, dict[str, str]]) -> None:
    """A name, then key=value with commas in between; spaces don't matter, and a dash in a key is an underscore."""
    assert expected == parse_spec(text)


@pytest.mark.parametrize("text", ["a,b", "a,", "a,=3", "a,b=1,,c=2"])
def test_what_is_no_pair_is_refused(text: str) -> None:
    """A part without a key or without an equals sign is named in the message."""
    with pytest.raises(InputError, match=r"cannot read .* write a name, then key=value"):
        parse_spec(text)


@pytest.mark.parametrize("text", ["a,b=1,b=2", "a,max-depth=1,max_depth=2", "a,max_depth=1,max-depth=2"])
def test_a_key_is_given_once(text: str) -> None:
    """The same key twice is refused, however it is spelled."""
    with pytest.raises(InputError, match="given twice"):
        parse_spec(text)


@given(WORDS, st.dictionaries(WORDS, WORDS))
def test_what_was_written_is_read(name: str, pairs: dict[str, str]) -> None:
    """Any names and values come back as they were written."""
    assert (name, pairs) == parse_spec(",".join([name, *(f"{key}={value}" for key, value in pairs.items())]))


# -- parameters ----------------------------------------------------------------------------------------------


def test_parameters_that_can_be_typed() -> None:
    """Each with its type and default; what is learned, and what nobody can type, is left out."""
    assert {
        "litres": (float, NONE),
        "cups": (int, 4),
        "whistle": (bool, True),
        "label": (str, ""),
        "size": (Literal["small", "large"], "small"),
        "teas": (tuple[str, ...], ("green",)),
        "warm": (float | None, None),
    } == parameters(Kettle)


def test_parameters_without_annotations() -> None:
    """Where nothing is annotated the default tells the type; text, if there is none."""

    def pour(cups=2, strength=0.5, iced=False, into="mug", whom=None):  # type: ignore[no-untyped-def]
        return cups, strength, iced, into, whom

    expected = {"cups": int, "strength": float, "iced": bool, "into": str, "whom": str}
    assert expected == {name: kind for name, (kind, _) in parameters(pour).items()}
    given = {"cups": "3", "strength": ".25", "iced": "yes", "into": "7"}
    assert (3, 0.25, True, "7", None) == make_with(pour, given, "pour")


def test_parameters_of_a_class_without_any() -> None:
    """A class without __init__ takes none, and says so."""

    class Nothing:
        pass

    assert {} == parameters(Nothing)
    with pytest.raises(InputError, match="nothing has no parameter 'a': it takes none"):
        make_with(Nothing, {"a": "1"}, "nothing")


def test_further_arguments_are_no_parameters() -> None:
    """`*args` and `**rest` are neither needed nor offered."""

    def anything(first: int = 1, *args: Any, **rest: Any) -> int:
        return first + len(args) + len(rest)

    assert {"first": (int, 1)} == parameters(anything)
    assert 2 == make_with(anything, {"first": "2"}, "anything")


# -- build ---------------------------------------------------------------------------------------------------


def test_values_get_their_types() -> None:
    """Numbers, truth, text, choices and names with + in between."""
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
def test_truth(text: str, expected: bool) -> None:
    """Yes and no, true and false, on and off, 1 and 0, in any case."""
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
def test_a_bad_value_is_refused(key: str, text: str, wanted: str) -> None:
    """The message names the parameter, what was typed, and what it has to be."""
    with pytest.raises(InputError, match=f"{key} of kettle is .* it must be (a )?{wanted}"):
        make_with(Kettle, {"litres": "1", key: text}, "kettle")


def test_an_unknown_parameter_is_refused() -> None:
    """The message lists what there is."""
    with pytest.raises(InputError, match=r"kettle has no parameter 'lid': it takes litres, cups, .*warm$"):
        make_with(Kettle, {"lid": "1"}, "kettle")


@pytest.mark.parametrize("key", ["column_", "shape"])
def test_what_cannot_be_typed_is_unknown(key: str) -> None:
    """Arrays and learned attributes can't be set from outside."""
    with pytest.raises(InputError, match="has no parameter"):
        make_with(Kettle, {"litres": "1", key: "1"}, "kettle")


def test_a_missing_parameter_is_named() -> None:
    """The message says how to give it."""
    with pytest.raises(InputError, match="kettle needs litres: write kettle,litres="):
        make_with(Kettle, {}, "kettle")


def test_known_facts_are_given_to_those_who_take_them() -> None:
    """A fact that has a parameter is passed, others are not, and what was typed counts more."""
    assert 2.5 == make_with(Kettle, {}, "kettle", litres=2.5, seed=7).litres
    assert 1.0 == make_with(Kettle, {"litres": "1"}, "kettle", litres=2.5).litres


def test_what_the_class_refuses_is_told() -> None:
    """A ValueError of the class becomes an InputError with its name."""
    with pytest.raises(InputError, match=r"kettle: litres is -1\.0: it must be more than 0"):
        make_with(Kettle, {"litres": "-1"}, "kettle")


def test_choices_that_are_numbers() -> None:
    """A choice of numbers gives the number, not its text."""

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
def test_types_as_people_read_them(kind: Any, expected: str) -> None:
    """Each type that can be typed has a name; one that may be left out has the same."""
    assert expected == describe_type(kind)


@given(WORDS, st.dictionaries(st.text("abc_", min_size=1), st.text("ab,=./ \u00e4", max_size=12).map(str.strip)))
def test_what_is_spelled_is_parsed(name: str, given: dict[str, str]) -> None:
    """Names of files may have commas and equal signs in them."""
    assert (name, given) == parse_spec(format_spec(name, given))
