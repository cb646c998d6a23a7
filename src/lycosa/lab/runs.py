"""What a trial left behind, in a file of its own: named by all that decides how it ends, so that none is run twice."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import shlex
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lycosa import estimators, topics
from lycosa.core.files import replacing
from lycosa.core.options import FILES
from lycosa.core.spec import imported, parse
from lycosa.estimators import STRATEGIES
from lycosa.lab.index import Index
from lycosa.lab.simulation import Trace
from lycosa.lab.subjects import Subject
from lycosa.topics import TOPICS
from lycosa.version import __version__

FORMAT = 1
"""Goes up when the same trial may come out differently: what older versions have kept is then run again."""

_OWN = re.compile(r"[\w.]+:\w+")
"""A class of someone's own in a strategy, or among the arms of a bandit."""

_NAME = re.compile(r"[\w-]+")
"""What may be a strategy of ours in one, or among the arms of a bandit."""


def write_run(path: Path, trace: Trace) -> None:
    """Keep a run: whole or not at all."""
    names, arms = np.unique(np.array(trace.arms, np.str_), return_inverse=True)
    with replacing(path) as file:
        np.savez_compressed(
            file, nodes=trace.nodes, seeds=np.int64(trace.seeds), ending=np.array(trace.ending, np.str_),
            seconds=np.float64(trace.seconds), names=names, arms=arms.astype(np.int16),
        )  # fmt: skip


def read_run(path: Path, corpus: int = np.iinfo(np.int32).max) -> Trace | None:
    """A run that was kept; None if there is none, if it is damaged, or not of a corpus of so many nodes."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as kept:
            names, nodes = kept["names"].tolist(), kept["nodes"]
            trace = Trace(
                nodes, int(kept["seeds"]), str(kept["ending"]), float(kept["seconds"]),
                [names[arm] for arm in kept["arms"].tolist()],
            )  # fmt: skip
    except (OSError, ValueError, KeyError, IndexError, EOFError, TypeError, zipfile.BadZipFile, zlib.error):
        return None
    if nodes.dtype != np.int32 or nodes.ndim != 1 or not 0 <= trace.seeds <= len(nodes):
        return None
    ordered = np.sort(nodes)
    if len(nodes) and (ordered[0] < 0 or ordered[-1] >= corpus or (ordered[1:] == ordered[:-1]).any()):
        return None  # no crawl fetches a page twice
    return trace


def key_of(*decisive: Any) -> str:
    """A name for a run, of all that decides about it (plain values).

    >>> key_of("fl_n", 3) == key_of("fl_n", 3), key_of("fl_n", 3) == key_of("fl_n", 4), len(key_of())
    (True, False, 24)
    """
    return hashlib.sha256(json.dumps([FORMAT, __version__, *decisive]).encode()).hexdigest()[:24]


def corpus_mark(index: Index) -> str:
    """The fingerprint of a corpus; of a graph in memory, which has none, a digest of all that it is."""
    if index.fingerprint:
        return index.fingerprint
    return _digest(
        *(np.ascontiguousarray(column).tobytes() for _, column in sorted(index.columns.items())), index.names_.tobytes()
    )


def subject_mark(subject: Subject) -> str:
    """A digest of all that a subject is, what it was trained with included."""
    files = (path.read_bytes() if path else b"" for path in (subject.model, subject.browsing, subject.rules))
    words = json.dumps([subject.name, subject.words, [int(node) for node in subject.examples], list(subject.targets)])
    return _digest(words.encode(), subject.truth.tobytes(), np.packbits(subject.seen).tobytes(), *files)


def strategy_mark(text: str) -> Sequence[str]:
    """A strategy as it is written, with digests of the files that it names and of the code of classes of one's own.

    Of ours, one that is a package of several files is digested as well: it still changes, whatever the version says.
    """
    _, given = parse(text)
    marks = [text]
    for module in sorted({STRATEGIES[name].module for name in _NAME.findall(text) if name in STRATEGIES}):
        folder = Path(estimators.__file__).parent / module
        if folder.is_dir():
            marks.append(_digest(*(file.read_bytes() for file in sorted(folder.glob("*.py")))))
    for file in (given[key] for key in FILES if key in given):
        marks.append(_digest(Path(file).read_bytes() if Path(file).is_file() else b""))
    try:  # of a program from outside: its script may have changed
        words = shlex.split(given.get("command", ""))
    except ValueError:  # said when it is started
        words = []
    for word in words:
        if Path(word).is_file():
            marks.append(_digest(Path(word).read_bytes()))
    for own in _OWN.findall(text):
        try:
            source = inspect.getsource(inspect.getmodule(imported(own, "strategy")) or re)
        except (OSError, TypeError):  # made by hand in an interpreter: nothing to read
            source = ""
        marks.append(_digest(source.encode()))
    return marks


def judge_mark(judge: str) -> Sequence[str]:
    """A judge as it is written; with a digest of its code if that is a package, for the same reason."""
    name = parse(judge)[0] if judge else ""
    folder = Path(topics.__file__).parent / TOPICS[name].module if name in TOPICS else Path()
    if not name or not folder.is_dir():
        return [judge]
    return [judge, _digest(*(file.read_bytes() for file in sorted(folder.glob("*.py"))))]


def _digest(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()[:24]
