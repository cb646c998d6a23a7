"""Languages: codes, spelling, stop words, stems."""

import unicodedata

import pytest
import Stemmer
from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.core.types import Page
from lycosa.text import languages
from lycosa.text.languages import STEMMERS, Language, code_of, language
from lycosa.text.tokens import MAX_WORD_LENGTH, fold, stem_all, stems
from lycosa.text.vocabulary import Vocabulary
from tables import each

SPELLINGS = [
    ("de", "Häuser HÄUSER häuser haus", "haus"),
    ("de", "Straße STRASSE Straßen Stra\u00adße", "strass"),
    ("el", "θάλασσα ΘΑΛΑΣΣΑ θάλασσας ΘΆΛΑΣΣΑΣ", "θαλασσ"),
    ("el", "προϊόντα προιόντα ΠΡΟΪΟΝΤΑ", "προιοντ"),
    ("tr", "ISI ısı", "is"),
    ("tr", "İstanbul İSTANBUL istanbul", "istanbul"),
    ("tr", "KIZLAR kızlar Kızlar", "kiz"),
    ("ca", "col·legi coŀlegi COL·LEGI col•legi", "colleg"),
    ("fr", "œufs oeufs ŒUF", "oeuf"),
    ("ro", "școli şcoli ȘCOLI", "școl"),
    ("ru", "ёлка елка ЁЛКА", "елк"),
    ("ru", "за́мок замок", "замок"),
    ("sr", "риба riba РИБЕ ribama", "rib"),
    ("sr", "љубав ljubav ЉУБАВ", "ljubav"),
    ("ar", "كِتَاب كتاب كتـــاب", "كتاب"),
    ("fa", "كتاب کتاب کتاب‌ها", "کتاب"),
    ("yi", "אַרבעט ארבעט", "ארב"),
    ("hy", "ձո՛ւկ ձուկ", "ձուկ"),
    ("he", "שָׁלוֹם שלום", "שלום"),
    ("ur", "کِتاب کتاب", "کتاب"),
    ("hi", "किताबें किताब कि\u200dताब", "किताब"),
    ("ja", "ｶﾞｽ ガス", "ガス"),
]


@each(
    [
        ("de", "de"),
        ("de-AT", "de"),
        ("DE", "de"),
        ("pt_BR", "pt"),
        ("nb", "no"),
        ("nn-NO", "no"),
        ("no", "no"),
        ("sr-Latn-RS", "sr"),
        ("in", "id"),
        ("ger", "de"),
        ("deu", "de"),
        ("german", "de"),
        ("de-de, en", "de"),
        (" de ", "de"),
        ("de;q=0.8", "de"),
        ("zh-Hans", ""),
        ("ja", ""),
        ("uk", ""),
        ("hr", ""),
        ("tlh", ""),
        ("", "en"),
        (" ", "en"),
        ("und", "en"),
        ("mul", "en"),
        ("x-default", "en"),
        ("x" * 10_000, "en"),
        ("{{ lang }}", "en"),
        ("<script>", "en"),
        ("../../etc/passwd", "en"),
        ("\x00de", "en"),
        ("日本語", "en"),
        ("12", "en"),
    ]
)
def test_code_of_accepts_names_and_tags(declared: str, expected: str) -> None:
    assert expected == code_of(declared, "en")


def test_stemmers_cover_snowball() -> None:
    assert set() == set(Stemmer.algorithms()) - set(STEMMERS.values()) - {"porter", "dutch_porter"}


def test_language_without_stemmer_is_not_stemmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages.Stemmer, "algorithms", lambda: ["english"])
    polish: Language = language.__wrapped__("pl")
    assert ["rybami"] == polish.stems(["rybami"])
    assert "jest" in polish.stop_words


