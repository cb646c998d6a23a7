"""DOCX files."""

from document_writers import WORD, packed
from lycosa.web.documents.docx import read_docx
from lycosa.web.html import ParsedPage

NAMESPACE = f'xmlns:w="{WORD}/wordprocessingml/2006/main" xmlns:r="{WORD}/officeDocument/2006/relationships"'


def read(body: str, **parts: str) -> ParsedPage:
    members = [("word/document.xml", f"<w:document {NAMESPACE}><w:body>{body}</w:body></w:document>")]
    members += [(f"word/{name}.xml", f"<w:{name} {NAMESPACE}>{text}</w:{name}>") for name, text in parts.items()]
    return read_docx(packed([("[Content_Types].xml", "<Types/>"), *members]), "http://a.test/a.docx")


def run(text: str) -> str:
    return f"<w:r><w:t>{text}</w:t></w:r>"


def test_read_docx_skips_deleted_text() -> None:
    page = read(f"<w:p>{run('Coral')}<w:del>{run(' dies')}</w:del><w:r><w:tab/></w:r>{run('lives')}</w:p>")
    assert "Coral lives" == page.main


def test_read_docx_finds_headings_by_style() -> None:
    styles = '<w:style w:type="paragraph" w:styleId="X1"><w:name w:val="heading 2"/></w:style>'
    page = read(
        f'<w:p><w:pPr><w:pStyle w:val="X1"/></w:pPr>{run("Reefs")}</w:p><w:p>{run("Text")}</w:p>', styles=styles
    )
    assert ("Reefs", "Reefs", "Text") == (page.title, page.headings, page.lead)


def test_read_docx_reads_hyperlink_fields() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>HYPERLINK "/b"</w:instrText></w:r>'
        f'<w:r><w:fldChar w:fldCharType="separate"/></w:r>{run("coral")}<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    page = read(f"<w:p>{run('On ')}{field}{run(' reefs')}</w:p>")
    assert ("On coral reefs", ["http://a.test/b"], ["coral"]) == (page.main, page.links.urls, page.links.anchors)


def test_read_docx_reads_tables_and_footnotes() -> None:
    cells = "".join(f"<w:tc><w:p>{run(text)}</w:p></w:tc>" for text in ("Reef", "2300 km"))
    separator = f'<w:footnote w:type="separator"><w:p>{run("---")}</w:p></w:footnote>'
    notes = f"{separator}<w:footnote><w:p>{run('A note')}</w:p></w:footnote>"
    page = read(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>", footnotes=notes)
    assert "Reef | 2300 km\nA note" == page.main
