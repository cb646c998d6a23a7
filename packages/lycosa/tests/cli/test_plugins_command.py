"""Plugins: commands, strategies, formats and runners of other packages."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from commands import Command
from lycosa.checks import check_estimator
from lycosa.cli.parameters import complete_names
from lycosa.core import plugins
from lycosa.core.errors import InputError
from lycosa.testweb import Web, serve
from places import ROOT

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs a module or a directory as a package until the end of the test."""
    before = set(sys.modules)

    def look(directory: Path) -> None:
        monkeypatch.syspath_prepend(directory)
        plugins.installed.cache_clear()

    def made(package: str, code: str = "", directory: Path | None = None, **groups: dict[str, str]) -> None:
        if directory is None:
            directory = tmp_path / "packages" / package
            directory.mkdir(parents=True)
            (directory / f"{package}.py").write_text(code)
            lines: list[str] = []
            for group, names in groups.items():
                lines += [f"[lycosa.{group}]", *(f"{name} = {package}:{place}" for name, place in names.items())]
            metadata = directory / f"{package}-2.0.dist-info"
            metadata.mkdir()
            (metadata / "entry_points.txt").write_text("\n".join(lines))
            (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 2.0\n")
        look(directory)

    yield made
    for name in set(sys.modules) - before:
        if not name.startswith(("lycosa", "rich.")):
            del sys.modules[name]
    plugins.installed.cache_clear()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide all installed plugins."""
    for module in ("core.plugins", "cli.plugins_command"):
        monkeypatch.setattr(f"lycosa.{module}.installed", tuple)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install examples/plugin with pip."""
    home = tmp_path_factory.mktemp("plugin")
    shutil.copytree(ROOT / "examples" / "plugin", home / "source")
    offline = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", *offline]
    subprocess.run([*pip, "--target", home / "site", home / "source"], check=True, capture_output=True)
    return home / "site"


def test_example_plugin_works_from_command_line(
    example: Path, install: Install, tmp_path: Path, command: Command
) -> None:
    install("reef-tools", directory=example)
    check_estimator(importlib.import_module("reef_tools").Nearby)
    with serve(Web(pages=60, hosts=3, traps=()), record=False) as server:
        seed = next(server.web.urls())
        words = ["coral reef", "--seed", seed, "--allow-network", "127.0.0.0/8", "--delay", "0", "--threshold", ".001"]
        out = tmp_path / "reefs"
        strategy = ["--strategy", "nearby,per_link=.2", "--budget", "10"]
        assert 10 == command.json("crawl", *words, *strategy, "--out", out)["pages"]
        assert 20 == command.json("resume", out, "--budget", "20")["pages"]
    assert "localhost" in command.out("hosts", out, "-n", "2")
    command.out("export", out, "--all", "--quiet", "--out", tmp_path / "reefs.titles")
    titles = (tmp_path / "reefs.titles").read_text("utf-8").splitlines()
    assert 20 == len(titles)
    assert titles == command.out("export", out, "--all", "--quiet", "--format", "titles").splitlines()
    told = command.json("plugins")
    mine = [(row["group"], row["name"], row["version"], row["state"]) for row in told if row["package"] == "reef-tools"]
    assert mine == [(group, name, "1.0", "loads") for group, name in (
        ("commands", "hosts"), ("strategies", "nearby"), ("exporters", "titles"),
    )]  # fmt: skip
    assert "reef-tools 1.0" in command.out("plugins")


def test_example_plugin_appears_in_help_and_completion(example: Path, install: Install, command: Command) -> None:
    install("reef-tools", directory=example)
    told = command.out("--help")
    assert "From other packages:\n  hosts     Count the relevant pages of each host.\n" in told
    assert "reef_tools" not in sys.modules
    assert ["nearby"] == complete_names("strategies")("near")
    assert ["titles"] == complete_names("exporters")("ti")
    assert "reef_tools" not in sys.modules
    assert "Maximum number of hosts." in command.out("hosts", "--help")
    told = command.out("list", "strategies", width=120)
    assert "From other packages" in told
    assert "Prefers promising link texts, and pages near the seeds (package reef-tools)" in told
    told = command.json("list", "nearby")
    assert ("per_link", "number", 0.1) == tuple(told["parameters"][0].values())
    seed = ["coral", "--seed", "http://a.test/"]
    assert "did you mean nearby" in command.complaint("crawl", *seed, "--strategy", "neaby")
    assert "titles" in command.complaint("export", ".", "--format", "nothing")


def test_failing_plugin_does_not_stop_others(install: Install, tmp_path: Path, command: Command) -> None:
    code = "raise RuntimeError('the tide\\nis out')\ndef tide() -> None:\n    '''Never.'''"
    install("ebb", code, strategies={"ebb": "Ebb"}, commands={"tide": "tide"}, exporters={"ebb": "EBB"})
    flow = 'class Flow:\n    """Flows."""\ndef flow() -> None:\n    """Flow."""\n    print("flowing")\nNONE = 1'
    install("flow", flow, strategies={"flow": "Flow"}, commands={"flow": "flow"}, exporters={"flow": "NONE"})
    assert "flowing\n" == command.out("flow")
    said = command("list", "strategies")
    reason = "cannot load ebb (ebb:Ebb) of the package ebb: RuntimeError: the tide is out"
    assert (0, f"warning: {reason}\n") == (said.code, said.err)
    assert "Flows (package flow)" in said.out
    assert 0 == command("--help").code
    seed = ["coral", "--seed", "http://a.test/"]
    assert f"lycosa: {reason}\n" == command.complaint("crawl", *seed, "--strategy", "ebb")
    assert reason in command.complaint("list", "ebb")
    assert "RuntimeError: the tide is out" in command.complaint("tide")
    assert "flow:NONE of the package flow is not an ExportFormat" in command.complaint(
        "export", ".", "--format", "flow"
    )
    assert "the tide is out" in command.complaint("export", ".", "--out", tmp_path / "a.ebb")
    said = command("plugins")
    assert 1 == said.code
    assert f"fails: {reason}" in " ".join(said.out.split())
    assert "flow:Flow" in said.out


def test_plugin_name_conflicts(install: Install, command: Command) -> None:
    code = "def mine() -> None:\n    print(__name__)"
    names = {"show": "mine", "serve": "mine", "shore": "mine"}
    for package in ("beach", "anchor"):
        install(package, code, commands=names, strategies={"scent": "mine"})
    assert "anchor\n" == command.out("shore")
    assert "Serve Lycosa to a team" in command.out("serve", "--help")
    assert "Summarise a crawl" in command.out("show", "--help")
    why = {(row["package"], row["name"]): row["why"] for row in command.json("plugins") if row["state"] == "hidden"}
    both = {"show": "show is built in", "scent": "scent is built in"}
    both["serve"] = "serve is reserved for the package lycosa-server"
    expected = {(package, name): told for package in ("anchor", "beach") for name, told in both.items()}
    assert why == {**expected, ("beach", "shore"): "the package anchor has a shore, too"}


def test_plugin_runner_is_used(install: Install, command: Command) -> None:
    code = (
        "import lycosa\nclass Flock:\n    def __init__(self, where): self.where = where\n"
        "    def crawl(self, request):\n"
        "        raise lycosa.InputError('no-pages', f'{self.where} has no {request.options.topic}')"
    )
    install("flock", code, runners={"flock": "Flock"})
    seed = ["coral", "--seed", "http://a.test/", "--contact", "me@a.test"]
    assert "flock:3 has no coral" in command.complaint("crawl", *seed, "--cluster", "flock:3", "--quiet")


@pytest.mark.usefixtures("alone")
def test_missing_packages_of_plugin_are_reported(tmp_path: Path, command: Command) -> None:
    for name, package in (("serve", "lycosa-server"), ("restore", "lycosa-server"), ("lab", "lycosa-lab")):
        for words in ([], ["--help"], ["run"]):
            told = f"lycosa: {name} needs the package {package}: pip install {package}\n"
            assert told == command.complaint(name, *words)
    get = "needs the package lycosa-cluster: pip install lycosa-cluster\n"
    seed = ["coral", "--seed", "http://a.test/", "--out", tmp_path / "new"]
    assert f"lycosa: --cluster {get}" == command.complaint("crawl", *seed, "--cluster", "local:2")
    told = command.out("--help")
    assert "\n  serve" not in told
    assert "Experiment" not in told
    with serve(Web(pages=30, hosts=2, traps=()), record=False) as server:
        local = ["--allow-network", "127.0.0.0/8", "--delay", "0", "--budget", "3", "--quiet"]
        command.out("crawl", "coral", "--seed", next(server.web.urls()), "--out", tmp_path / "reefs", *local)
    (tmp_path / "reefs" / "shards" / "000").mkdir(parents=True)
    assert 3 == command.json("show", tmp_path / "reefs")["pages"]
    assert "nothing is wrong" in command.out("check", tmp_path / "reefs")
    for words in (["refresh"], ["watch"], ["resume"]):
        told = command.complaint(*words, tmp_path / "reefs")
        assert f"lycosa: {tmp_path / 'reefs'} was crawled on a cluster, which {get}" == told
    assert "no installed package adds anything\n" == command.out("plugins")


def test_missing_is_none_for_unknown_plugins() -> None:
    assert plugins.missing("commands", "shore") is None
    assert isinstance(plugins.missing("commands", "lab"), InputError)
