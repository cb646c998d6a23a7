"""Document kinds by content, content type and extension."""

import pytest

from lycosa.web.documents.kinds import kind_by_extension, kind_of, parse_kinds


@pytest.mark.parametrize(
    ("body", "url", "type_", "kind"),
    [
        (b"", "http://a.test/a.pdf", "application/pdf; x=y", "pdf"),
        (b"%PDF-1.4", "http://a.test/", "text/html", "pdf"),
        (b"PK", "http://a.test/a.docx?b", "application/octet-stream", "docx"),
        (b"PK", "http://a.test/a.zip", "application/zip", ""),
        (b"{\\rtf", "http://a.test/a.RTF", "application/msword", "rtf"),
        (b"# a", "http://a.test/README.md", "text/plain", "markdown"),
        (b"# a", "http://a.test/a.md", "application/octet-stream", ""),
        (b"<html>", "http://a.test/a.pdf", "text/html", ""),
        (b"\n<!DOCTYPE HTML>", "http://a.test/a.odt", "application/vnd.oasis.opendocument.text", ""),
        (b"a", "http://[a.test/a.pdf", "", ""),
    ],
)
def test_kind_of_prefers_bytes_to_type_to_extension(body: bytes, url: str, type_: str, kind: str) -> None:
    assert kind == kind_of(body, url, type_)
    assert kind_by_extension(url) in ("pdf", "docx", "rtf", "odt", "markdown", "")


def test_parse_kinds_rejects_unknown_groups() -> None:
    assert parse_kinds("pdf") < parse_kinds("pdf, office")
    for wrong in ("", "word", "pdf,none", "none,none"):
        with pytest.raises(ValueError, match="list of pdf, office"):
            parse_kinds(wrong)
