"""Search keywords of a text."""

from lycosa.text.keywords import keywords


def test_keywords_skips_stop_words_numbers_and_short_words() -> None:
    assert ["reefs", "corals", "reefs"] == keywords("The 3 Reefs of 1998: corals, an ox, CO2 and REEFS")


def test_keywords_uses_stop_words_of_language() -> None:
    assert ["riffe", "südsee"] == keywords("Die Riffe der Südsee", "de-AT")
    assert ["die", "riffe"] == keywords("die Riffe")


def test_keywords_skips_overlong_words() -> None:
    assert ["x" * 40] == keywords("x" * 40 + " " + "x" * 41)
