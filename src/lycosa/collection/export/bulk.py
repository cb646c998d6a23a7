"""For search engines: the bulk format of Elasticsearch and OpenSearch, newline-delimited JSON, and the mapping of the
index.

Each page is two lines: what to do with it, and the page. Its id is made from its address, and the operation is `index`:
what is loaded again takes the place of what was there. No line names an index: the address that it is sent to does.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import IO, Any

from lycosa.collection.export.cleaning import iso
from lycosa.collection.export.selection import Selection, Written
from lycosa.collection.export.tables import COLUMNS, rows, written

_KEYWORD: dict[str, Any] = {"type": "keyword", "ignore_above": 2048}
_TEXTS: dict[str, dict[str, Any]] = {
    "title": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
    "text": {"type": "text"},
    "anchor": {"type": "text"},
}
_KINDS = {"str": _KEYWORD, "int": {"type": "long"}, "float": {"type": "double"}, "bool": {"type": "boolean"},
          "datetime": {"type": "date", "format": "strict_date_optional_time"}}  # fmt: skip


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write two lines for each page, or for each version."""
    for row in rows(pages):
        row["fetched"], row["changed"] = iso(row["fetched"]), iso(row["changed"])
        key = row["url"] if not pages.versions else f"{row['url']} {row['version']}"
        action = {"index": {"_id": sha256(key.encode()).hexdigest()[:40]}}
        out.write(json.dumps(action).encode() + b"\n" + json.dumps(row, ensure_ascii=False).encode() + b"\n")
    done = written(pages)
    done.beside[".mapping.json"] = mapping()
    return done


def mapping() -> bytes:
    """What an index of these pages is made with: `PUT /reefs` with this body."""
    properties = {name: _TEXTS.get(name) or _KINDS[kind.__name__] for name, (kind, _) in COLUMNS.items()}
    told = {"mappings": {"dynamic": False, "properties": properties}}
    return json.dumps(told, indent=1).encode() + b"\n"
