"""A corpus by name: an index that is there, or one that is made once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import xxhash

from lycosa.core.telling import Tell, silent
from lycosa.lab.corpora.opening import make_index
from lycosa.lab.index import FACTS, Index


def open_corpus(
    source: str,
    keep: Path,
    tell: Tell = silent,
    *,
    labels: str = "",
    exclude: Sequence[str] = (),
) -> Index:
    """The index in a directory; anything else that 'lycosa lab index' takes is indexed first, into `keep`.

    What was made from a file is made anew when the file has changed.
    """
    if (Path(source) / FACTS).is_file():
        return Index.open(source)
    files = [Path(name) for name in (source, labels) if name and Path(name).is_file()]
    state = [(name.name, name.stat().st_size, name.stat().st_mtime_ns) for name in files]
    key = xxhash.xxh3_64_hexdigest(repr((source if not files else "", state, labels != "", list(exclude))).encode())
    place = keep / f"{key}.index"
    if (place / FACTS).is_file():
        return Index.open(place)
    keep.mkdir(parents=True, exist_ok=True)
    return make_index([source], place, labels=Path(labels) if labels else None, exclude=list(exclude), tell=tell)
