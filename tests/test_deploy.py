"""Deployment: the Containerfile's steps without a builder, the compose file, systemd units."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

from served import Served

ROOT = Path(__file__).resolve().parent.parent
UNIT = re.compile(r"^```ini\n# \S*?([\w-]+\.(?:service|timer))\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _instructions() -> list[tuple[str, str]]:
    """Return the Containerfile's instructions with their arguments."""
    text = re.sub(r"^#.*\n", "", (ROOT / "Containerfile").read_text("utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).strip().split("\n")
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line)]


def _told(instruction: str, first: bool = False) -> str:
    return [rest for name, rest in _instructions() if name == instruction][0 if first else -1]


def test_containerfile_passes_hadolint() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("hadolint"), "--failure-threshold", "style", ROOT / "Containerfile"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def test_containerfile_copies_enough_to_build_wheels(tmp_path: Path) -> None:
    let_through = set(re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    copied = [rest.split() for name, rest in _instructions() if name == "COPY" and not rest.startswith("--from")]
    hidden = shutil.ignore_patterns("__pycache__", "tests", "word_vectors")  # a clone does not contain the vectors
    for name, place in copied:
        assert name in let_through
        to = tmp_path / place.removeprefix("/")
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to, symlinks=True, ignore=hidden)
        else:
            to.mkdir(parents=True)
            shutil.copy(ROOT / name, to)
    folder = tmp_path / _told("WORKDIR", first=True).removeprefix("/")
    asked = dict(re.findall(r"\./([\w-]+)(?:\[(\w+)\])?", _told("ARG")))
    assert {"lycosa": "", "lycosa-server": "postgres"} == asked
    for package, extra in asked.items():
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path / "dist"]
        subprocess.run([*command, folder / package], check=True, capture_output=True)
        project = tomllib.loads((folder / package / "pyproject.toml").read_text("utf-8"))["project"]
        assert not extra or extra in project["optional-dependencies"]
    wheel = next((tmp_path / "dist").glob("lycosa-*.whl"))
    assert any(name.endswith("text/word_vectors/vectors.npy") for name in zipfile.ZipFile(wheel).namelist())


def test_containerfile_python_is_lowest_supported() -> None:
    project = tomllib.loads((ROOT / "packages" / "lycosa" / "pyproject.toml").read_text("utf-8"))["project"]
    assert f"PYTHON={project['requires-python'].removeprefix('>=')}" == _told("ARG", first=True)


def test_container_has_command_health_check_and_signal(tmp_path: Path) -> None:
    uid = _told("USER").partition(":")[0]
    assert uid.isdecimal()
    assert int(uid) > 0
    assert f"--uid {uid}" in " ".join(rest for name, rest in _instructions() if name == "RUN")
    assert json.loads(_told("ENTRYPOINT")) == ["tini", "--", "lycosa"]
    serve, data, *options = json.loads(_told("CMD"))
    assert serve == "serve"
    assert data.startswith(_told("VOLUME"))
    with Served(tmp_path / "data", "", *options) as served:
        address = re.search(r"http://[^/\s]+:(\d+)", "\n".join(served.told))
        assert address is not None
        check = json.loads(_told("HEALTHCHECK").partition("CMD ")[2])
        assert (check[0], check[1]) == ("python", "-c")
        assert f":{_told('EXPOSE')}/" in check[2]
        asked = check[2].replace(f":{_told('EXPOSE')}/", f":{address[1]}/")
        subprocess.run([sys.executable, "-c", asked], check=True)
        served.process.send_signal(getattr(signal, _told("STOPSIGNAL")))
        assert served.process.wait(60) == 0
        assert subprocess.run([sys.executable, "-c", asked], check=False, capture_output=True).returncode == 1


def test_compose_file_is_valid_and_as_documented() -> None:
    told = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    lycosa, database = (told["services"][name] for name in ("lycosa", "database"))
    assert (ROOT / "deploy" / lycosa["build"]["context"] / lycosa["build"]["dockerfile"]).resolve().is_file()
    assert lycosa["command"][:4] == json.loads(_told("CMD"))
    assert lycosa["volumes"] == [f"lycosa:{_told('VOLUME')}"]
    assert {volume.partition(":")[0] for each in (lycosa, database) for volume in each["volumes"]} == set(
        told["volumes"]
    )
    assert lycosa["environment"]["LYCOSA_DATABASE"].startswith("postgresql://lycosa:${POSTGRES_PASSWORD:?")
    assert database["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    assert lycosa["depends_on"]["database"]["condition"] == "service_healthy"
    assert "healthcheck" in database
    assert lycosa["ports"] == [f"127.0.0.1:8000:{_told('EXPOSE')}"]


def test_systemd_units_are_valid_and_as_documented(tmp_path: Path) -> None:
    shown = {}
    for page in ("team.md", "watch.md"):
        shown |= dict(UNIT.findall((ROOT / "docs" / "howto" / page).read_text("utf-8")))
    assert {"lycosa.service", "lycosa-backup.service", "lycosa-backup.timer"} <= set(shown)
    shipped = (ROOT / "deploy" / "lycosa.service").read_text("utf-8")
    assert shipped.partition("\n")[2] == shown["lycosa.service"]
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not here")
    for name, text in shown.items():  # the installed paths are different on this machine
        there = str(Path(sys.executable).with_name("lycosa"))
        (tmp_path / name).write_text(re.sub(r"(?<=[ =])/\S*/bin/lycosa\b|%h/\S*/lycosa\b", there, text))
        done = subprocess.run(
            ["systemd-analyze", "verify", tmp_path / name], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
