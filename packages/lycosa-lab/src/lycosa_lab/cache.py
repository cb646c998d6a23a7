"""Cached files, named by a digest of everything that determines their contents, and written atomically."""

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

from lycosa.core.files import atomic_write
from lycosa.core.spec import parse_spec
from lycosa.judges import JUDGES
from lycosa.strategies import STRATEGIES
from lycosa.version import __version__
from lycosa_lab.corpus_index import CorpusIndex

FORMAT = 2  # increase when the meaning of a digest changes

Columns = dict[str, NDArray[Any]]


def digest(*decisive: Any) -> str:
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
    """Return the fingerprint of a corpus, or a digest of its columns for a graph in memory."""
    return index.fingerprint or digest(*(column for _, column in sorted(index.columns.items())), index.names_)


def code_digest(text: str) -> str:
    """Digest the spec of a strategy or judge, its source code (also of a bandit's arms) and the files it names."""
    parts: list[Any] = [text]
    modules = {
        f"{known.package}.{known[name].module}"
        for known in (STRATEGIES, JUDGES)
        for name in re.findall(r"[\w-]+", text)
        if name in known
    }
    for module in sorted(modules | {own.partition(":")[0] for own in re.findall(r"[\w.]+:\w+", text)}):
        try:
            spec = importlib.util.find_spec(module)
        except (ImportError, ValueError):  # in an interpreter, or missing, which is reported later
            continue
        source = Path(spec.origin or "") if spec else Path()
        files = sorted(source.parent.glob("*.py")) if source.name == "__init__.py" else [source]
        parts += [file for file in files if file.is_file()]
    for value in parse_spec(text)[1].values() if text else ():
        parts += [Path(word) for word in sorted({value, *re.split(r"[\s'\"]+", value)}) if os.path.isfile(word)]
    return digest(*parts)


def save(path: Path, facts: Any, **columns: NDArray[Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = np.frombuffer(msgpack.packb(facts, unicode_errors="surrogatepass"), np.uint8)
    with atomic_write(path) as file:
        np.savez(file, facts=packed, **columns)  # type: ignore[arg-type]


def load(path: Path | None) -> tuple[Any, Columns] | None:
    """Return the contents of a file written by `save`; None without a path, or if it is missing or damaged."""
    try:
        with open(path or "", "rb") as file, np.load(file, allow_pickle=False) as kept:
            columns = dict(kept)
        packed = columns.pop("facts").tobytes()
        return msgpack.unpackb(packed, unicode_errors="surrogatepass", strict_map_key=False), columns
    except (OSError, ValueError, KeyError, AttributeError, EOFError, TypeError, BadZipFile, zlib.error):
        return None
