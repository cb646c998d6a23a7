"""`lycosa export`: write the pages out for other tools."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from lycosa.collection.export import Exported, export
from lycosa.collection.export.cleaning import count


def run(
    directory: Path,
    form: str,
    out: Path | str | None,
    *,
    everything: bool,
    copies: bool,
    quiet: bool,
    versions: str = "",
    whole_text: bool = False,
    threshold: float | None = None,
) -> None:
    """Export, with progress and a closing line on the error output: the output may be the export itself."""
    to_output = out is None or str(out) == "-"
    console = Console(stderr=True)
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        # Not across the export's own lines.
        disable=quiet or not sys.stderr.isatty() or (to_output and sys.stdout.isatty()),
    ) as progress:
        task = progress.add_task("reading", total=None)

        def tell(what: str, done: int, total: int) -> None:
            if done % 50 == 0 or done == total:
                progress.update(task, description=what, completed=done, total=total)

        done = export(
            directory,
            out,
            form,
            everything=everything,
            copies=copies,
            versions=versions,
            whole_text=whole_text,
            threshold=threshold,
            stdout=sys.stdout.buffer,
            tell=tell,
        )
    if not quiet:
        print(told(done), file=sys.stderr)


def told(done: Exported) -> str:
    """What was written, how large it is and how to open it, in a line; then what to know of it."""
    remarks = "".join(f"; {remark}" for remark in done.remarks)
    written = count(done.pages, "record" if done.form == "records" else "version" if done.versions else "page")
    if done.path is None:
        return f"{written}{remarks}."
    return f"{done.path}: {written}, {_size(done.size)}{remarks}. Open it with {done.opened_by}"


def _size(size: int) -> str:
    """A size in the largest unit that fits.

    >>> _size(999), _size(3_140_000)
    ('999 bytes', '3.1 MB')
    """
    if size < 1000:
        return f"{size} bytes"
    unit = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**unit:.1f} {('kB', 'MB', 'GB')[unit - 1]}"
