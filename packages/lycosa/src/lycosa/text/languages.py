"""Languages: codes, spelling rules, stop words and stemmers.

Snowball has stemmers for 34 languages (fewer in older versions of PyStemmer), each with a stop list here. Words of
other languages are case-folded only. The declared language of a page is trusted: words of another language on it are
stemmed wrongly, but consistently on all pages of that language.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from functools import cache, lru_cache

import Stemmer

from lycosa.text.stopwords import stop_words

ENGLISH = "en"

# language code: Snowball's name
STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip

# three-letter and obsolete codes, and close relatives; Bokmål and Nynorsk share a stemmer
_ALIASES = dict(
    pair.split("=")
    for pair in """
    ara=ar arb=ar arm=hy baq=eu cat=ca ces=cs cze=cs dan=da deu=de dut=nl ekk=et ell=el eng=en epo=eo est=et eus=eu
    fas=fa fin=fi fra=fr fre=fr ger=de gle=ga gre=el hin=hi hun=hu hye=hy in=id ind=id ita=it ji=yi lit=lt mo=ro mol=ro
    nb=no nep=ne nld=nl nn=no nno=no nob=no nor=no npi=ne per=fa pes=fa pol=pl por=pt prs=fa ron=ro rum=ro rus=ru sh=sr
    sot=st spa=es srp=sr swe=sv tam=ta tur=tr ydd=yi yid=yi
    """.split()
)

_CODES = {code: code for code in STEMMERS} | {name: code for code, name in STEMMERS.items()} | _ALIASES
_MIN_STOP_WORD_SHARE = 0.05  # least share of stop words in a text
_WORD = re.compile(r"[^\W\d_]+")
_PRIMARY = re.compile(r"\s*([A-Za-z]+)")


@lru_cache(maxsize=1024)
def code_of(declared: str, default: str = "") -> str:
    """Return the code of the first declared language: empty if it has no stemmer, `default` if none is declared."""
    match = _PRIMARY.match(declared[:40])
    name = match[1].lower() if match else ""
    if name in _CODES:
        return _CODES[name]
    return "" if 2 <= len(name) <= 3 and name not in {"und", "mul", "mis", "zxx"} else default


def _optional_signs() -> dict[int, int | str | None]:
    """Return a translation table that deletes optional signs: Hebrew points, Arabic vowels, variation selectors."""
    ranges = "0591-05BD 05BF-05BF 05C1-05C2 05C4-05C5 05C7-05C7 0610-061A 0640-0640 064B-065F 0670-0670 06D6-06DC"
    pairs = [pair.split("-") for pair in f"{ranges} 06DF-06E8 06EA-06ED FE00-FE0F".split()]
    return {number: None for first, last in pairs for number in range(int(first, 16), int(last, 16) + 1)}


_OPTIONAL_SIGNS = _optional_signs()

_LATIN = "a b v g d đ e ž z i j k l lj m n nj o p r s t ć u f h c č dž š".split()
_CYRILLIC = dict(zip("абвгдђежзијклљмнњопрстћуфхцчџш", _LATIN, strict=True))

# letters with two spellings, or that are removed, as in the stop lists
_LETTERS: dict[str, dict[str, str | None]] = {
    "ca": {"·": None},
    "fa": {"ي": "ی", "ى": "ی", "ك": "ک", "ۀ": "ه"},
    "fr": {"œ": "oe", "æ": "ae"},
    "hy": {"՛": None, "՜": None, "՞": None},
    "ro": {"ş": "ș", "ţ": "ț"},
    "ru": {"ё": "е", "\u0301": None},
    "sr": dict(_CYRILLIC),
    "yi": {"װ": "וו", "ױ": "וי", "ײ": "יי"},
}

# in every language but English: soft hyphens, joiners, and the Hebrew hyphen
_TEXTS: list[tuple[str, str]] = [("\xad", ""), ("\u200d", ""), ("\ufeff", ""), ("\u05be", " ")]
_DOTLESS = re.compile("I(?![\u0300-\u036f])")
_MIDDLE_DOT = re.compile("(?<=[Ll])[\u00b7\u2022\u2027\u2219\u22c5](?=[Ll])")


@dataclass(slots=True)
class Language:
    code: str
    stop_words: frozenset[str]
    stemmer: Stemmer.Stemmer | None = field(repr=False)
    letters: dict[int, int | str | None] = field(repr=False)

    def prepare(self, text: str) -> str:
        """Fix characters that tokenisation or case folding would break."""
        for old, new in _TEXTS:
            text = text.replace(old, new)
        if self.code != "fa":  # in Persian it separates a word from its ending
            text = text.replace("\u200c", "")
        if self.code == "tr":
            text = _DOTLESS.sub("ı", text)
        elif self.code == "ca":
            text = _MIDDLE_DOT.sub("", text)
        return text

    def normalise(self, word: str) -> str:
        """Return the normal spelling of a folded word."""
        word = word.translate(self.letters)
        if self.code == "el":  # Greek capitals have no accents
            word = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
            word = unicodedata.normalize("NFC", word)
        elif self.code == "tr":
            word = word.replace("i\u0307", "i")
        return word

    def stems(self, words: list[str]) -> list[str]:
        """Return the stem of each normalised word; the word itself if the stem would be empty."""
        stems: list[str] = words if self.stemmer is None else self.stemmer.stemWords(words)
        if self.code == "tr":  # foreign names and foreign keyboards use the dotted i
            stems = [stem.replace("ı", "i") for stem in stems]
        return [stem or word for stem, word in zip(stems, words, strict=True)]


@cache
def language(code: str) -> Language:
    """Return the language with a code that `code_of` returned."""
    name = STEMMERS.get(code, "")
    letters = _OPTIONAL_SIGNS | str.maketrans(_LETTERS.get(code, {}))
    stemmer = Stemmer.Stemmer(name, 0) if name in Stemmer.algorithms() else None
    return Language(code, stop_words(code), stemmer, letters)


def sounds_like(text: str, code: str, default: str) -> bool:
    """Return true if a text has more stop words of language `code` than of the default language `default`.

    Non-Latin scripts need no such check. For a language without stop words, the text must have few of the other's.
    """
    text = text[:4000]
    if sum(letter > "\u024f" for letter in text) > len(text) / 5:  # not Latin letters
        return True
    candidate, others = language(code), language(default).stop_words
    words = _WORD.findall(text.casefold())
    own = sum(candidate.normalise(word) in candidate.stop_words for word in words)
    other = sum(word in others for word in words)
    if not candidate.stop_words:
        return other < _MIN_STOP_WORD_SHARE * len(words)
    return own > other and own >= _MIN_STOP_WORD_SHARE * len(words)
