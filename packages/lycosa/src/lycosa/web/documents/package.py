"""Bounded reading of ZIP files with XML members, the basis of DOCX, ODT and EPUB.

Members are decompressed up to a total number of bytes, counted while reading rather than taken from the ZIP headers.
XML is parsed as a stream. A file that declares entities is refused, so that none can multiply, and external entities
are never opened.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from xml.parsers import expat


class UnreadableDocument(Exception):
    """Raised for a document that can't be read; the message says why."""


class StopReading(Exception):
    """Raised to stop reading once a limit is reached."""


class Package:
    """The members of a ZIP-based document."""

    def __init__(self, body: bytes, kind: str) -> None:
        self.kind = kind
        self.bytes_left = 60_000_000  # decompressed bytes of all members
        self.is_truncated = False  # True if something was too large to be read completely
        if body.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):  # OLE: a document of old Word, or an encrypted one
            is_encrypted = "EncryptedPackage".encode("utf-16-le") in body
            problem = "is encrypted" if is_encrypted else "has the old Word format (.doc), which is not supported"
            raise UnreadableDocument(f"the {kind} file {problem}")
        try:
            self._file = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise UnreadableDocument(f"the {kind} file is damaged: {error}"[:200]) from error

    def has(self, name: str) -> bool:
        return name in self._file.NameToInfo

    def chunks(self, name: str) -> Iterator[bytes]:
        try:
            info = self._file.getinfo(name)
        except KeyError:
            raise UnreadableDocument(f"the {self.kind} file is damaged: {name} is missing"[:200]) from None
        if info.flag_bits & 1:
            raise UnreadableDocument(f"the {self.kind} file is encrypted: it needs a password")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UnreadableDocument(f"the {self.kind} file uses an unsupported compression")
        try:
            with self._file.open(info) as member:
                while chunk := member.read(1 << 20):
                    self.bytes_left -= len(chunk)
                    if self.bytes_left < 0:
                        self.is_truncated = True
                        return
                    yield chunk
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
            raise UnreadableDocument(f"the {self.kind} file is damaged: {error}"[:200]) from error

    def read(self, name: str) -> bytes:
        return b"".join(self.chunks(name))

    def parse(self, name: str, start: Start, end: End, text: Text) -> None:
        """Parse an XML member with `start(namespace, name, attributes)`, `end(namespace, name)` and `text(letters)`.

        Stops at a syntax error, or when a callback raises `StopReading`; earlier callbacks stay in effect.
        """
        parser = self._parser(start, end, text)
        try:
            for chunk in self.chunks(name):
                parser.Parse(chunk)
            if not self.is_truncated:
                parser.Parse(b"", True)
        except StopReading:
            return
        except expat.ExpatError:
            self.is_truncated = True
        except ValueError as error:  # unknown encoding
            raise UnreadableDocument(f"the {self.kind} file is damaged: {error}"[:200]) from error

    def tags(self, name: str, start: Start) -> None:
        if self.has(name):
            self.parse(name, start, lambda *_: None, lambda _: None)

    def _parser(self, start: Start, end: End, text: Text) -> expat.XMLParserType:
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        elements_left = 3_000_000  # elements of one member

        @cache
        def parts(name: str) -> tuple[str, str]:
            namespace, _, local = name.rpartition(" ")
            return namespace, local

        def begin(name: str, attributes: dict[str, str]) -> None:
            nonlocal elements_left
            elements_left -= 1
            if elements_left < 0:
                self.is_truncated = True
                raise StopReading
            start(*parts(name), {parts(key)[1]: value for key, value in attributes.items()})

        def refuse(*declared: object) -> None:
            raise UnreadableDocument(f"the {self.kind} file declares XML entities, which are not allowed")

        parser.StartElementHandler = begin
        parser.EndElementHandler = lambda name: end(*parts(name))
        parser.CharacterDataHandler = text
        parser.EntityDeclHandler = refuse
        return parser


Start = Callable[[str, str, dict[str, str]], None]
End = Callable[[str, str], None]
Text = Callable[[str], object]


class Fields:
    """Texts of the elements of a small file, such as title and author; the first of each name counts."""

    def __init__(self, package: Package, name: str) -> None:
        self.texts: dict[str, str] = {}
        self.attributes: dict[str, dict[str, str]] = {}
        self._inside, self._pieces = "", list[str]()
        if package.has(name):
            with contextlib.suppress(UnreadableDocument):
                package.parse(name, self._start, self._end, self._text)

    def _start(self, namespace: str, name: str, attributes: dict[str, str]) -> None:
        self._inside, self._pieces = name, []
        self.attributes.setdefault(name, attributes)
        if len(self.attributes) > 1000:
            raise StopReading

    def _end(self, namespace: str, name: str) -> None:
        if name == self._inside and (text := " ".join("".join(self._pieces).split())):
            self.texts.setdefault(name, text[:1000])
        self._inside = ""

    def _text(self, letters: str) -> None:
        if self._inside and len(self._pieces) < 100:
            self._pieces.append(letters[:1000])
