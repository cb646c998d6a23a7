"""Export as WACZ 1.1.1: a web archive in a ZIP file that ReplayWeb.page opens, with an index and a list of pages.

1. archive    the WARC file, stored uncompressed for random access
2. indexes    sorted CDXJ of all URLs in compressed blocks, and the first line of each block
3. pages      list of pages for the reader
4. package    names, sizes and hashes of these files, and the hash of this list

Memory: the lines of the index, about 300 bytes per page.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from lycosa.collection.export import warc_export
from lycosa.collection.export.cleaning import format_iso, one_line
from lycosa.collection.export.selection import Selection, WriteResult
from lycosa.store.cdxj import format_date, format_digest
from lycosa.version import SOFTWARE

LINES_PER_BLOCK = 1024  # lines per index block, which a reader fetches to look up a URL
_ARCHIVE, _INDEX = "data.warc.gz", "index.cdx.gz"


def write(pages: Selection, out: IO[bytes]) -> WriteResult:
    copied, index = 0, list[bytes]()
    with ZipFile(out, "w") as zipped:
        package = _Package(zipped)
        with package.entry(f"archive/{_ARCHIVE}", huge=True) as entry:
            for record in warc_export.copy(pages, entry.write, _ARCHIVE):
                copied += record.visit.kind != "asset"
                if record.visit.status != 304:  # a 304 response has no content of its own
                    index += [entry._replace(file=_ARCHIVE).line for entry in record.entries] or [_cdx(record)]
        summary = [f'!meta 0 {{"format": "cdxj-gzip-1.0", "filename": "{_INDEX}"}}\n'.encode()]
        with package.entry(f"indexes/{_INDEX}", huge=True) as entry:
            summary += _blocks(iter(sorted(index)), entry)
        with package.entry("indexes/index.idx", deflated=True) as entry:
            entry.write(b"".join(summary))
        with package.entry("pages/pages.jsonl", deflated=True, huge=True) as entry:
            entry.write(_line(format="json-pages-1.0", id="pages", title="All Pages"))
            for seq, visit in pages.pages("listing pages"):
                if visit.place.file:
                    when = format_iso(datetime.fromtimestamp(int(visit.started), UTC), "seconds")
                    title = one_line(visit.title) or visit.node
                    entry.write(_line(id=str(seq), url=visit.node, ts=when, title=title))
        package.seal(one_line(pages.collection.options.subject))
    return warc_export.result_of(pages, copied)


class _Entry:
    """File in the package; counts and hashes its content."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = 0
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.hash.update(data)
        self.size += len(data)


class _Package:
    """ZIP file with the metadata of its entries."""

    def __init__(self, zipped: ZipFile) -> None:
        self._zipped = zipped
        self._resources: list[dict[str, Any]] = []

    @contextmanager
    def entry(self, path: str, *, deflated: bool = False, huge: bool = False) -> Iterator[_Entry]:
        """Open an entry for writing; `huge` allows more than 2 GB."""
        info = ZipInfo(path, time.gmtime()[:6])
        info.compress_type = ZIP_DEFLATED if deflated else ZIP_STORED
        if huge:
            # ZIP64 sizes make the local header longer than the directory says. ReplayWeb.page reads the local header
            # only if the directory entry has an extra field, so add one: the modification time.
            info.extra = struct.pack("<HHBI", 0x5455, 5, 1, int(time.time()) & 0xFFFFFFFF)
        with self._zipped.open(info, "w", force_zip64=huge) as file:
            entry = _Entry(file)
            yield entry
        name = path.rpartition("/")[2]
        resource = {"name": name, "path": path, "hash": f"sha256:{entry.hash.hexdigest()}", "bytes": entry.size}
        self._resources.append(resource)

    def seal(self, title: str) -> None:
        about: dict[str, Any] = {
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": title or "A crawl",
            "created": format_iso(datetime.now(UTC), "seconds"),
            "software": SOFTWARE,
            "resources": self._resources,
        }
        text = json.dumps(about, indent=2).encode()
        digest = {"path": "datapackage.json", "hash": f"sha256:{hashlib.sha256(text).hexdigest()}"}
        self._zipped.writestr(ZipInfo("datapackage.json", time.gmtime()[:6]), text)
        digest_text = json.dumps(digest, indent=2).encode()
        self._zipped.writestr(ZipInfo("datapackage-digest.json", time.gmtime()[:6]), digest_text)


def _cdx(copied: warc_export.CopiedPage) -> bytes:
    visit = copied.visit
    fields = {
        "url": visit.node,
        "mime": "warc/revisit" if copied.revisit else copied.kind,
        "status": str(visit.status),
        "digest": format_digest(visit.digest),
        "length": str(copied.length),
        "offset": str(copied.offset),
        "filename": _ARCHIVE,
    }
    return f"{surt(visit.node)} {format_date(visit.started)} ".encode() + _line(**fields)


def _line(**fields: Any) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def _blocks(lines: Iterator[bytes], entry: _Entry) -> Iterator[bytes]:
    """Write the index in gzipped blocks; yield the first key and the position of each block."""
    while block := list(islice(lines, LINES_PER_BLOCK)):
        packed = gzip.compress(b"".join(block), mtime=0)
        place = {"offset": entry.size, "length": len(packed), "digest": f"sha256:{hashlib.sha256(packed).hexdigest()}"}
        yield block[0].partition(b" {")[0] + b" " + _line(**place)
        entry.write(packed)


def surt(url: str) -> str:
    """Return a URL with its host reversed, as a sort key in the form that ReplayWeb.page looks up.

    >>> surt("http://www.Example.org:8080/Reefs/?b=2&a=1")
    'org,example:8080)/reefs/?a=1&b=2'
    """
    rest = re.sub(r"^https?://(?:www\d*\.)?", "", url.lower())
    if rest == url.lower():
        return url
    authority, slash, path = rest.partition("/")
    host, colon, port = authority.partition(":") if not authority.startswith("[") else (authority, "", "")
    if not host.startswith("["):
        host = ",".join(reversed(host.split(".")))
    path, _, query = path.partition("?")
    query = "?" + "&".join(sorted(query.split("&"))) if query else ""
    return f"{host}{colon}{port}){slash}{path}{query}"
