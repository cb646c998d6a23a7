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
from lycosa_server.people.models import MAX_FILE_BYTES, model_ids
from lycosa_server.settings import Settings

MAX_HEADER_BYTES = 4_000_000  # maximum size of a model's JSON header
# Classes of a classifier, and units of a network: link relevances are kept per class.
MAX_CLASSES = 2_000
MAX_BROWSING_PAGES = 10_000  # maximum pages of a browsing model, with all of which each crawled page is compared
MAX_RULES_BYTES = 10_000_000  # maximum size of rules, which are parsed each time an interest is changed
MAX_PAGES = 200_000  # maximum pages of a web directory
# Topics and pages of a dump, which takes half a minute to read; only some pages of each topic are kept.
MAX_ENTRIES = 1_000_000
MAX_TREE_BYTES, NODE_BYTES = 200_000_000, 500  # limit of a tree in memory; size of a node, plus its path


def detect_kind(path: Path) -> str:
    with open(path, "rb") as file:
        start = file.read(200)
    if start.startswith(CLASSIFIER.mark):
        return "classifier"
    if start.startswith(BROWSING.mark):
        return "browsing"
    return "rules" if start.removeprefix(b"\xef\xbb\xbf").startswith(HEADER[:25].encode()) else "directory"


def inspect(path: Path, kind: str) -> dict[str, Any]:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise InputError("too-large", f"the file is larger than {MAX_FILE_BYTES // 1_000_000} MB, the maximum")
    try:
        return {"classifier": _classifier, "rules": _rules, "browsing": _browsing, "directory": _directory}[kind](path)
    except InputError as error:  # the uploader does not know the name of our copy
        raise InputError(error.code, str(error).replace(str(path), "that you gave")) from error


def _classifier(path: Path) -> dict[str, Any]:
    _check_header(path)
    model = TrainedModel.load(path)
    units = model.classifier.arrays().get("bias", ())  # a network may have any number of them
    if max(len(model.classes), len(units)) > MAX_CLASSES:
        raise InputError("too-large", f"the model has more than {MAX_CLASSES:,} classes or units, the maximum")
    quality, classes = model.facts.get("quality"), dict(zip(model.classes, model.counts, strict=True))
    _check_tree(classes)
    return {
        "classifier": model.classifier.name,
        "classes": classes,
        "pages": sum(model.counts),
        "terms": len(model.terms),
        "accuracy": _fraction(quality, "accuracy"),
        "majority": _fraction(quality, "majority"),
    }


def _fraction(quality: Any, name: str) -> float | None:
    value = quality.get(name) if isinstance(quality, dict) else None
    return round(float(value), 4) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _rules(path: Path) -> dict[str, Any]:
    if path.stat().st_size > MAX_RULES_BYTES:
        raise InputError("too-large", f"the file has more than {MAX_RULES_BYTES // 1_000_000} MB of rules, the maximum")
    book = RuleBook.load(path)
    if len(book.classes) > MAX_CLASSES:
        raise InputError("too-large", f"the rules have more than {MAX_CLASSES:,} classes, the maximum")
    classes = dict.fromkeys(book.classes, 0)
    _check_tree(classes)
    return {"rules": len(book), "classes": classes}


def _browsing(path: Path) -> dict[str, Any]:
    _check_header(path)
    browsing = Browsing.load(path)
    if len(browsing) > MAX_BROWSING_PAGES:
        raise InputError("too-large", f"the model has {len(browsing):,} pages; the maximum is {MAX_BROWSING_PAGES:,}")
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
        if len(file.readline(MAX_HEADER_BYTES + 1)) > MAX_HEADER_BYTES:
            raise InputError("bad-file", f"{path} is not a model: its header has more than {MAX_HEADER_BYTES:,} bytes")


def convert_directory(source: Path, target: Path) -> str:
    with open(source, "rb") as file:
        if file.read(2) == b"\x1f\x8b":
            raise InputError("bad-file", "the file is compressed: decompress it and upload it again")
    try:
        found = read_web_directory([source], entries=MAX_ENTRIES)
    except InputError as error:
        raise InputError(error.code, str(error).replace(str(source), "the file that you gave")) from error
    found.write(target)
    return "; ".join([*found.notes, *(f"skipped: {count:,} {why}" for why, count in found.left_out.items())])


def import_upload(task: dict[str, Any]) -> dict[str, Any]:
    given, place = Path(task["given"]), Path(task["place"])
    kind, notes = detect_kind(given), []
    if kind == "directory":
        notes = [note] if (note := convert_directory(given, place)) else []
    else:
        given.replace(place)
    facts = inspect(place, kind) | ({"notes": notes} if notes else {})
    return {"kind": kind, "about": facts, "size": place.stat().st_size, "digest": digest_of(place)}


def web_directory(path: Path) -> WebDirectory:
    facts = path.stat()
    return _web_directory(path, facts.st_mtime_ns, facts.st_size)


@lru_cache(4)
def _web_directory(path: Path, changed: int, size: int) -> WebDirectory:
    found = read_web_directory([path], most=0, entries=MAX_ENTRIES)
    if sum(map(len, found.pages.values())) > MAX_PAGES:
        raise InputError("too-large", f"the directory has more than {MAX_PAGES:,} pages: upload a branch of it")
    _check_tree(found.pages)
    return found


def _check_tree(paths: Iterable[str]) -> None:
    size, before = 0, list[str]()
    for path, parts in sorted((path, path.split("/")) for path in paths):
        differing = (at for at, (one, other) in enumerate(zip(parts, before, strict=False)) if one != other)
        same = next(differing, len(before))
        size += max(0, len(parts) - same) * (NODE_BYTES + len(path))
        before = parts
        if size > MAX_TREE_BYTES:
            raise InputError("too-large", "the topic paths are too long or too many: upload a part of it")


def pages_of(path: Path, topics: Iterable[str]) -> Iterator[tuple[str, str]]:
    directory = web_directory(path)
    for mark in topics:
        for topic, urls in directory.below(mark).pages.items():
            for url in urls:
                yield url, topic


def digest_of(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remove_orphans(settings: Settings, database: Database, now: float) -> None:
    """Remove files without a row: their owner was deleted, or their upload was interrupted."""
    place = settings.data / "models"
    if not place.is_dir():
        return
    known = model_ids(database)
    for path in place.iterdir():
        # the upload that would have added its row is long over
        if path.name not in known and path.stat().st_mtime < now - 3_600.0:
            path.unlink(missing_ok=True)


def remove(settings: Settings, models: list[str]) -> None:
    for model in models:
        settings.model_file(model).unlink(missing_ok=True)


def models_directory(settings: Settings) -> Path:
    place = settings.data / "models"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.chmod(place, 0o700)
    return place


if __name__ == "__main__":
    child.serve(import_upload, gigabytes=4)
