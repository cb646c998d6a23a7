"""`lycosa disk`: what a crawl takes on the disk."""

from __future__ import annotations

from rich.table import Column

from lycosa.cli.parameters import Dir, Json
from lycosa.cli.printing import crawled, listing, output, print_json, right
from lycosa.collection.disk import measure


def disk(directory: Dir, json: Json = False) -> None:
    """Show the disk space a crawl uses. Works while it runs."""
    crawled(directory)
    found = measure(directory)
    if json:
        parts = [{"name": part.name, "of": part.of, "bytes": part.size, "cache": part.cache} for part in found.parts]
        print_json({"directory": directory, "pages": found.pages, "bytes": found.size, "parts": parts})
        return
    console = output()
    columns = [Column("", no_wrap=True), right("MB"), right("bytes a page"), Column("")]
    rows = [
        (
            f"  {part.name}" if part.of else part.name,
            f"{part.size / 1e6:,.1f}",
            f"{part.size / max(1, found.pages):,.0f}",
            "a cache, rebuilt when needed" if part.cache and part.size else "",
        )
        for part in found.parts
    ]
    each = f"{found.size / max(1, found.pages):,.0f}"
    rows.append(("all", f"{found.size / 1e6:,.1f}", each, f"{found.pages:,} pages"))
    console.print(listing(columns, rows))