@each(SPELLINGS)
def test_stems_equal_for_all_spellings(code: str, text: str, expected: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert {expected} == set(stems(unicodedata.normalize(form, text), code))


@each(
    [
        ("fr", "L’eau d'un puits, aujourd’hui; jusqu'à l'hiver", ["eau", "puit", "hiv"]),
        ("it", "Dell’acqua all'isola c'è", ["acqua", "isol"]),
        ("ca", "L'aigua d’un riu", ["aigu", "riu"]),
        ("tr", "Ankara'da", ["ankar"]),
        ("ru", "Рифы и coral reefs", ["риф", "coral", "reefs"]),
        ("ja", "The bleaching of 珊瑚", ["the", "bleaching", "of", "珊", "瑚"]),
        ("zh", "珊瑚、海。", ["珊", "瑚", "海"]),
        ("de", "Das Zeichen 海 im deutschen Text ist selten", ["zeich", "海", "deutsch", "text", "selt"]),
        ("th", "ที่นี่", ["ที่นี่"]),
        ("th", "ปะการัง", ["ปะ", "ะก", "กา", "ารั", "รัง"]),
        ("ja", "コーラルの白化", ["コーラル", "の", "白", "化"]),
        ("he", "בית־ספר", ["בית", "ספר"]),
        ("de", "\x01Häuser\x02 www.Riff.com", ["haus", "riff"]),
        ("de", "a 7 42 \u0338x ❤️ 1️⃣ 🐠", ["42"]),
        ("en-GB", "The naïve reefs", ["naïve", "reef"]),
    ]
)
def test_stems_follow_rules_of_language(code: str, text: str, expected: list[str]) -> None:
    assert expected == stems(text, code)


def test_stems_default_to_english() -> None:
    text = "The Häuser are re\u00adbuilt, I'm told: IÇIN l·l"
    assert stems(text) == stems(text, "en") == stems(text, "en-US") == stems(text, "eng")


def test_stems_are_never_empty() -> None:
    class Eater:
        def stemWords(self, words: list[str]) -> list[str]:
            return [""] * len(words)

    assert ["riff"] == Language("de", frozenset(), Eater(), {}).stems(["riff"])


CODES = st.sampled_from([*STEMMERS, "", "ja", "zh", "he", "th"])
LETTERS = (
    "aeiIİıßÄéçŞşñŀlL·'’-. \u00ad\u0301\u0307\u0308\u0323\u200c\u200dςΣάΐΰёйЁљאַשׁװ־لآأكِـگیहै।ந்ք՞ևกำ가각珊瑚ガｶﾞﬁ42\x01\x02"
)


@settings(max_examples=50, deadline=None)
@given(st.text() | st.text(LETTERS), CODES)
def test_stems_are_never_empty_or_marks_in_any_language(text: str, code: str) -> None:
    for term in stems(text, code):
        assert 0 < len(term) <= MAX_WORD_LENGTH
        assert not set(term) & {"\x01", "\x02"}


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS), CODES.filter(lambda code: code != "en"))
def test_stems_are_independent_of_composition(text: str, code: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
    assert stems(composed, code) == stems(decomposed, code)


@settings(max_examples=50, deadline=None)
@given(st.text("abzéÄçñßйёłőů .-’"), st.sampled_from(["", "\u0301", "\u0308\u0323"]))
def test_stems_are_independent_of_composition_in_english(text: str, mark: str) -> None:
    composed, decomposed = (unicodedata.normalize(form, text.replace("b", "b" + mark)) for form in ("NFC", "NFD"))
    assert stems(composed) == stems(decomposed)


@settings(max_examples=50, deadline=None)
@given(st.text(LETTERS), CODES)
def test_stem_all_is_independent_of_neighbours(text: str, code: str) -> None:
    tokens = fold(text, code).split()
    assert [stem_all([token], code)[0] for token in tokens] == stem_all(tokens, code)


@each([*STEMMERS, ""])
def test_stems_drop_long_words(code: str) -> None:
    for letter in ("a", "é", "珊" * 2, "\u0301\u0323", "ה", "ی", "ீ"):
        terms = stems("b" + letter * 5_000, code)
        assert all(len(term) <= MAX_WORD_LENGTH for term in terms)


@each(
    [
        ("Die Riffe sterben, wenn das Meer zu warm ist und die Algen fehlen.", "de", True),
        ("Les récifs meurent quand la mer est trop chaude et que les algues partent.", "fr", True),
        ("Οι ύφαλοι πεθαίνουν όταν η θάλασσα είναι ζεστή", "el", True),
        ("珊瑚は海水温の上昇で白化する", "ja", True),
        ("CS 414 Syllabus Homework 1 Homework 2 Paul Dupont Jean Martin Texas", "fr", False),
        ("The reefs of the sea are in danger, and this is a list of the causes.", "fr", False),
        ("The reefs of the sea are in danger, and this is a list of the causes.", "sw", False),
        ("", "de", False),
    ]
)
def test_sounds_like_decides_about_guessed_languages(text: str, code: str, believed: bool) -> None:
    declared = Vocabulary().read(Page("ok", marked=text, language=code))
    guessed = Vocabulary().read(Page("ok", marked=text, language=code, guessed=True))
    assert (declared.language if believed else "en") == guessed.language
