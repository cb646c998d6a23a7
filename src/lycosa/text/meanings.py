"""The ontology that a crawl is told to use: WordNet, or one of the user's own."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lycosa.text.ontology import Ontology


def ontology(place: str = "") -> Ontology:
    """WordNet where it is found; of a directory, WordNet's files there; of a file, a thesaurus (SKOS or TSV).

    It is read once in a process. `lycosa wordnet --fetch` gets WordNet where there is none.
    """
    if place and not Path(place).is_dir():
        return _thesaurus(str(Path(place).absolute()))
    from lycosa.text.wordnet import find_wordnet

    return wordnet(str(find_wordnet(place).absolute()))


@cache
def wordnet(directory: str) -> Ontology:
    """The WordNet in a directory."""
    from lycosa.text.wordnet import read_wordnet

    found = read_wordnet(Path(directory))
    found.again = (wordnet, (directory,))
    return found


@cache
def _thesaurus(file: str) -> Ontology:
    from lycosa.text.thesaurus import read_thesaurus

    found = read_thesaurus(Path(file))
    found.again = (_thesaurus, (file,))
    return found
