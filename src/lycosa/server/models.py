"""Files of people's models: what an upload is, whether it can be used, where it is kept; and the topics in it.

Nothing of an upload is believed. Its size is bounded before it is read, the loaders check all of its content, and what
would cost a crawl too much (thousands of classes) is refused. A directory of topics is kept as a table of our own.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.estimators.rulebook import HEADER, RuleBook
from lycosa.people.database import Database
from lycosa.people.models import LARGEST, ids
from lycosa.server.settings import Settings
from lycosa.text.browsing import FORMAT as BROWSING
from lycosa.text.browsing import Browsing
from lycosa.topics.model import FORMAT as CLASSIFIER
from lycosa.topics.model import Model
from lycosa.topics.taxonomy import LONGEST
from lycosa.training.sources import table_rows
from lycosa.training.web_directory import read_web_directory
from lycosa.web.urls import check_seed

LARGEST_HEADER = 4_000_000
"""Bytes of JSON that a model may begin with."""

MOST_CLASSES = 2_000
"""Of a classifier: what it says of each link of a page is kept side by side. So many units of a network, too."""

MOST_BROWSED = 10_000
"""Pages of browsing: each page of a crawl is compared with all of them."""

LARGEST_RULES = 10_000_000
"""Bytes of rules: they are text, and read each time that an interest is changed."""

MOST_ROWS = 200_000
"""Pages of a directory of topics."""

UNUSED = 3_600.0
"""Seconds after which a file without a row goes: whoever was to write the row is gone."""


class Topic(NamedTuple):
    """A node of a tree of topics."""

    path: str
    pages: int
    """At it and below it."""
    below: int
    """Topics just below it."""


def kind_of(path: Path) -> str:
    """What a file is, by how it begins; what is none of our own is taken for a directory of topics."""
    with open(path, "rb") as file:
        start = file.read(200)
    if start.startswith(CLASSIFIER.mark):
        return "classifier"
    if start.startswith(BROWSING.mark):
        return "browsing"
    return "rules" if start.removeprefix(b"\xef\xbb\xbf").startswith(HEADER[:25].encode()) else "directory"


def inspect(path: Path, kind: str) -> dict[str, Any]:
    """Whether a file can be used as what it says it is, and what there is to tell of it; an error says what is wrong.

    A directory of topics is checked where it is taken in, see `keep_directory`.
    """
    if path.stat().st_size > LARGEST:
        raise InputError(f"the file has more than {LARGEST // 1_000_000} MB: no model may be that large here")
    try:
        return {"classifier": _classifier, "rules": _rules, "browsing": _browsing, "directory": _directory}[kind](path)
    except InputError as error:  # it has a name of its own only where it came from
        raise InputError(str(error).replace(str(path), "that you gave")) from error


def _classifier(path: Path) -> dict[str, Any]:
    _check_header(path)
    model = Model.load(path)
    arrays = model.classifier.arrays()
    sides = [side for array in arrays.values() for side in array.shape if side != len(model.terms)]
    if len(model.classes) > MOST_CLASSES or max(sides, default=0) > MOST_CLASSES:
        raise InputError(f"the model has more than {MOST_CLASSES:,} classes or units: that is too many here")
    quality = model.facts.get("quality")
    return {
        "classifier": model.classifier.name,
        "classes": dict(zip(model.classes, model.counts, strict=True)),
        "pages": sum(model.counts),
        "terms": len(model.terms),
        "accuracy": _share(quality, "accuracy"),
        "majority": _share(quality, "majority"),
    }


def _share(quality: Any, name: str) -> float | None:
    """A share that a model tells of itself, if it is one."""
    value = quality.get(name) if isinstance(quality, dict) else None
    return round(float(value), 4) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _rules(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LARGEST_RULES:
        raise InputError(f"the file has more than {LARGEST_RULES // 1_000_000} MB of rules: that is too many here")
    book = RuleBook.load(path)
    if len(book.classes) > MOST_CLASSES:
        raise InputError(f"the rules have more than {MOST_CLASSES:,} classes: that is too many here")
    return {"rules": len(book), "classes": dict.fromkeys(book.classes, 0)}


def _browsing(path: Path) -> dict[str, Any]:
    _check_header(path)
    browsing = Browsing.load(path)
    if len(browsing) > MOST_BROWSED:
        raise InputError(f"the browsing model has {len(browsing):,} pages: {MOST_BROWSED:,} are the most here")
    return {
        "pages": len(browsing.urls),
        "relevant": int(browsing.relevant.sum()),
        "terms": len(browsing.terms),
        "states": browsing.states,
    }


def _directory(path: Path) -> dict[str, Any]:
    for number, row in enumerate(table_rows(path)):  # ours are, but a backup may be anybody's
        if number >= MOST_ROWS or len(row) != 2 or check_seed(row[0]) != row[0] or len(row[1]) > LONGEST:
            raise InputError("the directory is none as Lycosa writes it")
    tree = tree_of(path)
    return {"topics": len(tree) - 1, "pages": tree[""].pages}


def _check_header(path: Path) -> None:
    with open(path, "rb") as file:
        file.readline(100), file.readline(100)
        if len(file.readline(LARGEST_HEADER + 1)) > LARGEST_HEADER:
            raise InputError(f"the model {path} begins with more than {LARGEST_HEADER:,} bytes of JSON: it is none")


def keep_directory(source: Path, target: Path) -> str:
    """Write the addresses and topics of a file as a table of our own; what was left out, in words."""
    with open(source, "rb") as file:
        if file.read(2) == b"\x1f\x8b":
            raise InputError("the file that you gave is packed: unpack it first, as nobody knows how large it gets")
    try:
        listed = read_web_directory([source])
    except InputError as error:
        raise InputError(str(error).replace(str(source), "the file that you gave")) from error
    rows = ((url, topic) for topic, urls in sorted(listed.pages.items()) for url in urls if check_seed(url) == url)
    with replacing(target) as out:
        for url, topic in islice(rows, MOST_ROWS):
            out.write(f"{url}\t{topic}\n".encode())
    if not target.stat().st_size:
        raise InputError("the file that you gave names no address with a topic: is it a directory of topics?")
    if next(rows, None) is not None:
        listed.notes.append(f"the first {MOST_ROWS:,} pages are taken")
    return "; ".join([*listed.notes, *(f"left out: {count:,} {why}" for why, count in listed.left_out.items())])


# -- topics ------------------------------------------------------------------------------------------------------


def tree_of(path: Path) -> dict[str, Topic]:
    """The topics of a directory, by path; the empty one is the root."""
    about = path.stat()
    return _tree(path, about.st_mtime_ns, about.st_size)


@lru_cache(4)
def _tree(path: Path, changed: int, size: int) -> dict[str, Topic]:
    return tree(Counter(row[1] for row in table_rows(path) if len(row) > 1))


def tree(counts: dict[str, int]) -> dict[str, Topic]:
    """Every node above and at some paths that have so many pages, by path.

    >>> tree({"Sea/Reefs": 2, "Sea": 1})["Sea"]
    Topic(path='Sea', pages=3, below=1)
    """
    pages: Counter[str] = Counter()
    below: dict[str, set[str]] = {"": set()}
    for path, count in counts.items():
        at = ""
        pages[""] += count
        for part in path.split("/"):
            parent, at = at, f"{at}/{part}" if at else part
            pages[at] += count
            below.setdefault(parent, set()).add(at)
            below.setdefault(at, set())
    return {path: Topic(path, pages[path], len(inside)) for path, inside in below.items()}


def children(nodes: dict[str, Topic], under: str) -> list[Topic]:
    """The topics just below one, by name."""
    start = f"{under}/" if under else ""
    inside = (node for path, node in nodes.items() if path.startswith(start) and path != "")
    return sorted(node for node in inside if "/" not in node.path[len(start) :] and node.path != under)


def pages_of(path: Path, topics: list[str]) -> Iterator[tuple[str, str]]:
    """The pages of some topics of a directory, and of what lies below these: address and topic."""
    wanted = tuple(f"{topic}/" for topic in topics)
    for row in table_rows(path):
        if len(row) > 1 and f"{row[1]}/".startswith(wanted):
            yield row[0], row[1]


# -- files -------------------------------------------------------------------------------------------------------


def digest_of(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sweep(settings: Settings, database: Database, now: float) -> None:
    """Remove files that no row tells of: of a person who is gone, or of an upload that was broken off."""
    place = settings.data / "models"
    if not place.is_dir():
        return
    known = ids(database)
    for path in place.iterdir():
        if path.name not in known and path.stat().st_mtime < now - UNUSED:
            path.unlink(missing_ok=True)


def remove(settings: Settings, models: list[str]) -> None:
    """Remove the files of models whose rows are gone."""
    for model in models:
        settings.model_file(model).unlink(missing_ok=True)


def room(settings: Settings) -> Path:
    """The directory of all of them, made if need be; for its owner alone."""
    place = settings.data / "models"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chmod(place, 0o700)
    return place
