"""EPUB files."""

import pytest

from document_writers import packed
from lycosa.web.documents.epub import read_epub
from lycosa.web.documents.package import UnreadableDocument
from lycosa.web.html import ParsedPage

CONTAINER = "<c><rootfile full-path='OEBPS/book.opf'/></c>"


def read(package: str, *members: tuple[str, str]) -> ParsedPage:
    files = [("mimetype", "application/epub+zip"), ("META-INF/container.xml", CONTAINER), ("OEBPS/book.opf", package)]
    return read_epub(packed([*files, *members]), "http://a.test/book.epub")


def item(name: str) -> str:
    return f"<item id='{name}' href='{name}%201.xhtml' media-type='application/xhtml+xml'/>"


def test_read_epub_follows_reading_order() -> None:
    package = (
        "<p><title>Reefs</title><creator>Ann</creator><language>EN</language>"
        f"{item('b')}{item('a')}<itemref idref='a'/><itemref idref='b'/><itemref idref='a'/><itemref idref='none'/></p>"
    )
    page = read(
        package,
        ("OEBPS/a 1.xhtml", "<h1>One</h1><p>Coral <a href='b%201.xhtml'>next</a></p>"),
        ("OEBPS/b 1.xhtml", "<h1>Two</h1><p>Fish <a href='http://c.test/'>c</a></p>"),
    )
    assert ["One", "Coral next", "Two", "Fish c"] == [line for line in page.main.split("\n") if line]
    assert ("Reefs", "en", {"author": "Ann"}) == (page.title, page.language, page.about)
    assert "One\nTwo" == page.headings
    assert (["http://c.test/"], [1]) == (page.links.urls, page.links.positions)


def test_read_epub_rejects_encrypted_files() -> None:
    encryption = ("META-INF/encryption.xml", "<e><EncryptionMethod Algorithm='aes'/></e>")
    with pytest.raises(UnreadableDocument, match="encrypted"):
        read("<p/>", encryption)
    fonts = ("META-INF/encryption.xml", "<e><EncryptionMethod Algorithm='http://www.idpf.org/2008/embedding'/></e>")
    assert "" == read("<p/>", fonts).main


def test_read_epub_rejects_missing_package_document() -> None:
    with pytest.raises(UnreadableDocument, match="package document"):
        read_epub(packed([("mimetype", "x"), ("META-INF/container.xml", CONTAINER)]), "http://a.test/")
