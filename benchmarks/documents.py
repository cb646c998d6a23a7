"""Text extraction from documents compared with other tools: shared words, and CPU time per page.

    python benchmarks/documents.py FILES...

Needs `pdftotext` (poppler-utils) for PDF and `pandoc` for other formats. A word is a run of letters and digits, or one
Chinese or Japanese character; words count as often as they occur. Printed are the share of the other tool's words that
are in our text (found), and the share of our words that are in its text (shared). Our CPU time is that of the second
run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import time
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

from lycosa.web.documents import read_any
from lycosa.web.documents.kinds import kind_by_extension

WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\\W_]+")
RIGHT = "\u0590-\u065f\u066a-\u06ef\u06fa-\u08ff"
UNIT = 2_000
"""Letters that count as one page in formats without pages."""


EDGE = re.compile(f"(?<=[{RIGHT}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{RIGHT}])")
"""Changes of writing direction, where pdftotext adds marks of its own, with or without a space."""

SILENT = re.compile("[\u200b-\u200f\u0640\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
"""Invisible joiners, and vowel signs of Arabic and Hebrew."""


LAM_ALEF = re.compile("[\u0644\u0627\u0622\u0623\u0625]{2,}")
"""Letters often drawn as ligatures, which pdftotext returns in reverse order."""


def words(text: str) -> Counter[str]:
    """Count the words of a text, after case folding and compatibility normalisation."""
    text = EDGE.sub(" ", SILENT.sub("", unicodedata.normalize("NFKC", text)))
    return Counter(WORD.findall(LAM_ALEF.sub(lambda match: "".join(sorted(match[0])), text).casefold()))


def other(file: Path, kind: str) -> str:
    """Return the other tool's text; empty if it cannot read the file."""
    formats = {"markdown": "gfm", "rtf": "rtf"}
    command = ["pdftotext", "-enc", "UTF-8", str(file), "-"]
    if kind != "pdf":
        command = ["pandoc", "-f", formats.get(kind, kind), "-t", "plain", "--wrap=none", str(file)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout.decode("utf-8", "replace")


def main() -> None:
    """Print a line for each file and for each kind."""
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 6)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    for file in parser.parse_args().files:
        body, kind = file.read_bytes(), kind_by_extension(f"http://a.test/{file.name}")
        for _ in range(2):
            began = time.process_time()
            document = read_any(body, f"http://a.test/{file.name}", "")
            seconds = time.process_time() - began
        ours, theirs = words(document.text), words(other(file, kind))
        both = (ours & theirs).total()
        found, shared = both / max(1, theirs.total()), both / max(1, ours.total())
        pages = int(document.about["pages"]) if kind == "pdf" and not document.error else 1 + len(document.text) // UNIT
        good = not theirs or found >= 0.95
        notes = " ".join([*document.flags, document.error])
        print(
            f"{file.name[:44]:<44} {kind:<8} {len(body):>9,} {pages:>5} {1000 * seconds:>7.0f} ms {theirs.total():>8,} "
            f"{found:.3f} {shared:.3f}{'' if good else ' !'} {notes}"
        )
        for at, value in enumerate((1, good, pages, 1000 * seconds, len(body), found >= 0.95 and shared >= 0.95)):
            sums[kind][at] += value
    print("\nkind      files  95 %  both ways  pages   ms a page  ms a file  kB a file")
    for kind, (files, good, pages, seconds, size, both_ways) in sums.items():
        print(
            f"{kind:<9} {files:>5.0f} {good:>5.0f} {both_ways:>10.0f} {pages:>6.0f} {seconds / pages:>11.2f} "
            f"{seconds / files:>10.1f} {size / files / 1000:>10.0f}"
        )


if __name__ == "__main__":
    main()
