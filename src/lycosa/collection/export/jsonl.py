"""JSON Lines: one page a line, UTF-8."""

from __future__ import annotations

import json
from typing import IO

from lycosa.collection.export.cleaning import iso
from lycosa.collection.export.rows import rows, written
from lycosa.collection.export.selection import Selection, Written


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write a line for each page."""
    for row in rows(pages):
        row["fetched"], row["changed"] = iso(row["fetched"]), iso(row["changed"])
        out.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return written(pages)
