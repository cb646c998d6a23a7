"""RTF files."""

import pytest

from lycosa.web.documents.package import UnreadableDocument
from lycosa.web.documents.rtf import read_rtf
from lycosa.web.html import ParsedPage
from tables import each


def read(text: str) -> ParsedPage:
    return read_rtf(b"{\\rtf1\\ansi " + text.encode("latin-1") + b"}", "http://a.test/a.rtf")


@each(
    [
        (r"On {\b coral}\par reefs", "On coral\nreefs"),
        (r"caf\'e9", "caf\u00e9"),
        (r"\u8211?x", "\u2013x"),
        (r"{\uc2\u8211 ab}x", "\u2013x"),
        (r"\u-10179?\u-8704?", "\U0001f600"),
        (r"\ansicpg1251 \'f0\'e8\'f4", "\u0440\u0438\u0444"),
        (r"{\fonttbl{\f1\fcharset204 X;}}{\f1 \'f0}\'e9", "\u0440\u00e9"),
        (r"a\~b\_c\-d\{e\}", "a b-cd{e}"),
        (r"{\v hidden}shown", "shown"),
        (r"{\*\unknown no}{\pict 00ff}{\header no}yes", "yes"),
        (r"\bin5 12345yes", "yes"),
        (r"Reef\cell 2300 km\cell\row", "Reef | 2300 km"),
    ]
)
def test_read_rtf_decodes_control_words(text: str, expected: str) -> None:
    assert expected == read(text).main


def test_read_rtf_reads_hyperlink_fields() -> None:
    page = read(r'On {\field{\*\fldinst HYPERLINK "/b"}{\fldrslt coral}} reefs')
    assert ("On coral reefs", ["http://a.test/b"], ["coral"]) == (page.main, page.links.urls, page.links.anchors)


def test_read_rtf_takes_information_group() -> None:
    page = read(r"{\info{\title Reefs}{\author Ann}{\creatim\yr2024\mo5\dy3}\nofpages7}{\outlinelevel0 Coral\par}")
    assert ("Reefs", {"author": "Ann", "published": "2024-05-03", "pages": "7"}) == (page.title, page.about)
    assert "Coral" == page.headings


def test_read_rtf_rejects_other_files() -> None:
    with pytest.raises(UnreadableDocument, match="not RTF"):
        read_rtf(b"<html>", "http://a.test/")
