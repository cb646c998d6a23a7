"""`lycosa train`: train a classifier on labelled pages and measure its quality."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.judges.model import KINDS, MAGIC, TrainedModel, fit_model
from lycosa.judges.taxonomy import MIN_CLASS_PAGES, Classes, choose_classes
from lycosa.training.corpus import Account, Corpus
from lycosa.training.evaluation import Quality, hold_out, measure
from lycosa.training.sources import PageLoader, marked_topics, read

FEW_PAGES = 20  # a warning is shown for classes with fewer distinct pages


@dataclass
class TrainingResult(Account):
    model: TrainedModel
    out: Path
    quality: Quality | None  # None if nothing was held out


def train(
    sources: Iterable[str],
    out: Path,
    load_pages: PageLoader,
    *,
    kind: str = "nb",
    least: int = 0,
    whole_tree: bool = False,
    held_out: float = 0.2,
    column: str = "",
    language: str = "en",
    seed: int = 0,
    progress: ProgressCallback = no_progress,
) -> TrainingResult:
    """Train a model on the pages of some sources and write it to a file.

    1. Read the pages. 2. Choose the classes. 3. Train on a part and measure on the rest. 4. Train on all and save.
    """
    sources = list(sources)
    _check(out, kind, least, held_out, seed)
    corpus = read(sources, load_pages, progress, column, language)  # step 1
    if not corpus.pages and corpus.left_out:
        raise InputError("no-pages", f"no page could be read from {', '.join(sources)}: {corpus.why()}")
    chosen = choose_classes(Counter(page.label for page in corpus.pages), least, whole_tree=whole_tree)  # step 2
    classes = chosen.names
    number_of = {name: number for number, name in enumerate(classes)}
    page_count = len(corpus.pages)
    corpus.pages = [page for page in corpus.pages if page.label in chosen.of]
    labels = np.array([number_of[chosen.of[page.label]] for page in corpus.pages], np.intp)
    notes = [*corpus.notes, *_remarks(chosen)]
    if page_count - len(labels) - chosen.inner > 0:
        corpus.left_out[f"in classes of fewer than {MIN_CLASS_PAGES} pages"] += page_count - len(labels) - chosen.inner
    quality = None
    if held_out:  # step 3
        progress("measuring", 0, 0)
        quality = _measure(corpus, labels, classes, kind, held_out, seed, notes)
    progress("training", 0, 0)
    facts = {
        "sources": [Path(source).name for source in sources],
        "pages": len(labels),
        "least": chosen.least,
        "whole_tree": whole_tree,
        "merged": chosen.merged,
        "marked": _default_targets(sources, classes, chosen.merged),
        "language": corpus.vocabulary.language,
        "seed": seed,
        "quality": asdict(quality) if quality else None,
    }
    rows = np.arange(len(labels))
    model = _fit(corpus, rows, labels, classes, kind, seed, facts)  # step 4
    model.save(out)
    return TrainingResult(model, out, quality, left_out=corpus.left_out, notes=notes)


def _default_targets(sources: Iterable[str], classes: Iterable[str], merged: Mapping[str, str]) -> list[str]:
    """Return the classes or branches that tables mark as targets; merged classes are replaced by their parents."""
    marks: dict[str, None] = {}
    for source in sources:
        for mark in marked_topics(Path(source)) if Path(source).is_file() else ():
            while mark in merged and not any(f"{name}/".startswith(f"{mark}/") for name in classes):
                mark = merged[mark]
            if any(f"{name}/".startswith(f"{mark}/") for name in classes):
                marks[mark] = None
    return list(marks)


def _check(out: Path, kind: str, least: int, held_out: float, seed: int) -> None:
    if kind not in KINDS:
        raise InputError("unknown-name", f"unknown --kind {kind}; available: {', '.join(KINDS)}")
    if kind not in ("nb", "nb-plain"):  # other kinds need an optional package
        try:
            import sklearn  # noqa: F401
        except ImportError as error:
            from lycosa.judges.classifiers import MISSING

            raise InputError("missing-package", MISSING.format(kind=kind)) from error
    if least < 0:
        raise InputError("out-of-range", f"--least is {least}: it must be 1 or more, or 0 to choose automatically")
    if not 0 <= held_out <= 0.9:
        raise InputError("out-of-range", f"--held-out is {held_out:g}: it must be from 0 (measure nothing) to .9")
    if seed < 0:
        raise InputError("out-of-range", f"--random-seed is {seed}: it must be 0 or more")
    check_out(out, MAGIC, "is not a model")


def check_out(out: Path, begins: bytes, otherwise: str) -> None:
    """Raise InputError unless `out` can be written and any existing file starts with `begins`."""
    try:
        if out.is_dir():
            raise InputError("bad-file", f"--out {out} is a directory: give a file")
        if out.exists() and not out.is_file():
            raise InputError("bad-file", f"--out {out} is not a regular file: choose another --out")
        if not out.parent.is_dir():
            message = f"the directory {out.parent} does not exist: create it, or choose another --out"
            raise InputError("missing-file", message)
        if not os.access(out.parent, os.W_OK):
            raise InputError("cannot-write", f"cannot write to the directory {out.parent}: choose another --out")
        if len(os.fsencode(out.name)) > 235:  # temporary files need room for a suffix, within 255 bytes
            raise InputError("cannot-write", f"--out {out.name[:40]}... is too long: choose another --out")
        with open(out, "rb") as file:
            if not file.read(len(begins)).startswith(begins):
                raise InputError("file-exists", f"{out} exists and {otherwise}: choose another --out")
    except FileNotFoundError:
        pass
    except OSError as error:
        raise InputError("cannot-write", f"cannot write {out}: {error.strerror}; choose another --out") from error


def _fit(
    corpus: Corpus,
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    classes: list[str],
    kind: str,
    seed: int,
    facts: dict[str, Any] | None = None,
) -> TrainedModel:
    ids = corpus.terms_of(rows)
    terms = [corpus.vocabulary.terms[number] for number in ids]
    return fit_model(kind, corpus.bags(rows, ids), labels[rows], classes, terms, seed, facts)


def _measure(
    corpus: Corpus, labels: NDArray[np.intp], classes: list[str], kind: str, share: float, seed: int, notes: list[str]
) -> Quality | None:
    groups = corpus.groups()
    copies = len(groups) - len(np.unique(groups))
    if copies:
        notes.append(f"{copies:,} pages are exact or near copies: they are not split between training and test")
    small = [name for number, name in enumerate(classes) if len(np.unique(groups[labels == number])) < FEW_PAGES]
    if small:
        named = f"{', '.join(small[:3])}{f' and {len(small) - 3} more classes' if len(small) > 3 else ''}"
        notes.append(f"{named}: fewer than {FEW_PAGES} distinct pages, so the measurement is rough")
    train, test = hold_out(labels, groups, share, seed)
    if not len(test):
        notes.append("nothing could be held out: all pages of a class are copies")
        return None
    ids = corpus.terms_of(train)
    model = _fit(corpus, train, labels, classes, kind, seed)
    probabilities = model.classifier.probabilities(corpus.bags(test, ids))
    counts = np.bincount(labels, minlength=len(classes)).tolist()
    return measure(probabilities, labels[test], classes, counts)


def _remarks(chosen: Classes) -> list[str]:
    notes = []
    if chosen.merged:
        first = next(iter(chosen.merged.items()))
        notes.append(
            f"{len(chosen.merged)} small classes (below {chosen.least} pages) were merged into their parents, such as "
            f"{first[0]} into {first[1]}: --least changes that"
        )
    if chosen.inner:
        notes.append(f"{chosen.inner:,} pages of inner nodes of the tree are not used: --whole-tree makes them classes")
    for name, count in list(chosen.too_small.items())[:5]:
        notes.append(f"{name} has only {count} page(s), and is dropped")
    return notes
