"""Trees of classes: spellings, merging, targets."""

from __future__ import annotations

import pytest

from lycosa.core.errors import InputError
from lycosa.judges.taxonomy import classes_of, path_of, spellings, wanted


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
def test_a_path_has_one_spelling(text: str, path: str) -> None:
    """Blanks, empty parts, composition and broken names do not make another path."""
    assert path == path_of(text)


def test_upper_and_lower_case_meet() -> None:
    """Of spellings that differ in case the most frequent wins, at each level."""
    assert {"Sea/Reefs": "Sea/Reefs", "sea/reefs": "Sea/Reefs", "SEA/Fish": "Sea/Fish"} == spellings(
        {"Sea/Reefs": 5, "sea/reefs": 2, "SEA/Fish": 1}
    )


@pytest.mark.paper("rules-merge-leaves")
def test_small_leaves_go_into_their_parents_one_by_one() -> None:
    """A leaf below the limit gives its pages to its parent, which may then be a leaf and large enough."""
    counts = {"Sci/Phys/Optics": 60, "Sci/Phys/Sound": 100, "Sci/Bio": 200, "Art": 40}
    found = classes_of(counts, 150)
    assert ["Art", "Sci/Bio", "Sci/Phys"] == found.names
    assert {"Sci/Phys/Optics": "Sci/Phys", "Sci/Phys/Sound": "Sci/Phys"} == found.merged
    assert ("Sci/Phys", "Sci/Phys") == (found.of["Sci/Phys/Optics"], found.of["Sci/Phys/Sound"])
    assert 0 == found.inner


def test_merging_can_go_all_the_way_up() -> None:
    """What is too small at every level ends in a class of the first level, which stays whatever its size."""
    assert ["Art", "Sci"] == classes_of({"Sci/Phys/Optics": 10, "Sci/Bio": 20, "Art": 5}, 150).names


@pytest.mark.paper("rules-leaves-only")
def test_leaves_only_as_in_the_paper() -> None:
    """Pages that are moved to an inner node, or were there, are left out when other leaves remain below it."""
    found = classes_of({"Sci": 30, "Sci/Phys": 200, "Sci/Bio": 20, "Art": 160}, 150)
    assert (["Art", "Sci/Phys"], 50) == (found.names, found.inner)


@pytest.mark.paper("rules-whole-tree")
def test_the_whole_tree_has_inner_classes() -> None:
    """With the whole tree an inner node is a class of its own pages and of those of its small children."""
    found = classes_of({"Sci": 30, "Sci/Phys": 200, "Sci/Bio": 20, "Art": 160}, 150, whole_tree=True)
    assert (["Art", "Sci", "Sci/Phys"], 0) == (found.names, found.inner)
    assert ("Sci", "Sci") == (found.of["Sci"], found.of["Sci/Bio"])


def test_an_inner_node_without_enough_pages_gives_them_up() -> None:
    """In the whole tree an inner node with few pages hands them to its parent; its children stay."""
    found = classes_of({"A/B": 5, "A/B/C": 50, "A": 60, "D": 60}, 20, whole_tree=True)
    assert ["A", "A/B/C", "D"] == found.names
    assert "A" == found.of["A/B"]


def test_small_classes_stay_by_default() -> None:
    """Twenty pages in each class: nothing is merged. One that is far smaller than the others is."""
    assert 4 == len(classes_of({"S/P": 20, "S/B": 21, "A/M": 19, "A/P": 20}).names)
    found = classes_of({"S/P": 20, "S/B": 20, "S/C": 4, "A": 20})
    assert (["A", "S/B", "S/P"], 10) == (found.names, found.least)


def test_the_default_is_never_more_than_the_papers() -> None:
    """Half the median of large classes would be 500; 150 is enough."""
    assert 150 == classes_of({"A/X": 1000, "A/Y": 1000, "B": 200}).least


def test_a_class_of_two_pages_is_left_out() -> None:
    """Two pages can't be learned from and tested on."""
    found = classes_of({"A": 10, "B": 10, "C": 2})
    assert (["A", "B"], {"C": 2}) == (found.names, found.tiny)


@pytest.mark.parametrize(
    ("counts", "least", "told"),
    [
        ({}, 0, "there is no page with a class"),
        ({"A": 0}, 0, "there is no page with a class"),
        ({"A": 50}, 0, "all pages are of one class, A: give pages of another class"),
        ({"S/P": 20, "S/B": 30}, 150, "--least 20 leaves 2 classes"),
        ({"S/P": 5, "S/B": 30, "S/C": 40}, 150, "--least 30 leaves 2 classes"),
        ({"A": 50, "B": 2}, 0, "the class B has 2 page\\(s\\) only: a class needs 3"),
        ({"A": 50, "A/B": 50}, 20, "add --whole-tree"),
    ],
)
def test_what_cannot_be_told_apart(counts: dict[str, int], least: int, told: str) -> None:
    """Fewer than two classes is an error that says what would help."""
    with pytest.raises(InputError, match=told):
        classes_of(counts, least)


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
def test_a_target_is_a_class_or_a_branch(targets: list[str], named: list[str], marks: list[int]) -> None:
    """A branch means all below it; targets are spelt as the model does, and named once."""
    assert (named, [bool(mark) for mark in marks]) == wanted(CLASSES, targets)


def test_a_name_that_begins_like_another_is_not_its_branch() -> None:
    """Sea is not a branch that holds Seals."""
    assert [True, False] == wanted(["Sea/Fish", "Seals"], ["Sea"])[1]


@pytest.mark.parametrize("name", ["relevant", "Yes", "POSITIVE", "1"])
def test_the_wanted_one_of_two_need_not_be_named(name: str) -> None:
    """Of two classes, one called relevant, yes, positive or 1 is the target."""
    assert ([name], [False, True]) == wanted(["irrelevant", name], [])


@pytest.mark.parametrize(
    ("classes", "targets", "told"),
    [
        (CLASSES, ["Sci/Phisics"], r"no class 'Sci/Phisics': did you mean .*Sci/Physics"),
        (CLASSES, ["Birds"], r"did you mean .*Sci/Bio/Birds"),
        (CLASSES, ["Cooking"], "it knows Art, Sci$"),
        (CLASSES, [""], "no class ''"),
        (CLASSES, [], "which class is wanted\\? Name it with --target: Art, Sci/Bio/Birds"),
        (["a", "b"], [], "which class is wanted"),
        (["yes", "relevant"], [], "which class is wanted"),
        (CLASSES, ["Sci", "Art"], "is all that the model knows"),
        ([f"c{n:02}" for n in range(30)], [], "c19 and 10 more"),
    ],
)
def test_targets_that_mean_nothing(classes: list[str], targets: list[str], told: str) -> None:
    """An unknown target is told its nearest names; no target the classes there are."""
    with pytest.raises(InputError, match=told):
        wanted(classes, targets)
