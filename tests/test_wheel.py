"""The wheels are complete, small and publishable, and each works with its dependencies only."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from zlib_ng import zlib_ng

from lycosa.testweb import Web, serve
from places import ROOT
from served import wait

PACKAGES = sorted(path.parent.name for path in ROOT.glob("packages/*/pyproject.toml"))
LARGEST, BASE_LARGEST, BASE_DISK = 10_000_000, 60_000_000, 190_000_000
"""Maximum bytes of the wheel, and of the base install to download and on disk."""

Environment = Callable[[str], Path]


def _run(*command: str | Path, **more: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheels of all packages."""
    out = tmp_path_factory.mktemp("dist")
    for package in PACKAGES:
        _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT / "packages" / package)
    return out


def _wheel_of(dist: Path, package: str) -> Path:
    (made,) = dist.glob(f"{package.replace('-', '_')}-*.whl")
    return made


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    return _wheel_of(dist, "lycosa")


@pytest.fixture
def environment(dist: Path, tmp_path: Path) -> Environment:
    """Return a function that installs one package in an empty environment and returns the directory of its programs."""

    def made(package: str) -> Path:
        _run(sys.executable, "-m", "venv", tmp_path / "env")
        pip = tmp_path / "env" / "bin" / "pip"
        wheels = dict.fromkeys((_wheel_of(dist, "lycosa"), _wheel_of(dist, package)))
        _run(pip, "install", "--quiet", "--no-compile", "--find-links", dist, *wheels)
        return pip.parent

    return made


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_is_complete(dist: Path, package: str) -> None:
    made, module, source = _wheel_of(dist, package), package.replace("-", "_"), ROOT / "packages" / package / "src"
    packed = set(zipfile.ZipFile(made).namelist())
    files = (file for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    assert {name for name in packed if name.startswith(f"{module}/")} == {
        str(file.relative_to(source)) for file in files if file.suffix != ".pyc"
    }
    assert all(name.startswith((f"{module}/", f"{module}-")) for name in packed)
    assert any(name.endswith("/LICENSE") for name in packed)
    assert made.stat().st_size < LARGEST
    assert "PASSED" in _run(sys.executable, "-m", "twine", "check", "--strict", made)


def test_packages_have_one_version() -> None:
    projects = [tomllib.loads((ROOT / "packages" / name / "pyproject.toml").read_text("utf-8")) for name in PACKAGES]
    (version,) = {each["project"]["version"] for each in projects}
    assert f'__version__ = "{version}"' in (ROOT / "packages/lycosa/src/lycosa/version.py").read_text("utf-8")
    for each in (each["project"] for each in projects if each["project"]["name"] != "lycosa"):
        assert f"lycosa=={version}" in each["dependencies"]


def _needed(name: str, seen: set[str], extras: tuple[str, ...] = ("",)) -> Iterator[metadata.Distribution]:
    """Yield the dependencies of a distribution without extras, recursively."""
    if name in seen:
        return
    seen.add(name)
    found = metadata.distribution(name)
    yield found
    for line in found.requires or ():
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras):
            yield from _needed(need.name.lower().replace("_", "-"), seen, tuple(need.extras) or ("",))


def test_base_install_is_small(wheel: Path) -> None:
    names: set[str] = set()
    to_download, on_disk = wheel.stat().st_size, sum(file.file_size for file in zipfile.ZipFile(wheel).filelist)
    for found in _base_distributions(wheel, names):
        for file in found.files or ():
            path = Path(str(found.locate_file(file)))
            if path.suffix != ".pyc" and path.is_file():
                content = path.read_bytes()
                on_disk += len(content)
                to_download += len(zlib_ng.compress(content, 6))
    assert to_download <= BASE_LARGEST, f"{len(names)} packages of {to_download:,} bytes: what brought the last?"
    assert on_disk <= BASE_DISK


