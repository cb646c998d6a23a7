"""`lycosa report`: write an HTML report of a crawl."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lycosa.cli.parameters import Dir, Json, Threshold
from lycosa.cli.printing import print_result, write_page
from lycosa.collection.crawl_directory import CrawlDirectory
from lycosa.collection.report import gather, render
from lycosa.drawing.formats import size
from lycosa.explaining.reasons import outlook


def report(
    directory: Dir,
    *,
    out: Annotated[Path | None, "-o", "FILE", "Default: DIR/report.html."] = None,
    threshold: Threshold = None,
    json: Json = False,
) -> None:
    """Write an HTML report: harvest, pages, hosts, errors."""
    with CrawlDirectory(directory, threshold) as collection:
        target = out or directory / "report.html"
        found = gather(collection)
        found.outlook = outlook(directory)
        written = write_page(target, render(found), "--out", "report.html")
    line = f"{target} ({size(written)}): open it in a browser, {target.resolve().as_uri()}"
    print_result({"file": target, "bytes": written}, [line], json=json)
