"""Keyed random values."""

from lycosa.testweb.chance import dice, pick, roll, stir


def test_stir_depends_on_every_part() -> None:
    assert len({stir(*parts) for parts in [(1, "a"), (1, "b"), (2, "a"), ("a", 1), (1,), ("1", "a")]}) == 6


def test_roll_is_uniform() -> None:
    rolls = sorted(roll("key", number) for number in range(1000))
    assert 0.0 <= rolls[0] < rolls[-1] < 1.0
    assert abs(rolls[500] - 0.5) < 0.05


def test_pick_uses_every_item() -> None:
    assert {pick(("a", "b", "c"), "key", number) for number in range(50)} == {"a", "b", "c"}


def test_dice_repeats_sequence_of_key() -> None:
    one, same, other = dice(1, "x"), dice(1, "x"), dice(2, "x")
    first = [one.random() for _ in range(5)]
    assert first == [same.random() for _ in range(5)] != [other.random() for _ in range(5)]
