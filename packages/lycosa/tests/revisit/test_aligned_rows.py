"""Two compared texts: the diff is correct, and changes are where a reader expects them."""

from __future__ import annotations

import gc
import random
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lycosa.drawing.formats import visible
from lycosa.revisit.diff.aligned_rows import BREAK, Diff, bare, blocks, diff
from work import lines

LETTERS = st.sampled_from("aab  \n\n.c珊瑚\u202e\x1b\u00ad\u0301-é\x03\r\x1c\u2028")
WORDS = st.lists(st.sampled_from(["the", "reef", "of", "coral", "sea", "bleaches", "\n", "\n", "珊瑚礁"]), max_size=60)
TEXTS = st.one_of(st.text(LETTERS, max_size=200), st.text(max_size=60), WORDS.map(" ".join))


def flat(text: str) -> list[str]:
    return [word for block in blocks(text) for word in block]


def applied(old: str, found: Diff) -> list[str]:
    """Apply a diff to the old text, checking removed and kept words."""
    left = [bare(word) for word in flat(old)]
    new = []
    for row in found.rows:
        for run in row.runs:
            for word in run.words:
                if word == BREAK:
                    continue
                if run.state != "added":
                    assert bare(word) == left.pop(0)
                if run.state != "removed":
                    new.append(bare(word))
    assert [] == left
    return new


@given(TEXTS, TEXTS)
def test_diff_applied_gives_new_text(old: str, new: str) -> None:
    found = diff(old, new)
    assert [bare(word) for word in flat(new)] == applied(old, found)
    assert found.new_words - found.old_words == found.added - found.removed
    assert (found.old_words, found.new_words) == (len(flat(old)), len(flat(new)))
    assert 0 <= found.share <= 1


@given(TEXTS)
def test_diff_of_equal_texts_has_no_changes(text: str) -> None:
    found = diff(text, text)
    assert {"same"} >= {row.state for row in found.rows}
    assert (0, 0, 0.0) == (found.removed, found.added, found.share)


def states(found: Diff) -> list[str]:
    return [row.state for row in found.rows]


def runs(found: Diff, row: int) -> list[tuple[str, str]]:
    return [(run.state, run.text) for run in found.rows[row].runs]


def test_diff_aligns_blocks_first() -> None:
    found = diff("The reef is old.\nIt is large.", "The reef is old.\nFish live in the reef.\nIt is large.")
    assert ["same", "added", "same"] == states(found)
    assert [("added", "Fish live in the reef.")] == runs(found, 1)


def test_diff_changed_blocks_are_side_by_side() -> None:
    """The share is that of removed and added words in both texts: (2 + 2) of 2 * (5 + 3)."""
    found = diff("Corals bleach in warm water.\nSee also fish.", "Corals die in warm water.\nSee also crabs.")
    assert ["changed", "changed"] == states(found)
    kept, removed, added, rest = runs(found, 0)
    assert [("kept", "Corals"), ("removed", "bleach"), ("added", "die")] == [kept, removed, added]
    assert ("kept", "in warm water.") == rest
    assert (2, 2, 4 / 16) == (found.removed, found.added, found.share)


def test_diff_replaced_blocks_without_common_words() -> None:
    assert [("removed", "Old heading"), ("added", "Something new")] == runs(diff("Old heading", "Something new"), 0)


def test_diff_dissimilar_blocks_are_removed_and_added() -> None:
    old = "Under the sea there are many fish"
    found = diff(old, "Prices rose again in March, says the bank\nof Spain")
    assert ["removed", "added", "added"] == states(found)


def test_diff_split_paragraph_is_one_row() -> None:
    old = "Corals grow slowly in the sea and they bleach when it is too warm for weeks."
    found = diff(old, old.replace(" and they", "\nand they"))
    assert [("kept", "Corals grow slowly in the sea"), ("added", "\n")] == runs(found, 0)[:2]
    assert (["changed"], 0, 0) == (states(found), found.removed, found.added)


