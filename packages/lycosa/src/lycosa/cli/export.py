"""`lycosa export`: write the pages out for other tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from lycosa.cli.parameters import Dir, Quiet, Threshold, WholeText, complete_names
from lycosa.cli.progress_bar import show_progress
from lycosa.collection import export as exporting
from lycosa.drawing.formats import many, size


def export(
    directory: Dir,
    *,
    form: Annotated[
        str,
        "--format",
        "-f",
        complete_names("exporters"),
        "jsonl, csv, parquet, warc, wacz, text, markdown or records. Default: by FILE's name.",
    ] = "",
    out: Annotated[Path | None, "-o", "FILE", "File to write. Default: standard output."] = None,
    everything: Annotated[bool, "--all", "All pages, not only the relevant ones."] = False,
    copies: Annotated[bool, "Include copies of other pages."] = False,
    versions: Annotated[
        str,
        "WHICH",
        "Which versions of changed pages: all or current. Default: all for warc and wacz, else current.",
    ] = "",
    whole_text: WholeText = False,
    threshold: Threshold = None,
    excel: Annotated[bool, "Write CSV with a byte order mark, so that Excel reads it as UTF-8."] = False,
    respect: Annotated[
        str,
        "--respect-opt-outs",
        "WHICH",
        "Leave out pages whose owners opted out of AI training (training) or of any use (all).",
    ] = "",
    quiet: Quiet = False,
) -> None:
    """Export pages: tables, web archive or plain text."""
    to_output = out is None or str(out) == "-"
    # Progress must not interfere with an export to stdout.
    with show_progress(quiet or (to_output and sys.stdout.isatty())) as progress:
        done = exporting.export(
            directory,
            out,
            form,
            everything=everything,
            copies=copies,
            versions=versions,
            whole_text=whole_text,
            threshold=threshold,
            respect=respect,
            excel=excel,
            stdout=sys.stdout.buffer,
            progress=progress,
        )
    if not quiet:
        print(describe_export(done), file=sys.stderr)


def describe_export(done: exporting.ExportResult) -> str:
    """Return a line with the exported file, its size and how to open it, and remarks."""
    remarks = "".join(f"; {remark}" for remark in done.remarks)
    written = many(done.pages, "record" if done.form == "records" else "version" if done.versions else "page")
    if done.path is None:
        return f"{written}{remarks}."
    return f"{done.path}: {written}, {size(done.size)}{remarks}. Open it with {done.how_to_open}"
