"""Model files: detect, validate and store uploads, and read the topics in them.

Uploads are not trusted. Their size is checked before they are read, the loaders validate all content, and models that
would make crawls slow (thousands of classes) are rejected. A web directory is converted to our own table format.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.judges.model import FORMAT as CLASSIFIER
from lycosa.judges.model import TrainedModel
from lycosa.strategies.rulebook import HEADER, RuleBook
from lycosa.text.browsing import FORMAT as BROWSING
from lycosa.text.browsing import Browsing
from lycosa.training.web_directory import WebDirectory, read_web_directory
from lycosa_server import child
from lycosa_server.people.database import Database
from lycosa_server.people.models import LARGEST, ids
from lycosa_server.settings import Settings

LARGEST_HEADER = 4_000_000  # bytes of a model's JSON header
# Classes of a classifier, and units of a network: link relevances are kept per class.
MOST_CLASSES = 2_000
MOST_BROWSED = 10_000  # pages of a browsing model: each crawled page is compared with all of them
LARGEST_RULES = 10_000_000  # bytes of text, parsed each time an interest is changed
MOST_PAGES = 200_000  # pages of a web directory
# Topics and pages of a dump, which takes half a minute to read; only some pages of each topic are kept.
MOST_ENTRIES = 1_000_000
MOST_TREE, NODE = 200_000_000, 500  # bytes of a topic tree in memory, and of one of its nodes in addition to its path


def kind_of(path: Path) -> str:
    """Detect the kind of a file by its first bytes; anything unknown is treated as a web directory."""
    with open(path, "rb") as file:
        start = file.read(200)
    if start.startswith(CLASSIFIER.mark):
        return "classifier"
    if start.startswith(BROWSING.mark):
        return "browsing"
    return "rules" if start.removeprefix(b"\xef\xbb\xbf").startswith(HEADER[:25].encode()) else "directory"


def inspect(path: Path, kind: str) -> dict[str, Any]:
    """Validate a model file and return its metadata.

    Web directories are validated when they are converted, see `keep_directory`.
    """
    if path.stat().st_size > LARGEST:
        raise InputError(f"the file has more than {LARGEST // 1_000_000} MB: no model may be that large here")
    try:
        return {"classifier": _classifier, "rules": _rules, "browsing": _browsing, "directory": _directory}[kind](path)
    except InputError as error:  # the name of our copy means nothing to the uploader
        raise InputError(str(error).replace(str(path), "that you gave")) from error


def _classifier(path: Path) -> dict[str, Any]:
    _check_header(path)
    model = TrainedModel.load(path)
    units = model.classifier.arrays().get("bias", ())  # a network may have any number of them
    if max(len(model.classes), len(units)) > MOST_CLASSES:
        raise InputError(f"the model has more than {MOST_CLASSES:,} classes or units: that is too many here")
    quality, classes = model.facts.get("quality"), dict(zip(model.classes, model.counts, strict=True))
    _check_tree(classes)
    return {
        "classifier": model.classifier.name,
        "classes": classes,
        "pages": sum(model.counts),
        "terms": len(model.terms),
        "accuracy": _share(quality, "accuracy"),
        "majority": _share(quality, "majority"),
    }


def _share(quality: Any, name: str) -> float | None:
    value = quality.get(name) if isinstance(quality, dict) else None
    return round(float(value), 4) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _rules(path: Path) -> dict[str, Any]:
    if path.stat().st_size > LARGEST_RULES:
        raise InputError(f"the file has more than {LARGEST_RULES // 1_000_000} MB of rules: that is too many here")
    book = RuleBook.load(path)
    if len(book.classes) > MOST_CLASSES:
        raise InputError(f"the rules have more than {MOST_CLASSES:,} classes: that is too many here")
    classes = dict.fromkeys(book.classes, 0)
    _check_tree(classes)
    return {"rules": len(book), "classes": classes}


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
    found = web_directory(path)
    return {"topics": found.topics, "pages": found.size}


def _check_header(path: Path) -> None:
    with open(path, "rb") as file:
        file.readline(100), file.readline(100)
        if len(file.readline(LARGEST_HEADER + 1)) > LARGEST_HEADER:
            raise InputError(f"the model {path} begins with more than {LARGEST_HEADER:,} bytes of JSON: it is none")


def keep_directory(source: Path, target: Path) -> str:
    """Convert a dump of a web directory to a table; return notes on skipped entries."""
    with open(source, "rb") as file:
        if file.read(2) == b"\x1f\x8b":
            raise InputError(
                "the file that you gave is packed: unpack it first, as there is no telling how large it gets"
            )
    try:
        found = read_web_directory([source], entries=MOST_ENTRIES)
    except InputError as error:
        raise InputError(str(error).replace(str(source), "the file that you gave")) from error
    found.write(target)
    return "; ".join([*found.notes, *(f"left out: {count:,} {why}" for why, count in found.left_out.items())])


def take_in(task: dict[str, Any]) -> dict[str, Any]:
    """Validate an upload in a child process and move it into place; return the columns of its row."""
    given, place = Path(task["given"]), Path(task["place"])
    kind, notes = kind_of(given), []
    if kind == "directory":
        notes = [note] if (note := keep_directory(given, place)) else []
    else:
        given.replace(place)
    about = inspect(place, kind) | ({"notes": notes} if notes else {})
    return {"kind": kind, "about": about, "size": place.stat().st_size, "digest": digest_of(place)}


def web_directory(path: Path) -> WebDirectory:
    about = path.stat()
    return _web_directory(path, about.st_mtime_ns, about.st_size)


@lru_cache(4)
def _web_directory(path: Path, changed: int, size: int) -> WebDirectory:
    found = read_web_directory([path], most=0, entries=MOST_ENTRIES)
    if sum(map(len, found.pages.values())) > MOST_PAGES:
        raise InputError(f"the directory has more than {MOST_PAGES:,} pages: take a branch of it")
    _check_tree(found.pages)
    return found


def _check_tree(paths: Iterable[str]) -> None:
    """Raise `InputError` if a tree of these topics or classes would take too much memory."""
    size, before = 0, list[str]()
    for path, parts in sorted((path, path.split("/")) for path in paths):
        same = next(
            (at for at, (one, other) in enumerate(zip(parts, before, strict=False)) if one != other), len(before)
        )
        size += max(0, len(parts) - same) * (NODE + len(path))
        before = parts
        if size > MOST_TREE:
            raise InputError("the paths of its topics are too long, or too many: take a part of it")


def pages_of(path: Path, topics: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the URL and topic of each page at or below some topics of a web directory."""
    directory = web_directory(path)
    for mark in topics:
        for topic, urls in directory.below(mark).pages.items():
            for url in urls:
                yield url, topic


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sweep(settings: Settings, database: Database, now: float) -> None:
    """Remove files without a row: their owner was deleted, or their upload was interrupted."""
    place = settings.data / "models"
    if not place.is_dir():
        return
    known = ids(database)
    for path in place.iterdir():
        # the upload that would have added its row is long over
        if path.name not in known and path.stat().st_mtime < now - 3_600.0:
            path.unlink(missing_ok=True)


def remove(settings: Settings, models: list[str]) -> None:
    for model in models:
        settings.model_file(model).unlink(missing_ok=True)


def room(settings: Settings) -> Path:
    """Return the directory of model files, created if missing and private to the server's account."""
    place = settings.data / "models"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chmod(place, 0o700)
    return place


if __name__ == "__main__":
    child.serve(take_in, gigabytes=4)
