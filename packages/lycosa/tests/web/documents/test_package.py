"""Bounded reading of ZIP and XML."""

import zipfile

import pytest

from document_writers import packed
from lycosa.web.documents.package import Fields, Package, StopReading, UnreadableDocument


def package(**members: str) -> Package:
    return Package(packed([("mimetype", "x"), *((f"{name}.xml", text) for name, text in members.items())]), "ODT")


def test_parse_reports_tags_and_text_in_order() -> None:
    events: list[object] = []
    package(a="<a xmlns='urn:n' xmlns:p='urn:p' p:k='v'>x<b/>y</a>").parse(
        "a.xml", lambda *start: events.append(start), lambda *end: events.append(end), events.append
    )
    start, end = ("urn:n", "b", {}), ("urn:n", "b")
    assert [("urn:n", "a", {"k": "v"}), "x", start, end, "y", ("urn:n", "a")] == events


def test_parse_keeps_text_before_syntax_error() -> None:
    file, letters = package(a="<a>kept<b></a>"), list[str]()
    file.parse("a.xml", lambda *start: None, lambda *end: None, letters.append)
    assert (["kept"], True) == (letters, file.is_truncated)


def test_parse_stops_when_callback_raises() -> None:
    names: list[str] = []

    def start(namespace: str, name: str, attributes: dict[str, str]) -> None:
        names.append(name)
        raise StopReading

    package(a="<a><b/></a>").tags("a.xml", start)
    assert ["a"] == names


def test_parse_rejects_entity_declarations() -> None:
    with pytest.raises(UnreadableDocument, match="XML entities"):
        package(a='<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>').tags("a.xml", lambda *start: None)


def test_read_stops_at_byte_limit() -> None:
    file = package(a="x" * 100)
    file.bytes_left = 50
    assert (b"", True) == (file.read("a.xml"), file.is_truncated)


def test_read_reports_missing_members() -> None:
    with pytest.raises(UnreadableDocument, match=r"ODT file is damaged: nothing\.xml is missing"):
        package().read("nothing.xml")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"not a zip", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old Word format"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "is encrypted"),
    ],
)
def test_package_rejects_other_files(body: bytes, message: str) -> None:
    with pytest.raises(UnreadableDocument, match=message):
        Package(body, "DOCX")


def test_chunks_reject_unsupported_compression() -> None:
    file = package(a="<a/>")
    file._file.getinfo("a.xml").compress_type = zipfile.ZIP_LZMA
    with pytest.raises(UnreadableDocument, match="unsupported compression"):
        file.read("a.xml")


def test_fields_keep_first_text_of_each_element() -> None:
    fields = Fields(package(a="<m><title> Coral \n reefs </title><title>no</title><empty/><n k='v'/></m>"), "a.xml")
    assert {"title": "Coral reefs"} == fields.texts
    assert {"k": "v"} == fields.attributes["n"]
    assert {} == Fields(package(), "a.xml").texts
