"""Load the ontology of a crawl: WordNet, or a thesaurus of the user."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from lycosa.text.ontology import Ontology


def load_ontology(place: str = "") -> Ontology:
    """Load an ontology: WordNet from a directory (default: where it is installed), or a table of relations (TSV).

    Cached per process; a table is read again after it has changed.
    """
    if place and not Path(place).is_dir():
        return _load_thesaurus(str(Path(place).absolute()), _file_version(Path(place)))
    from lycosa.text.wordnet import find_wordnet

    return load_wordnet(str(find_wordnet(place).absolute()))


@cache
def load_wordnet(directory: str) -> Ontology:
    from lycosa.text.wordnet import read_wordnet

    source = read_wordnet(Path(directory))
    source.rebuild = (load_wordnet, (directory,))
    return source


@lru_cache(maxsize=8)
def _load_thesaurus(file: str, changed: tuple[int, int] = (0, 0)) -> Ontology:
    from lycosa.text.thesaurus import read_thesaurus

    source = read_thesaurus(Path(file))
    source.rebuild = (_load_thesaurus, (file, changed))
    return source


def _file_version(path: Path) -> tuple[int, int]:
    """Return modification time and size of a file; zeros if it cannot be read, which the reader then reports."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
