"""Files that are made once: named by a digest of all that decides what is in them, written whole or not at all."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import msgpack
import numpy as np
from numpy.typing import NDArray

from lycosa.core.files import replacing
from lycosa.core.spec import parse
from lycosa.judges import TOPICS
from lycosa.strategies import STRATEGIES
from lycosa.version import __version__
from lycosa_lab.corpus_index import CorpusIndex

FORMAT = 2  # raise it when the same digest would stand for something else

Columns = dict[str, NDArray[Any]]


def digest(*decisive: Any) -> str:
    """Digest plain values, bytes, arrays, and the contents of paths.

    >>> digest("fl_n", 3) == digest("fl_n", 3), digest("fl_n", 3) == digest("fl_n", 4), len(digest())
    (True, False, 24)
    """
    whole = hashlib.sha256(f"{FORMAT} {__version__}".encode())
    for part in decisive:
        if isinstance(part, np.ndarray):
            data = np.ascontiguousarray(part).tobytes()
        elif isinstance(part, Path):
            data = part.read_bytes()
        else:
            data = part if isinstance(part, bytes) else repr(part).encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "little"))
        whole.update(data)
    return whole.hexdigest()[:24]


def corpus_digest(index: CorpusIndex) -> str:
    """Return the fingerprint of a corpus; of a graph in memory, which has none, a digest of its columns."""
    return index.fingerprint or digest(*(column for _, column in sorted(index.columns.items())), index.names_)


def code_digest(text: str) -> str:
    """Digest a strategy or a judge as it is written, its source (also that of a bandit's arms) and the files it names.

    The files may also be words of an outside program's command.
    """
    parts: list[Any] = [text]
    modules = {
        f"{known.package}.{known[name].module}"
        for known in (STRATEGIES, TOPICS)
        for name in re.findall(r"[\w-]+", text)
        if name in known
    }
    for module in sorted(modules | {own.partition(":")[0] for own in re.findall(r"[\w.]+:\w+", text)}):
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):  # made by hand in an interpreter, or not there: said when it is made
            continue
        source = Path(spec.origin or "") if spec else Path()
        files = sorted(source.parent.glob("*.py")) if source.name == "__init__.py" else [source]
        parts += [file for file in files if file.is_file()]
    for value in parse(text)[1].values() if text else ():
        parts += [Path(word) for word in sorted({value, *re.split(r"[\s'\"]+", value)}) if os.path.isfile(word)]
    return digest(*parts)


def save(path: Path, facts: Any, **columns: NDArray[Any]) -> None:
    """Keep plain values and columns in a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = np.frombuffer(msgpack.packb(facts, unicode_errors="surrogatepass"), np.uint8)
    with replacing(path) as file:
        np.savez(file, facts=packed, **columns)  # type: ignore[arg-type]


def load(path: Path | None) -> tuple[Any, Columns] | None:
    """Return what was kept; None without a path, or if the file is missing or damaged: then it is made again."""
    try:
        with open(path or "", "rb") as file, np.load(file, allow_pickle=False) as kept:
            columns = dict(kept)
        packed = columns.pop("facts").tobytes()
        return msgpack.unpackb(packed, unicode_errors="surrogatepass", strict_map_key=False), columns
    except (OSError, ValueError, KeyError, AttributeError, EOFError, TypeError, BadZipFile, zlib.error):
        return None
