"""`lycosa report`: the crawl on one page of HTML."""

from __future__ import annotations

from pathlib import Path

from lycosa.collection.reading import Collection
from lycosa.collection.report import gather, render
from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing
from lycosa.drawing.formats import size
from lycosa.explaining.outlook import outlook


def write(directory: Path, out: Path | None, threshold: float | None = None) -> None:
    """Write the page, all of it or nothing, and say where it is."""
    with Collection(directory, threshold) as collection:
        target = out or directory / "report.html"
        if target.is_dir():
            raise InputError(f"{target} is a directory: name a file with --out, such as {target / 'report.html'}")
        report = gather(collection)
        report.outlook = outlook(directory)
        page = render(report).encode()
    try:
        with replacing(target) as file:
            file.write(page)
    except OSError as error:
        raise StoreError(f"cannot write {target}: {error.strerror}; choose another file with --out") from error
    print(f"{target} ({size(len(page))}): open it in a browser, {target.resolve().as_uri()}")
