"""Taxonomies: spellings, choice of classes, targets."""

from __future__ import annotations

import pytest

from input_errors import raises_input_error
from lycosa.judges.taxonomy import choose_classes, common_spellings, path_of, resolve_targets


@pytest.mark.paper("rules-taxonomy")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Science/Physics", "Science/Physics"),
        ("/Science//Physics/", "Science/Physics"),
        ("  Science /  Solid   state\t", "Science/Solid state"),
        ("Cafe\u0301", "Café"),
        ("///", ""),
        ("", ""),
        ("bad\udcff", "bad?"),
        ("red\x1b[31m/line\nend", "red[31m/line end"),
    ],
)
def test_path_of_normalises(text: str, path: str) -> None:
    assert path == path_of(text)


def test_common_spellings_ignore_case() -> None:
    assert {"Sea/Reefs": "Sea/Reefs", "sea/reefs": "Sea/Reefs", "SEA/Fish": "Sea/Fish"} == common_spellings(
        {"Sea/Reefs": 5, "sea/reefs": 2, "SEA/Fish": 1}
    )


@pytest.mark.paper("rules-merge-leaves")
def test_choose_classes_merges_small_leaves() -> None:
    counts = {"Sci/Phys/Optics": 60, "Sci/Phys/Sound": 100, "Sci/Bio": 200, "Art": 40}
    found = choose_classes(counts, 150)
    assert ["Art", "Sci/Bio", "Sci/Phys"] == found.names
    assert {"Sci/Phys/Optics": "Sci/Phys", "Sci/Phys/Sound": "Sci/Phys"} == found.merged
    assert ("Sci/Phys", "Sci/Phys") == (found.of["Sci/Phys/Optics"], found.of["Sci/Phys/Sound"])
    assert 0 == found.inner


def test_choose_classes_merges_up_to_first_level() -> None:
    assert ["Art", "Sci"] == choose_classes({"Sci/Phys/Optics": 10, "Sci/Bio": 20, "Art": 5}, 150).names


@pytest.mark.paper("rules-leaves-only")
def test_choose_classes_drops_pages_of_inner_nodes() -> None:
    found = choose_classes({"Sci": 30, "Sci/Phys": 200, "Sci/Bio": 20, "Art": 160}, 150)
    assert (["Art", "Sci/Phys"], 50) == (found.names, found.inner)


@pytest.mark.paper("rules-whole-tree")
def test_choose_classes_whole_tree_keeps_inner_nodes() -> None:
    found = choose_classes({"Sci": 30, "Sci/Phys": 200, "Sci/Bio": 20, "Art": 160}, 150, whole_tree=True)
    assert (["Art", "Sci", "Sci/Phys"], 0) == (found.names, found.inner)
    assert ("Sci", "Sci") == (found.of["Sci"], found.of["Sci/Bio"])


def test_choose_classes_whole_tree_merges_small_inner_nodes() -> None:
    found = choose_classes({"A/B": 5, "A/B/C": 50, "A": 60, "D": 60}, 20, whole_tree=True)
    assert ["A", "A/B/C", "D"] == found.names
    assert "A" == found.of["A/B"]


def test_choose_classes_keeps_uniformly_small_classes() -> None:
    assert 4 == len(choose_classes({"S/P": 20, "S/B": 21, "A/M": 19, "A/P": 20}).names)
    found = choose_classes({"S/P": 20, "S/B": 20, "S/C": 4, "A": 20})
    assert (["A", "S/B", "S/P"], 10) == (found.names, found.least)


def test_choose_classes_default_is_at_most_150() -> None:
    assert 150 == choose_classes({"A/X": 1000, "A/Y": 1000, "B": 200}).least


def test_choose_classes_drops_tiny_classes() -> None:
    found = choose_classes({"A": 10, "B": 10, "C": 2})
    assert (["A", "B"], {"C": 2}) == (found.names, found.too_small)


@pytest.mark.parametrize(
    ("counts", "least", "code", "message"),
    [
        ({}, 0, "no-pages", "no page has a class"),
        ({"A": 0}, 0, "no-pages", "no page has a class"),
        ({"A": 50}, 0, "too-few-classes", "all pages are in one class, A: add pages of another class"),
        ({"S/P": 20, "S/B": 30}, 150, "too-few-classes", "--least 20 gives 2 classes"),
        ({"S/P": 5, "S/B": 30, "S/C": 40}, 150, "too-few-classes", "--least 30 gives 2 classes"),
        ({"A": 50, "B": 2}, 0, "too-few-classes", "the class B has only 2 page\\(s\\): it needs at least 3"),
        ({"A": 50, "A/B": 50}, 20, "too-few-classes", "add --whole-tree"),
    ],
)
def test_choose_classes_rejects_single_class(counts: dict[str, int], least: int, code: str, message: str) -> None:
    with raises_input_error(code, message):
        choose_classes(counts, least)


CLASSES = ["Art", "Sci/Bio/Birds", "Sci/Bio/Fish", "Sci/Physics"]


@pytest.mark.parametrize(
    ("targets", "named", "marks"),
    [
        (["Art"], ["Art"], [1, 0, 0, 0]),
        (["Sci"], ["Sci"], [0, 1, 1, 1]),
        (["sci / bio/"], ["Sci/Bio"], [0, 1, 1, 0]),
        (["Sci/Physics", "Art", "Art"], ["Sci/Physics", "Art"], [1, 0, 0, 1]),
    ],
)
def test_resolve_targets_accepts_class_or_branch(targets: list[str], named: list[str], marks: list[int]) -> None:
    assert (named, [bool(mark) for mark in marks]) == resolve_targets(CLASSES, targets)


def test_resolve_targets_ignores_common_prefix() -> None:
    assert [True, False] == resolve_targets(["Sea/Fish", "Seals"], ["Sea"])[1]


@pytest.mark.parametrize("name", ["relevant", "Yes", "POSITIVE", "1"])
def test_resolve_targets_default_is_usual_name(name: str) -> None:
    assert ([name], [False, True]) == resolve_targets(["irrelevant", name], [])


@pytest.mark.parametrize(
    ("classes", "targets", "code", "message"),
    [
        (CLASSES, ["Sci/Phisics"], "unknown-name", r"no class 'Sci/Phisics': did you mean .*Sci/Physics"),
        (CLASSES, ["Birds"], "unknown-name", r"did you mean .*Sci/Bio/Birds"),
        (CLASSES, ["Cooking"], "unknown-name", "available: Art, Sci$"),
        (CLASSES, [""], "unknown-name", "no class ''"),
        (CLASSES, [], "missing-option", "choose with --target: Art, Sci/Bio/Birds"),
        (["a", "b"], [], "missing-option", "choose with --target"),
        (["yes", "relevant"], [], "missing-option", "choose with --target"),
        (CLASSES, ["Sci", "Art"], "bad-value", "includes all classes"),
        ([f"c{n:02}" for n in range(30)], [], "missing-option", "c19 and 10 more"),
    ],
)
def test_resolve_targets_rejects_bad_targets(classes: list[str], targets: list[str], code: str, message: str) -> None:
    with raises_input_error(code, message):
        resolve_targets(classes, targets)
