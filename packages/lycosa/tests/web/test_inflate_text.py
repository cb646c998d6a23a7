"""Charsets of bodies: byte order marks, headers, declarations and detection."""

from hypothesis import given, settings
from hypothesis import strategies as st

from lycosa.web.html import extract, read_plain_text
from lycosa.web.inflate import HEAD_SIZES, MAX_INVALID_PER_VALID, decode
from tables import each

FRENCH = "Les récifs coralliens, déjà blanchis, sont très menacés"


def test_decode_replaces_single_bad_byte() -> None:
    body = "<meta charset=utf-8><title>Frühling</title>".encode() + b" \xff and so on"
    for charset in ("", "utf-8"):
        page = extract(body, "http://a/", charset)
        assert ("Frühling", "\ufffd and so on") == (page.title, page.text.strip())
    assert "Frühling \ufffd" == read_plain_text("Frühling ".encode() + b"\xff").text


@each(
    [
        # A byte order mark overrides all declarations.
        ("\ufeffgrün".encode(), "iso-8859-1", "grün"),
        ("\ufeffgrün".encode("utf-16-le"), "utf-8", "grün"),
        ("\ufeffgrün".encode("utf-16-be"), "", "grün"),
        # The header is next.
        (b"<meta charset=koi8-r>gr\xfcn", "iso-8859-1", "<meta charset=koi8-r>grün"),
        ("grün".encode("utf-16-le"), "utf-16le", "grün"),
        # An XML declaration is next, unless a meta element contradicts it.
        (b"<?xml version='1.0' encoding='koi8-r'?>\xd2\xc9\xc6", "", "<?xml version='1.0' encoding='koi8-r'?>риф"),
        ("<?xml encoding='utf-8'?>ü".encode() + b"\xff\xfe", "", "<?xml encoding='utf-8'?>ü\ufffd\ufffd"),
        # UTF-8 with some invalid bytes is UTF-8.
        ("<meta charset=utf-8>ü–".encode() + b"\xe9 " * 41, "", "<meta charset=utf-8>ü–" + "\ufffd " * 41),
        # A meta element in any notation, anywhere in the head.
        (b"<META CHARSET='windows-1251'>\xf0\xe8\xf4", "", "<META CHARSET='windows-1251'>риф"),
        (b"<meta content='a>b' charset=koi8-r>\xd2\xc9\xc6", "", "<meta content='a>b' charset=koi8-r>риф"),
        (b"<meta charset=nonsense><meta charset=koi8-r>\xd2", "", "<meta charset=nonsense><meta charset=koi8-r>р"),
        (b"<!-- <meta charset=koi8-r> -->gr\xc3\xbcn", "", "<!-- <meta charset=koi8-r> -->grün"),
        (b"<script>'<meta charset=koi8-r>'</script>gr\xc3\xbcn", "", "<script>'<meta charset=koi8-r>'</script>grün"),
        (b" " * HEAD_SIZES[0] + b"<meta charset=koi8-r>\xd2\xc9", "", " " * HEAD_SIZES[0] + "<meta charset=koi8-r>ри"),
        # Labels of the Encoding standard.
        (b"\x93x\x94 \x81", "iso-8859-1", "“x” \x81"),
        (b"\x93x\x94", "ascii", "“x”"),
        (b"\x80", "gb2312", "€"),
        (b"\x81\x30\x81\x30", "gb18030", "\x80"),
        (b"\x87\x40", "shift_jis", "①"),
        (b"\x81\x41", "euc-kr", "갂"),
        (b"\x88\x62", "big5", "\u00ca\u0304"),
        (b"a\xe0\xe1", "iso-8859-8-i", "aאב"),
        (b"a\xe0", "x-user-defined", "a\uf7e0"),
        (b"\xa1", "tis-620", "ก"),
        (b"~{!!", "hz-gb-2312", "\ufffd"),
        (b"\x0e!!", "iso-2022-kr", "\ufffd"),
        # Labels that are not possible in a meta element.
        (b"<meta charset=utf-16>\xc3\xbc", "", "<meta charset=utf-16>ü"),
        (b"<meta charset=x-user-defined>\xfc", "", "<meta charset=x-user-defined>ü"),
        # Unknown labels are ignored.
        ("grün".encode(), "utf-7", "grün"),
        ("grün".encode(), "hex", "grün"),
        (b"+AGE-", "utf-7", "+AGE-"),
        # Invalid bytes in other encodings are replaced.
        (b"\xbb\xb9\xff\xb8\xea", "euc-jp", "珊\ufffd瑚"),
        ("grün".encode()[:3], "utf-8", "gr\ufffd"),
        ("grün".encode()[:3], "", "gr\ufffd"),
        # UTF-8 is declared, but hardly any byte fits.
        (FRENCH.encode("cp1252"), "utf-8", FRENCH),
        (b"<meta charset=utf-8>" + FRENCH.encode("cp1252"), "", "<meta charset=utf-8>" + FRENCH),
        ("Коралловый риф умирает от жары".encode("cp1251"), "utf-8", "Коралловый риф умирает от жары"),
        # UTF-8 is declared and mostly fits: one error, few in a long page, or some valid sequences.
        (b"caf\xe9", "utf-8", "caf\ufffd"),
        (b"caf\xe9 \xe9 \xe9" + b" coral" * 5_000, "utf-8", "caf\ufffd \ufffd \ufffd" + " coral" * 5_000),
        (b"\xc3\xa9" + b" \xe9" * MAX_INVALID_PER_VALID, "utf-8", "é" + " \ufffd" * MAX_INVALID_PER_VALID),
        (b"\xc3\xa9" + b" \xe9" * (MAX_INVALID_PER_VALID + 1), "utf-8", "Ã©" + " é" * (MAX_INVALID_PER_VALID + 1)),
        # Nothing is declared.
        (FRENCH.encode(), "", FRENCH),
        (FRENCH.encode("cp1252"), "", FRENCH),
        (FRENCH.encode() + b"\xe9", "", FRENCH + "\ufffd"),
        ("珊瑚礁は海の中にあります".encode("shift_jis"), "", "珊瑚礁は海の中にあります"),
    ]
)
def test_decode_uses_declarations_in_order(body: bytes, charset: str, expected: str) -> None:
    assert expected == decode(body, charset)


@settings(max_examples=50, deadline=None)
@given(
    st.binary(max_size=100),
    st.sampled_from(["", "utf-8", "utf-16", "shift_jis", "gb18030", "iso-2022-jp", "replacement", "x", "\ud800", "é"]),
    st.booleans(),
)
def test_decode_never_raises(body: bytes, charset: str, markup: bool) -> None:
    assert decode(b"<meta charset=" + body, charset, markup=markup).encode() is not None


def test_decode_supports_all_standard_encodings() -> None:
    labels = "utf-8 ibm866 latin2 greek hebrew koi8-u macintosh windows-874 cp1250 x-mac-cyrillic gbk big5 euc-jp sjis"
    for label in [*labels.split(), "iso-2022-jp", "euc-kr", "x-user-defined", "gb18030", "windows-1258"]:
        assert "<p>coral" == decode(b"<p>coral", label), label
