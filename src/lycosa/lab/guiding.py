"""Guides of a subject: a production judge, told words, examples or a model, has judged every page. Kept in files."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import xxhash
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.files import replacing
from lycosa.core.options import Options
from lycosa.core.protocols import Topic
from lycosa.core.spec import parse
from lycosa.core.telling import Tell, silent
from lycosa.lab.guides import Guide
from lycosa.lab.index import Index
from lycosa.lab.subjects import Subject
from lycosa.topics import TOPICS, describe
from lycosa.topics.examples import centroid
from lycosa.topics.making import make_topic
from lycosa.topics.query import Query

VERSION = 1
TOLD = ("words", "examples", "model", "score", "truth")
JUDGES = {"words": "vector,idf=background", "examples": "vector,idf=none", "model": "model"}
WANTS = ("context", "url")
"""All that strategies ask to be judged beside anchors."""


def guide_for(
    index: Index,
    subject: Subject,
    told: str,
    judge: str = "",
    wants: Sequence[str] = WANTS,
    out: Path | None = None,
    tell: Tell = silent,
) -> Guide:
    """What a judge says that is told the subject's words, its examples, or its model; found once, kept under `out`.

    `score` is what a graph says of its nodes and links. `truth` is the subject's truth page by page, with the graph's
    own scores of links if it has any, else none: for runs as published, where the guide judges itself.
    """
    if told not in TOLD:
        raise InputError(f"told is {told!r}: a guide is told one of {', '.join(TOLD)}")
    if told in ("score", "truth"):
        return _given(index, subject, told, judge)
    if not index.has_text:
        raise InputError(f"the corpus has no text to judge by {told}: take its scores as the guide (told = score)")
    judge = judge or JUDGES[told]
    topic = make_judge(index, subject, told, judge)
    kinds = tuple(sorted(set(wants) & set(WANTS))) if hasattr(topic, "facets") else ()
    stems = dict(topic.weights) if told == "examples" and isinstance(topic, Query) else {}
    path = None
    if out is not None:
        key = repr((VERSION, index.fingerprint, told, judge, kinds, _told(index, subject, told), topic.threshold))
        path = Path(out) / "guides" / f"{xxhash.xxh3_128_hexdigest(key.encode())}.npz"
        kept = _read(path, index)
        if kept is not None:
            kept.stems = stems
            return kept
    guide = Guide.judged(index, topic, f"{judge} by {told}", kinds, tell)
    guide.stems = stems
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, guide)
    return guide


def make_judge(index: Index, subject: Subject, told: str, judge: str = "") -> Topic:
    """The production judge, as a crawl would make it. One that learns while it crawls is refused."""
    judge = judge or JUDGES[told]
    reason = learning(judge)
    if reason:
        raise InputError(f"{reason}: its word depends on what was crawled before, and a guide speaks once for all")
    if told == "words":
        if not subject.words:
            raise InputError(f"the subject {subject.name!r} has no words: tell the guide examples or a model")
        return make_topic(Options(topic=subject.words, judge=judge))
    if told == "model":
        if subject.model is None:
            raise InputError(f"the subject {subject.name!r} has no model yet: prepare it (needs 'model')")
        return make_topic(Options(model=str(subject.model), targets=list(subject.targets), judge=judge))
    if not subject.examples:
        raise InputError(f"the subject {subject.name!r} has no examples: tell the guide words or a model")
    pages = (index.page(node) for node in subject.examples)
    made = TOPICS.maker(parse(judge)[0])
    learned: dict[str, Any] = made.from_examples(pages) if hasattr(made, "from_examples") else centroid(pages)
    return make_topic(Options(examples=[index.names[node] for node in subject.examples], judge=judge), learned)


def learning(judge: str) -> str:
    """Why a judge's word changes while it crawls; empty if it does not.

    >>> learning("vector,idf=background"), learning("vector")
    ('', 'the judge vector learns idf as it goes (write vector,idf=background or idf=none)')
    """
    name, given = parse(judge)
    made = TOPICS.maker(name)
    idf = describe(name).get("idf") if name in TOPICS else None
    if idf is not None and given.get("idf", idf[1]) == "learned":
        return f"the judge {name} learns idf as it goes (write {name},idf=background or idf=none)"
    code = getattr(inspect.getattr_static(made, "learn", None), "__code__", None)
    if code is not None and code.co_names:  # it does something with what it sees
        return f"the judge {name} learns from the pages it sees"
    return ""


def _given(index: Index, subject: Subject, told: str, judge: str) -> Guide:
    if judge:
        raise InputError(f"told is {told!r}, and a judge is named, {judge}: nothing is left to be judged")
    guide = Guide.given(index)
    if told == "score" and not len(index.score):
        raise InputError("the corpus has no scores of its own: tell the guide words, examples or a model")
    if told == "truth":
        guide.beta, guide.name = np.asarray(subject.truth, np.float32), "truth"
    return guide


def _told(index: Index, subject: Subject, told: str) -> object:
    if told == "words":
        return subject.words
    if told == "examples":
        return subject.examples
    assert subject.model is not None
    return xxhash.xxh3_128_hexdigest(subject.model.read_bytes()), subject.targets


# -- as files --------------------------------------------------------------------------------------------------


def _write(path: Path, guide: Guide) -> None:
    lengths = np.array([len(data) for data in guide.data], np.int64)
    facts = {"threshold": guide.threshold, "name": guide.name, "facets": list(guide.facets)}
    arrays: dict[str, NDArray[Any]] = {
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "beta": guide.beta,
        "alpha": guide.alpha,
        "lengths": lengths,
        "data": np.frombuffer(b"".join(guide.data), np.uint8),
        **{f"facet {number}": column for number, column in enumerate(guide.facets.values())},
    }
    if guide.links is not None:
        arrays["links"] = guide.links
    with replacing(path) as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def _read(path: Path, index: Index) -> Guide | None:
    """None if it is not there, or not whole: then it is made again."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
            facts = json.loads(arrays["facts"].tobytes())
            ends = np.cumsum(arrays["lengths"]).tolist()
            data = arrays["data"].tobytes()
            facets = {name: arrays[f"facet {number}"] for number, name in enumerate(facts["facets"])}
            guide = Guide(
                index, arrays["beta"], arrays["alpha"], facts["threshold"], facts["name"],
                arrays.get("links"), facets,
                [data[first:last] for first, last in zip([0, *ends], ends, strict=False)],
            )  # fmt: skip
            return guide if _fits(guide, len(data), ends) else None
    except (OSError, ValueError, KeyError, EOFError, TypeError, RecursionError, BadZipFile):
        return None


def _fits(guide: Guide, size: int, ends: list[int]) -> bool:
    """Whether there is a number for each node, child and link of the index."""
    index = guide.index
    links = len(index.link_slot) or len(index.child)
    columns = [(guide.beta, len(index)), (guide.alpha, len(index.child))]
    columns += [(column, links) for column in (guide.links, *guide.facets.values()) if column is not None]
    return (
        all(column.shape == (long,) and column.dtype.kind == "f" for column, long in columns)
        and all(bool(np.isfinite(column).all()) for column, _ in columns)
        and (guide.links is not None) == bool(len(index.link_slot))
        and len(ends) in (0, len(index))
        and (ends[-1] if ends else 0) == size
        and isinstance(guide.threshold, int | float)
    )
