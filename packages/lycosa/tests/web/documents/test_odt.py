"""ODT files."""

import pytest

from document_writers import packed
from lycosa.web.documents.odt import read_odt
from lycosa.web.documents.package import UnreadableDocument
from lycosa.web.html import ParsedPage


def read(body: str, *members: tuple[str, str]) -> ParsedPage:
    content = f"<d xmlns:t='urn:text' xmlns:x='urn:xlink'>{body}</d>"
    return read_odt(packed([("mimetype", "x"), ("content.xml", content), *members]), "http://a.test/a.odt")


def test_read_odt_reads_headings_spaces_and_links() -> None:
    page = read("<t:h t:outline-level='1'>Reefs</t:h><t:p>On<t:s t:c='3'/><t:a x:href='/b'>coral</t:a></t:p> stray")
    assert ("Reefs", "Reefs\nOn coral") == (page.headings, page.main)
    assert ["http://a.test/b"] == page.links.urls


def test_read_odt_skips_comments_and_deletions() -> None:
    deleted = "<t:tracked-changes><t:p>gone</t:p></t:tracked-changes>"
    assert "Coral lives" == read(f"{deleted}<t:p>Coral<t:annotation><t:p>no</t:p></t:annotation> lives</t:p>").main


def test_read_odt_moves_notes_behind_text() -> None:
    note = "<t:note><t:note-citation>1</t:note-citation><t:note-body><t:p>A note</t:p></t:note-body></t:note>"
    assert "Coral lives\nA note" == read(f"<t:p>Coral{note} lives</t:p>").main


def test_read_odt_takes_metadata() -> None:
    people = "<creator>Bob</creator><initial-creator>Ann</initial-creator>"
    meta = f"<m><title>Reefs</title>{people}<document-statistic page-count='3'/></m>"
    page = read("<t:p>x</t:p>", ("meta.xml", meta))
    assert ("Reefs", {"author": "Ann", "pages": "3"}) == (page.title, page.about)


def test_read_odt_rejects_encrypted_files() -> None:
    with pytest.raises(UnreadableDocument, match="needs a password"):
        read("<t:p>x</t:p>", ("META-INF/manifest.xml", "<manifest><encryption-data/></manifest>"))
