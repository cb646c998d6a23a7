"""Files of an archive that lie elsewhere: moved to an address of fsspec (s3://..., sftp://..., file://...) when full.

1. send      the file goes to ADDRESS/NAME, its index to ADDRESS/NAME.cdxj
2. verify    what is there has its size, and its bytes by the store's own checksum, or else by reading them back
3. note      moved.json in the archive's directory says where it is; on disk before anything is deleted
4. delete    the file; its index stays, to look things up without asking anybody

Killed at any moment, the file is here, or there and noted, or both: what was not noted is sent again. Reading asks for
the bytes of a record only.
"""

from __future__ import annotations

import hashlib
import json
import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from lycosa.core.errors import InputError, StoreError
from lycosa.core.files import replacing
from lycosa.store import cdxj

MANIFEST = "moved.json"

PART = 50 * 2**20  # bytes of a request; a store's checksum of a large file is made of those of its parts


def check_address(address: str) -> None:
    """Whether files can be moved there at all; nothing is sent."""
    parts = urlsplit(address)
    if not parts.scheme or not address.partition("://")[2].strip("/"):  # "s3:" alone would be a directory here
        raise InputError(
            f"--archive {address!r} is not an address: write it like s3://bucket/reefs, or file:///srv/archive"
        )
    if parts.password:
        raise InputError(
            "--archive has a password in it, which would be written down: leave it to the environment, or to fsspec's "
            "own configuration (~/.config/fsspec)"
        )
    _store(address)


def _store(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    scheme = address.partition("://")[0]
    try:
        import fsspec
    except ImportError as error:
        raise InputError(f"{address} needs fsspec: pip install 'lycosa[{_extra(scheme)}]'") from error
    try:
        store, path = fsspec.core.url_to_fs(address)
    except ImportError as error:
        raise InputError(f"{scheme}:// needs a library: pip install 'lycosa[{_extra(scheme)}]' ({error})") from error
    except (ValueError, OSError) as error:
        raise InputError(f"cannot use {address}: {error}") from error
    return store, path


def _extra(scheme: str) -> str:
    return "s3" if scheme in ("s3", "s3a") else "remote"


# -- reading -----------------------------------------------------------------------------------------------------


def manifest(directory: Path) -> dict[str, dict[str, Any]]:
    """The files that were moved, by name: their addresses and sizes."""
    path = directory / MANIFEST
    try:
        about = path.stat()
    except OSError:
        return {}
    return _manifest(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=64)
def _manifest(path: Path, time: int, size: int) -> dict[str, dict[str, Any]]:
    try:
        with open(path, "rb") as file:
            told = json.loads(file.read(50_000_000))  # bytes of a manifest
        return {str(name): {"url": str(about["url"]), "size": int(about["size"])} for name, about in told.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StoreError(f"cannot read {path}, which says where files of the archive are: {error}") from error


def read_elsewhere(path: Path, offset: int, length: int) -> bytes:
    """Bytes of a file that is not here; FileNotFoundError if nobody knows where it is."""
    moved = manifest(path.parent).get(path.name)
    if moved is None:
        raise FileNotFoundError(2, os.strerror(2), str(path))
    store, place = _store(moved["url"])
    try:
        data: bytes = store.cat_file(place, start=offset, end=min(offset + length, moved["size"]))
    except Exception as error:  # each store has its own
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise StoreError(f"cannot read {moved['url']}, where {path.name} was moved: {why}") from error
    return data


# -- moving ------------------------------------------------------------------------------------------------------


class Mover:
    """Moves files in a thread of its own, one after the other; a failure is told and tried again by the next run."""

    def __init__(self, directory: Path, address: str, note: Callable[[str], None] = lambda text: None) -> None:
        self.directory, self.address, self.note = directory, address.rstrip("/"), note
        self._waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._failed = False

    def move(self, name: str) -> None:
        """Have a file moved that nobody writes any more."""
        self._waiting.put(name)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="moving", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Wait until all is moved."""
        if self._thread is not None:
            self._waiting.put("")
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while name := self._waiting.get():
            if self._failed:
                continue  # what does not answer is not asked for each file
            try:
                move(self.directory / name, self.address)
            except Exception as error:  # whatever a store raises, the crawl goes on: the file is still here
                self._failed = True
                why = " ".join(str(error).split())[:300] or type(error).__name__
                self.note(f"cannot move {name} to {self.address}: {why}; it stays here, and the next run tries again")


def move(path: Path, address: str) -> None:
    """Move a file, and copy its index: nothing is deleted before it is safe elsewhere."""
    store, folder = _store(address)
    with suppress(NotImplementedError, PermissionError, FileExistsError):
        store.makedirs(folder, exist_ok=True)
    index = cdxj.index_of(path)
    for file in (index, path) if index.exists() else (path,):
        _send(store, file, f"{folder.rstrip('/')}/{file.name}")
    known = dict(manifest(path.parent))
    known[path.name] = {"url": f"{address}/{path.name}", "size": path.stat().st_size}
    with replacing(path.parent / MANIFEST) as out:
        out.write(json.dumps(known, indent=1).encode())
    path.unlink()


def _send(store: Any, path: Path, target: str) -> None:
    """Put a file there, and make sure that it is."""
    plain = _is_plain(store)  # a half-written file would have its name already
    store.put_file(str(path), f"{target}.part" if plain else target, **({} if plain else {"chunksize": PART}))
    if plain:
        store.mv(f"{target}.part", target)
    store.invalidate_cache()
    about, size = store.info(target), path.stat().st_size
    if about["size"] != size:
        raise OSError(f"{target} has {about['size']} bytes there, and {size} here")
    if str(about.get("ETag", "")).strip('"').lower() in _tags(path):
        return
    with open(path, "rb") as here, store.open(target, "rb") as there:
        if _hash(here) != _hash(there):
            raise OSError(f"{target} has other bytes there than here")


def _is_plain(store: Any) -> bool:
    """Whether files of a store can be seen before they are whole."""
    protocols = store.protocol if isinstance(store.protocol, tuple | list) else (store.protocol,)
    return not {"s3", "s3a", "gs", "gcs", "abfs", "az", "memory"} & set(protocols)


def _tags(path: Path) -> set[str]:
    """What S3 says of a file's content: its MD5, or, of one that was sent in parts, the MD5 of theirs."""
    whole, parts = hashlib.md5(usedforsecurity=False), []
    with open(path, "rb") as file:
        while data := file.read(PART):
            whole.update(data)
            parts.append(hashlib.md5(data, usedforsecurity=False).digest())
    joined = hashlib.md5(b"".join(parts), usedforsecurity=False).hexdigest()
    return {whole.hexdigest(), f"{joined}-{len(parts)}"}


def _hash(file: IO[bytes]) -> str:
    hashed = hashlib.sha256()
    while data := file.read(1 << 20):
        hashed.update(data)
    return hashed.hexdigest()