def test_diff_marks_moved_block() -> None:
    lines = ["One is here today.", "Corals bleach in warm water.", "Two is there now.", "Three is where it was."]
    found = diff("\n".join(lines), "\n".join([lines[0], lines[2], lines[3], lines[1]]))
    assert ["same", "moved away", "same", "same", "moved here"] == states(found)
    assert (0, 0, 5) == (found.removed, found.added, found.moved)


def test_diff_short_blocks_do_not_move() -> None:
    assert ["added", "same", "removed"] == states(diff("Reefs\nRead more", "Read more\nReefs"))


def test_diff_moved_block_within_row_belongs_to_it() -> None:
    moved = "These five words have moved."
    halves = "Corals grow slowly in the sea and they bleach", "when it is too warm for weeks on end."
    stays = ["A line that stays here.", "And another one."]
    old = [moved, *stays, " ".join(halves)]
    new = [*stays, halves[0], moved, halves[1]]
    found = diff("\n".join(old), "\n".join(new))
    assert ["removed", "same", "same", "changed"] == states(found)
    assert (5, 5, 0) == (found.removed, found.added, found.moved)


def test_diff_shifts_changes_to_readable_place() -> None:
    found = diff("all coral reefs grow", "all coral bleaches and all coral reefs grow")
    assert [("added", "all coral bleaches and"), ("kept", "all coral reefs grow")] == runs(found, 0)


def test_diff_merges_changes_across_tiny_kept_words() -> None:
    start = "Here is where the old text begins and goes on for a while:"
    found = diff(f"{start} a b c of d e f end.", f"{start} u v w of x y z end.")
    assert ("removed", "a b c of d e f") == runs(found, 0)[1]


def test_diff_ignores_whitespace_and_invisible_characters() -> None:
    assert ["same"] == states(diff("a\tb  c", "a b\u202e c\u00ad"))
    assert ["same"] == states(diff("珊 瑚", "珊瑚"))


def test_diff_compares_scripts_without_spaces_by_character() -> None:
    assert [("added", "大"), ("kept", "珊瑚礁")] == runs(diff("珊瑚礁", "大珊瑚礁"), 0)


def test_diff_cuts_long_words_after_punctuation() -> None:
    old = "https://example.org/reefs/2024/bleaching/pictures/of/corals"
    changed = [run for run in runs(diff(old, old.replace("2024", "2025")), 0) if run[0] != "kept"]
    assert [("removed", "2024/"), ("added", "2025/")] == changed


def test_diff_of_empty_text_adds_or_removes_all() -> None:
    assert [] == diff("", " \n ").rows
    assert ["added"] == states(diff("", "Reefs"))
    assert ["removed"] == states(diff("Reefs", ""))
    assert 1.0 == diff("", "Reefs").share


def test_visible_removes_control_characters() -> None:
    assert "a b\nc\u200cd" == visible("a\x1bb\nc\u200c\x01d\x02\u00ad")


@pytest.mark.parametrize("on", [True, False])
def test_diff_restores_garbage_collector(on: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if on else gc.disable)()
        diff("a", "b")
        assert on == gc.isenabled()
    finally:
        (gc.enable if was else gc.disable)()


def test_diff_work_is_subquadratic() -> None:
    chance = random.Random(4)
    words = [f"w{number}" for number in range(5000)]

    def pair(length: int, line: int) -> tuple[str, str]:
        old = chance.choices(words, k=length)
        new = [word if chance.random() < 0.9 else chance.choice(words) for word in old]
        told = ["\n".join(" ".join(text[at : at + line]) for at in range(0, length, line)) for text in (old, new)]
        return told[0], told[1]

    for line in (16, 10**9, 1):
        short, long = pair(2_000, line), pair(8_000, line)
        assert lines(partial(diff, *long)) < 8 * lines(partial(diff, *short))
