"""The ontology that a crawl is told to use: WordNet, or one of the user's own."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from lycosa.text.ontology import Ontology


def ontology(place: str = "") -> Ontology:
    """WordNet where it is found; of a directory, WordNet's files there; of a file, a table of relations (TSV).

    It is read once in a process, a file again when it has changed.
    """
    if place and not Path(place).is_dir():
        return _thesaurus(str(Path(place).absolute()), _changed(Path(place)))
    from lycosa.text.wordnet import find_wordnet

    return wordnet(str(find_wordnet(place).absolute()))


@cache
def wordnet(directory: str) -> Ontology:
    """The WordNet in a directory."""
    from lycosa.text.wordnet import read_wordnet

    source = read_wordnet(Path(directory))
    source.again = (wordnet, (directory,))
    return source


@lru_cache(maxsize=8)
def _thesaurus(file: str, changed: tuple[int, int] = (0, 0)) -> Ontology:
    from lycosa.text.thesaurus import read_thesaurus

    source = read_thesaurus(Path(file))
    source.again = (_thesaurus, (file, changed))
    return source


def _changed(path: Path) -> tuple[int, int]:
    """When a file was written, and how long it is; what can't be told will be told by its reader."""
    try:
        about = path.stat()
    except OSError:
        return 0, 0
    return about.st_mtime_ns, about.st_size