def test_demo_needs_base_dependencies_only(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    names: set[str] = set()
    for found in _base_distributions(wheel, names):
        for file in found.files or ():
            top = Path(file.parts[0])
            if ".." not in file.parts and top.name != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))).resolve())
    # -S skips site-packages, -E ignores environment variables.
    code = f"import sys; sys.path[:0] = [{str(site)!r}]; from lycosa.cli import main; main()"
    alone = [sys.executable, "-S", "-E", "-c", code]
    for package in ("pytest", "pandas", "pyarrow", "fastapi", "mcp", "sklearn", "playwright", "wordllama", "zstandard"):
        assert not (site / package).exists(), f"{package} comes with the base install"
    told = _run(
        *alone, "demo", "--budget", "30", "--out", tmp_path / "demo", cwd=tmp_path, env={"PATH": os.environ["PATH"]}
    )
    assert re.search(r"scent +\S+ +\d+, then +\d+ +harvest rate", told), told
    assert "bleaching" in _run(*alone, "search", tmp_path / "demo" / "scent", "bleaching", cwd=tmp_path)
    seed = ["--seed", "http://a.test/"]
    for command, words in (
        (["mcp"], "pip install 'lycosa[mcp]'"),
        (["serve", "data"], "pip install lycosa-server"),
        (["lab", "run"], "pip install lycosa-lab"),
        (["crawl", "reefs", *seed, "--out", "a", "--cluster", "local:2"], "pip install lycosa-cluster"),
        (["export", str(tmp_path / "demo" / "scent"), "--out", "a.parquet"], "pip install 'lycosa[parquet]'"),
    ):
        failed = subprocess.run([*alone, *command], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (failed.returncode, words in failed.stderr) == (2, True), failed.stderr
        assert len(failed.stderr.strip().split("\n")) == 1


def _base_distributions(wheel: Path, names: set[str]) -> Iterator[metadata.Distribution]:
    """Yield the base dependencies of the wheel as installed here, recursively."""
    for line in _base(wheel):
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate():
            yield from _needed(need.name.lower(), names)


def _base(wheel: Path) -> list[str]:
    """Return the requirements of the wheel without extras."""
    packed = zipfile.ZipFile(wheel)
    told = packed.read(next(name for name in packed.namelist() if name.endswith("METADATA"))).decode()
    return [line for line in re.findall(r"^Requires-Dist: (.+)$", told, re.MULTILINE) if "extra ==" not in line]


def test_crawl_runs_from_installed_wheel(environment: Environment, tmp_path: Path) -> None:
    lycosa = environment("lycosa") / "lycosa"
    assert "harvest rate" in _run(lycosa, "demo", "--budget", "30", cwd=tmp_path)
    assert [] == json.loads(_run(lycosa, "plugins", "--json", cwd=tmp_path))


def test_lab_runs_from_installed_wheel(environment: Environment, tmp_path: Path) -> None:
    lycosa = environment("lycosa-lab") / "lycosa"
    _run(lycosa, "lab", "index", "embedded:pages=300,seed=7", "--out", "web", cwd=tmp_path)
    strategies = ["--strategy", "best-first", "--strategy", "breadth-first"]
    _run(
        lycosa,
        "lab",
        "run",
        "--corpus",
        "web",
        *strategies,
        "--topics",
        "2",
        "--budget",
        "30",
        "--out",
        "lab",
        cwd=tmp_path,
    )
    assert (tmp_path / "lab" / "report" / "index.html").is_file()


def test_server_runs_from_installed_wheel(environment: Environment, tmp_path: Path) -> None:
    command = [environment("lycosa-server") / "lycosa", "serve", "data", "--port", "0"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            assert server.stdout is not None
            address = next(found[0] for line in server.stdout if (found := re.search(r"http://[^/\s]+:\d+", line)))
            check = f"{address}/api/v1/health"
            wait(
                lambda: json.load(urllib.request.urlopen(check, timeout=8))["status"] == "ok", "the server is not well"
            )
        finally:
            server.terminate()
            server.communicate(timeout=60)
    assert 0 == server.returncode


def test_cluster_crawl_runs_from_installed_wheels(environment: Environment, tmp_path: Path) -> None:
    lycosa = environment("lycosa-cluster") / "lycosa"
    with serve(Web(pages=200, hosts=10, traps=()), record=False) as server:
        words = ["coral reef", "--seed", next(server.web.urls()), "--allow-network", "127.0.0.0/8", "--delay", "0"]
        run = [lycosa, "crawl", *words, "--budget", "20", "--out", "reefs", "--cluster", "local:2", "--json"]
        told = json.loads(_run(*run, cwd=tmp_path).strip().splitlines()[-1])
    assert (20, 2) == (told["pages"], told["shards"])


def test_scrapy_crawl_runs_from_installed_wheel(environment: Environment, tmp_path: Path) -> None:
    programs = environment("lycosa-scrapy")
    settings = {
        "SCHEDULER": "lycosa_scrapy.scheduler.Scheduler",
        "SPIDER_MIDDLEWARES": {"lycosa_scrapy.relevance.Relevance": 20},
        "JOBDIR": "job",
        "LYCOSA_TOPIC": "coral reef",
        "CLOSESPIDER_PAGECOUNT": 20,
    }
    with serve(Web(pages=200, hosts=10, traps=()), record=False) as server:
        walker = ROOT / "tests" / "helpers" / "walker.py"
        _run(programs / "python", walker, json.dumps(settings), next(server.web.urls()), cwd=tmp_path)
    assert "pages" in _run(programs / "lycosa", "show", "job/lycosa", cwd=tmp_path)
