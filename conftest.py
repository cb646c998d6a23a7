"""What tests of several rooms share. One file for all: with doctests collected, two of the same name would clash."""

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
from lycosa.text.meanings import ontology
from lycosa.text.ontology import Ontology
from lycosa.text.wordnet import find_wordnet
from postgres_server import PLACE_VARIABLE, PostgresServer

if TYPE_CHECKING:
    from commands import Command

_CACHE = tempfile.TemporaryDirectory(prefix="lycosa-cache-")  # indexes of WARC files, of this run only
os.environ["XDG_CACHE_HOME"] = _CACHE.name

# On a busy machine everything is slow, and that is nobody's fault. Examples that share a fixture are meant to.
_IGNORED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("any machine", deadline=None, suppress_health_check=_IGNORED, max_examples=50)
settings.load_profile("any machine")

MEMORY = Path("/dev/shm")
if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > 4 << 30:
    # Logs and archives are synced to the disk page by page: where files are kept in memory that takes no time. Whatever
    # a test leaves is removed when it has passed (tmp_path_retention_policy).
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))

NEEDS = {
    "packages/lycosa/src/lycosa/text/embeddings.py": "wordllama",
    "packages/lycosa/src/lycosa/judges/embedding.py": "wordllama",
}
"""Files whose doctests need an extra: left out where it is not installed."""

collect_ignore = [path for path, package in NEEDS.items() if find_spec(package) is None]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Files without examples are not looked through for doctests: some would load a large library for nothing."""
    found = yield
    if file_path.suffix == ".py" and b">>> " not in file_path.read_bytes():
        return [node for node in found if not isinstance(node, DoctestModule)]
    if file_path.suffix == ".py" and "src" in file_path.parts:
        # By its name: pytest would make a second module of a file that the __init__ of its package imports.
        _, _, inner = file_path.with_suffix("").as_posix().rpartition("/src/")
        importlib.import_module(inner.replace("/", ".").removesuffix(".__init__"))
    return found


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case: packed bytes have the time in them, and all workers have to give a test the same name."""
    return f"packed {argname}" if isinstance(val, bytes) and val.startswith(b"\x1f\x8b") else None


@pytest.fixture(scope="session")
def wordnet() -> Ontology:
    """The real WordNet. Where there is none the test is skipped by name; in CI that is a failure."""
    try:
        find_wordnet()
    except InputError as error:
        told = f"no WordNet ({error}): 'make test' gets it where it can (tools/wordnet)"
        if os.environ.get("CI") == "true":
            pytest.fail(told)
        pytest.skip(told)
    return ontology()


def pytest_collection_finish() -> None:
    """What is loaded by now stays: it is not looked through for garbage again and again. Commands that tune the
    collector do so for a process of their own; here many run in one, and what they leave has to go.
    """
    gc.collect()
    gc.freeze()
    for name in ("freeze", "unfreeze", "set_threshold"):
        setattr(gc, name, lambda *given: None)


GROWN = 100 << 20
"""Bytes by which a process has grown before garbage is looked for: that takes a while, and there are many files."""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After a file, engines go: few large things that refer to each other, and Python counts things, not bytes."""
    yield
    if nextitem is None or nextitem.path != item.path:
        now = _resident()
        if not now or now >= _grown[0] + GROWN:
            gc.collect()
            _grown[0] = _resident()


_grown = [-GROWN]


def _resident() -> int:
    """Bytes in memory; 0 where that is not told."""
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * resource.getpagesize() if told.exists() else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A file whose tests share a fixture goes to one worker, so that it is made once; others to whoever is free."""
    from xdist.scheduler import LoadScopeScheduling

    @cache
    def shares(file: str) -> bool:
        return 'scope="module"' in (config.rootpath / file).read_text("utf-8")

    class Sharing(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            return file if shares(file) else nodeid

    return Sharing(config, log)


# -- databases -------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    """Choose a place for PostgreSQL; the first test that needs one starts it there."""
    if not hasattr(config, "workerinput"):
        os.environ[PLACE_VARIABLE] = f"{tempfile.gettempdir()}/lycosa-postgres-{os.getpid()}-{secrets.token_hex(3)}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it, if it was started."""
    if not hasattr(config, "workerinput") and Path(os.environ[PLACE_VARIABLE]).exists():
        PostgresServer(Path(os.environ[PLACE_VARIABLE])).stop()


# -- the command line ------------------------------------------------------------------------------------------


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """`lycosa` in this process."""
    from commands import Command

    return Command(monkeypatch, capsys)


# -- the embedded web ------------------------------------------------------------------------------------------

Links = Callable[[Web, str], list[str]]


@pytest.fixture(scope="session")
def clean() -> Web:
    """The default web without traps."""
    return Web(traps=())


@pytest.fixture(scope="session")
def wild() -> Web:
    """The default web with all traps."""
    return Web()


@pytest.fixture(scope="session")
def links() -> Links:
    """A function from a page to the URLs it links to."""

    def read(web: Web, url: str) -> list[str]:
        html = web.response(url).body.decode("utf-8", "replace")
        return [urljoin(url, unescape(href)) for href in re.findall(r'<a href="([^"]*)"', html)]

    return read


@pytest.fixture(scope="session")
def arrows(clean: Web, links: Links) -> dict[str, list[str]]:
    """The whole link graph of the clean web."""
    return {url: links(clean, url) for url in clean.urls()}
