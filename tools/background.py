"""Write the word statistics that come with the package: document frequencies of English.

    python tools/background.py SOURCE... --source "origin and licence"

SOURCE is WARC files, crawl directories, or directories of pages. The package contains the counts of Wikipedia for
Schools (2007), from the Wikispeedia corpus.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lycosa.text.background import SHIPPED
from lycosa.training.count_words import measure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--source", required=True, help="what the file says it was computed from")
    root = Path(__file__).resolve().parent.parent
    parser.add_argument("--out", type=Path, default=root / "packages/lycosa/src/lycosa/text" / SHIPPED)
    given = parser.parse_args()
    found = measure(given.sources, source=given.source)
    found.save(given.out)
    print(f"{given.out}: {len(found.frequency):,} stems of {found.documents:,} pages, language {found.language!r}")


if __name__ == "__main__":
    main()
