"""Fixtures and hooks shared by all tests.

There is only one conftest because doctest collection does not allow two of the same name.
"""

from __future__ import annotations

import gc
import importlib
import os
import re
import resource
import secrets
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from lycosa.core.errors import InputError
from lycosa.testweb import Web
from lycosa.text.meanings import load_ontology
from lycosa.text.ontology import Ontology
from lycosa.text.wordnet import find_wordnet
from postgres_server import PLACE_VARIABLE, PostgresServer

if TYPE_CHECKING:
    from commands import Command

_CACHE = tempfile.TemporaryDirectory(prefix="lycosa-cache-")  # caches of this run, for instance indexes of WARC files
os.environ["XDG_CACHE_HOME"] = _CACHE.name

# No deadlines: a busy machine is slow. Examples share fixtures deliberately.
_IGNORED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("any machine", deadline=None, suppress_health_check=_IGNORED, max_examples=50)
settings.load_profile("any machine")

MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    # Logs and archives are fsynced page by page, which costs nothing in memory. Files of passed tests are removed
    # (tmp_path_retention_policy).
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

NEEDS = {
    "packages/lycosa/src/lycosa/text/embeddings.py": "wordllama",
    "packages/lycosa/src/lycosa/judges/embedding.py": "wordllama",
}
"""Files whose doctests need an extra; ignored where it is not installed."""

collect_ignore = [path for path, package in NEEDS.items() if find_spec(package) is None]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Skip doctest collection of files without examples, because importing them may be slow."""
    found = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [node for node in found if not isinstance(node, DoctestModule)]
    if file_path.suffix == ".py" and "src" in file_path.parts:
        # Import by name: pytest would import a file twice that the __init__ of its package imports.
        _, _, inner = file_path.with_suffix("").as_posix().rpartition("/src/")
        importlib.import_module(inner.replace("/", ".").removesuffix(".__init__"))
    return found


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Return a stable id for packed bytes, which contain a timestamp: all xdist workers need the same ids."""
    return f"packed {argname}" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture(scope="session")
def wordnet() -> Ontology:
    """Return the real WordNet; skip the test where it is missing, but fail in CI."""
    try:
        find_wordnet()
    except InputError as error:
        told = f"no WordNet ({error}): 'make test' gets it where it can (tools/wordnet)"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    return load_ontology()


def pytest_collection_finish() -> None:
    """Freeze everything imported so far, so that the garbage collector ignores it."""
    gc.collect()
    gc.freeze()
    for name in ("freeze", "unfreeze", "set_threshold"):
        setattr(gc, name, lambda *given: None)


GROWN = 100 << 20
"""Growth in bytes after which garbage is collected at the end of a file."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Collect garbage after a file if memory has grown: engines are few but large objects with cycles."""
    yield
    if nextitem is None or nextitem.path != item.path:
        now = _resident()
        if not now or now >= _grown[0] + GROWN:
            gc.collect()
            _grown[0] = _resident()


_grown = [-GROWN]


def _resident() -> int:
    """Return resident bytes; 0 where /proc is missing."""
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * resource.getpagesize() if told.exists() else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run tests that share a module fixture on one worker; distribute the others freely."""
    from xdist.scheduler import LoadScopeScheduling

    @cache
    def shares(file: str) -> bool:
        return 'scope="module"' in (config.rootpath / file).read_text("utf-8")

    class Sharing(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if shares(file) else nodeid

    return Sharing(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Choose a directory for PostgreSQL; the first test that needs it starts it there."""
    if not hasattr(config, "workerinput"):
        os.environ[PLACE_VARIABLE] = f"{tempfile.gettempdir()}/lycosa-postgres-{os.getpid()}-{secrets.token_hex(3)}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop PostgreSQL if it was started."""
    if not hasattr(config, "workerinput") and Path(os.environ[PLACE_VARIABLE]).exists():
        PostgresServer(Path(os.environ[PLACE_VARIABLE])).stop()


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return the fixture that runs `lycosa` in this process."""
    from commands import Command

    return Command(monkeypatch, capsys)


Links = Callable[[Web, str], list[str]]


@pytest.fixture(scope="session")
def clean() -> Web:
    """Return the default web without traps."""
    return Web(traps=())


@pytest.fixture(scope="session")
def wild() -> Web:
    """Return the default web with all traps."""
    return Web()


@pytest.fixture(scope="session")
def links() -> Links:
    """Return a function from a page to the URLs it links to."""

    def read(web: Web, url: str) -> list[str]:
        html = web.response(url).body.decode("utf-8", "replace")
        return [urljoin(url, unescape(href)) for href in re.findall(r'<a href="([^"]*)"', html)]

    return read


@pytest.fixture(scope="session")
def arrows(clean: Web, links: Links) -> dict[str, list[str]]:
    """Return the link graph of the clean web."""
    return {url: links(clean, url) for url in clean.urls()}
