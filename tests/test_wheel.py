"""The wheel: complete, small, fit to be published, and enough for a demo where only its dependencies are there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from zlib_ng import zlib_ng

ROOT = Path(__file__).resolve().parent.parent
LARGEST, BASE_LARGEST, BASE_DISK = 10_000_000, 60_000_000, 190_000_000
"""Bytes of the wheel, and of the base install: to download, and on disk. `make wheel` weighs what the index has."""


def _run(*command: str | Path, **more: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **more)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT)
    (made,) = out.glob("lycosa-*.whl")
    return made


def test_it_is_complete_and_small(wheel: Path) -> None:
    """Every file of the package is in it and nothing else is; `twine check` finds nothing to complain of."""
    packed = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    files = (file for file in source.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    wanted = {str(file.relative_to(source)) for file in files if file.suffix != ".pyc"}
    assert {name for name in packed if name.startswith("lycosa/")} == wanted
    assert all(name.startswith(("lycosa/", "lycosa-")) for name in packed)
    assert wheel.stat().st_size < LARGEST
    assert "PASSED" in _run(sys.executable, "-m", "twine", "check", "--strict", wheel)
    told = zipfile.ZipFile(wheel).read(next(name for name in packed if name.endswith("METADATA"))).decode()
    extras = set(re.findall(r"^Provides-Extra: (.+)$", told, re.MULTILINE))
    assert {"all", "server", "lab"} <= extras


def _needed(name: str, seen: set[str], extras: tuple[str, ...] = ("",)) -> Iterator[metadata.Distribution]:
    """What a distribution needs without any extra, and what that needs."""
    if name in seen:
        return
    seen.add(name)
    found = metadata.distribution(name)
    yield found
    for line in found.requires or ():
        need = Requirement(line)
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras):
            yield from _needed(need.name.lower().replace("_", "-"), seen, tuple(need.extras) or ("",))


def test_the_base_install_is_small(wheel: Path) -> None:
    """The wheel and what it needs, packed as wheels are: at most 60 MB to download."""
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


def test_a_demo_where_nothing_else_is(wheel: Path, tmp_path: Path) -> None:
    """Unpacked beside its base dependencies and nothing more, it runs a demo; what is an extra is told in a line."""
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    names: set[str] = set()
    for found in _base_distributions(wheel, names):
        for file in found.files or ():
            top = Path(file.parts[0])
            if ".." not in file.parts and top.name != "__pycache__" and not (site / top).exists():
                (site / top).symlink_to(Path(str(found.locate_file(top))).resolve())
    # -S: the site-packages of the tests are not there; -E: nor is anything that the environment names.
    code = f"import sys; sys.path[:0] = [{str(site)!r}]; from lycosa.cli import main; main()"
    alone = [sys.executable, "-S", "-E", "-c", code]
    for package in ("pytest", "pandas", "pyarrow", "fastapi", "mcp", "sklearn", "playwright", "wordllama", "zstandard"):
        assert not (site / package).exists(), f"{package} comes with the base install"
    told = _run(
        *alone, "demo", "--budget", "30", "--out", tmp_path / "demo", cwd=tmp_path, env={"PATH": os.environ["PATH"]}
    )
    assert re.search(r"scent +\S+ +\d+, then +\d+ +harvest rate", told), told
    assert "bleaching" in _run(*alone, "search", tmp_path / "demo" / "scent", "bleaching", cwd=tmp_path)
    for command, words in (
        (["mcp"], "pip install 'lycosa[mcp]'"),
        (["serve", "data"], "pip install lycosa-server"),
        (["export", str(tmp_path / "demo" / "scent"), "--out", "a.parquet"], "pip install 'lycosa[parquet]'"),
    ):
        failed = subprocess.run([*alone, *command], capture_output=True, text=True, check=False, cwd=tmp_path)
        assert (failed.returncode, words in failed.stderr) == (2, True), failed.stderr
        assert len(failed.stderr.strip().split("\n")) == 1


def _base_distributions(wheel: Path, names: set[str]) -> Iterator[metadata.Distribution]:
    """What the wheel needs without extras, and what that needs, as it is installed here."""
    for line in _base(wheel):
        need = Requirement(line)
        if need.marker is None or need.marker.evaluate():
            yield from _needed(need.name.lower(), names)


def _base(wheel: Path) -> list[str]:
    """What the wheel asks for without extras."""
    packed = zipfile.ZipFile(wheel)
    told = packed.read(next(name for name in packed.namelist() if name.endswith("METADATA"))).decode()
    return [line for line in re.findall(r"^Requires-Dist: (.+)$", told, re.MULTILINE) if "extra ==" not in line]
