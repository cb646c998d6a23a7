"""Stop words of each language, as folded by the tokeniser."""

import unicodedata
from importlib.resources import files

from lycosa.core.types import Page
from lycosa.text.languages import STEMMERS, language
from lycosa.text.stopwords import ENGLISH, WEB, stop_words
from lycosa.text.tokens import fold, stems
from lycosa.text.vocabulary import Vocabulary
from tables import each

SENTENCES = {
    "ar": ("السمك في البحر و هو لا يعيش في النهر", "في هو لا", 4),
    "ca": ("El peix és al mar i no viu en els rius de la terra", "el és al no en els de la", 5),
    "cs": ("Ryba je v moři a není to pták, který by byl na stromě", "je není to který by byl na", 4),
    "da": ("Fisken er i havet, og den kan ikke leve på land", "er og den kan ikke på", 4),
    "de": ("Der Fisch ist im Meer, und er kann nicht auf dem Baum leben", "der ist im und er kann nicht auf dem", 4),
    "el": ("Το ψάρι είναι στη θάλασσα και δεν μπορεί να ζήσει με τους", "το ειναι στη και δεν μπορει να με τουσ", 3),
    "en": ("The fish is in the sea and it does not live with us", "the is in and it does not with us", 3),
    "eo": ("La fiŝo estas en la maro, kaj ĝi ne povas vivi sur la tero", "la estas en kaj ĝi ne povas sur", 4),
    "es": ("El pez está en el mar y no vive con nosotros en la tierra", "el está en no con nosotros la", 4),
    "et": ("Kala on meres ja see ei ela koos linnuga", "on ja see ei koos", 4),
    "eu": ("Arraina itsasoan dago eta ez da ibaian bizi", "dago eta ez da", 4),
    "fa": ("ماهی در دریا است و نمی‌تواند با ما زندگی کند", "در است نمی با ما کند", 4),
    "fi": ("Kala on meressä ja se ei voi elää ilman vettä", "on ja se ei voi ilman", 4),
    "fr": ("Le poisson est dans la mer et il ne peut pas vivre sans l’eau", "le est dans la et il ne peut pas sans", 4),
    "ga": ("Tá an t-iasc sa mhuir agus níl sé ag rith ar an talamh", "tá an sa agus níl sé ag ar", 4),
    "hi": ("मछली समुद्र में है और वह पेड़ पर नहीं रहती।", "में है और वह पर नहीं", 4),
    "hu": ("A hal a tengerben van, és nem él a fán", "van és nem", 4),
    "hy": ("Ձուկը ծովի մեջ է, և այն մեր գետում չէ։", "մեջ եւ այն մեր չէ", 3),
    "id": ("Ikan itu ada di laut dan tidak dapat hidup tanpa air", "itu ada di dan tidak dapat tanpa", 4),
    "it": ("Il pesce è nel mare e non vive con noi sulla terra", "il nel non con noi sulla", 4),
    "lt": ("Žuvis yra jūroje, bet ji nėra paukštis ir gyvena po vandeniu", "yra bet ji nėra ir po", 5),
    "ne": ("माछा समुद्रमा छ तर यो चरा होइन।", "तर यो होइन", 3),
    "nl": ("De vis is in de zee en hij kan niet op het land leven", "de is in en hij kan niet op het", 4),
    "no": ("Fisken er i havet, og den kan ikke leve på land", "er og den kan ikke på", 4),
    "pl": ("Ryba jest w morzu i nie może się bawić na drzewie", "jest nie może się na", 4),
    "pt": ("O peixe está no mar e não vive com os pássaros", "está no não com os", 4),
    "ro": ("Peștele este în mare şi nu poate trăi fără apă", "este în și nu poate fără", 4),
    "ru": ("Рыба была в море, и она не может жить на дереве", "была она не может на", 4),
    "sr": ("Риба је у мору и не може да живи на дрвету", "je ne može da na", 4),
    "st": ("Hlapi e ka lewatleng mme ha e phele le rona", "ka mme ha le rona", 3),
    "sv": ("Fisken är i havet och den kan inte leva på land", "är och den kan inte på", 4),
    "ta": ("மீன் இந்த கடலில் உள்ளது ஆனால் அது பறவை அல்ல.", "இந்த உள்ளது ஆனால் அது அல்ல", 3),
    "tr": ("BALIK DENİZDE VE BU KUŞ GİBİ BİR AĞAÇTA DEĞİL", "ve bu gibi bir değil", 4),
    "yi": ("דער פֿיש איז אין ים און ער קען נישט לעבן אױף דער ערד", "דער איז אין און ער קען נישט אויף", 4),
}  # fmt: skip


def words_of(code: str) -> list[str]:
    return files("lycosa.text.stopwords").joinpath(f"{code}.txt").read_text("utf-8").split()


@each(STEMMERS)
def test_stop_words_are_folded_and_unique(code: str) -> None:
    words = words_of(code)
    assert len(words) == len(set(words))
    assert code == "en" or 30 <= len(words) <= 120
    for word in words:
        assert word == unicodedata.normalize("NFKC", word).casefold() == language(code).normalise(word)
        assert len(fold(word, code).split()) == 1


@each(STEMMERS)
def test_stop_words_have_no_terms(code: str) -> None:
    small = " ".join(words_of(code))
    capitals = (small.replace("i", "İ") if code == "tr" else small).upper()  # Python's upper case is not Turkish
    assert [] == stems(small, code) == stems(capitals, code)


@each(STEMMERS)
def test_stop_words_include_function_words(code: str) -> None:
    sentence, function_words, rest = SENTENCES[code]
    assert set() == set(function_words.split()) - stop_words(code)
    reading = Vocabulary().read(Page("ok", marked=sentence, language=code))
    assert rest == int(reading.terms.counts.sum())
    assert code == reading.language


def test_stop_words_of_other_languages_are_parts_of_urls() -> None:
    assert WEB == stop_words("ja") == stop_words("")
    assert stop_words("en") is ENGLISH
