"""`lycosa doctor`: what it says, and how it leaves."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import sys
import time
import tomllib
from collections import namedtuple
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import lycosa.crawling
from commands import Command
from lycosa.cli import doctor
from lycosa.cli.doctor import Finding, try_crawl
from lycosa.core.errors import StoreError


def test_this_machine_is_well(command: Command) -> None:
    """Where the tests run, everything that is needed works, and five pages can be crawled."""
    told = command.json("doctor")
    assert told["works"]
    findings = {finding["what"]: finding for finding in told["findings"]}
    assert {"versions", "packages", "SQLite", "clock", "disk", "open files", "terminal", "text"} <= findings.keys()
    assert "5 of 5 pages read back from log and WARC" == findings["trial archive"]["told"]
    assert findings["trial crawl"]["told"].startswith("5 pages over HTTP on this machine in ")


def test_text_is_for_people(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """Without --json: a line for each finding, the verdict last."""
    bad = Finding("pyarrow", "costs", "not installed", "no tables", "pip install it")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([Finding("clock", "ok", "12:00"), bad]))
    assert [
        "  clock    12:00",
        "- pyarrow  not installed",
        "           costs: no tables",
        "           to do: pip install it",
        "Lycosa works on this machine. 1 thing could be improved.",
    ] == command.out("doctor").splitlines()


def test_what_is_broken_decides_the_exit_code(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    """Leaves with 1 when something essential is broken, with the verdict as the last line."""
    broken = Finding("numpy", "broken", "not installed", "Lycosa needs it", "pip install numpy")
    monkeypatch.setattr(doctor, "try_crawl", lambda: iter([]))
    monkeypatch.setattr(doctor, "examine", lambda: iter([broken]))
    code, out, _ = command("doctor")
    assert (1, "Lycosa does not work on this machine: 1 thing is broken.") == (code, out.splitlines()[-1])
    code, out, _ = command("doctor", "--json")
    assert (1, False) == (code, json.loads(out)["works"])


ROOT = Path(__file__).resolve().parent.parent.parent


def only(look: Callable[[], Iterator[Finding]]) -> Finding:
    (finding,) = look()
    return finding


def test_every_complaint_says_what_it_costs_and_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """No finding that is not fine goes without its price and its remedy."""
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("HOME", "/nonexistent")
    findings = list(doctor.examine())
    assert "completion" in {finding.what for finding in findings if finding.state == "costs"}
    for finding in findings:
        assert finding.told
        assert (finding.state == "ok") == (not finding.cost) == (not finding.remedy), finding


def test_missing_and_old_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Lycosa's metadata asks for and is not there, or too old, is broken, with the command that mends it."""
    there = {"numpy": "1.26", "rich": "15.0.0"}

    def version(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    needed = ["numpy>=2.0", "rich>=14", "yarl>=1.20", 'pyarrow>=18; extra == "parquet"']
    monkeypatch.setattr(metadata, "requires", lambda name: needed)
    monkeypatch.setattr(metadata, "version", version)
    assert [
        Finding("numpy", "broken", "1.26, needed is numpy>=2.0", "it may fail", "pip install 'numpy>=2.0'"),
        Finding("yarl", "broken", "not installed", "Lycosa needs it", "pip install 'yarl>=1.20'"),
        Finding("packages", "ok", "1 of 3: rich 15.0.0"),
    ] == list(doctor._packages())
    told = [(finding.state, finding.remedy) for finding in doctor._extras()]
    extras = (
        "pandas",
        "parquet",
        "train",
        "scrapy",
        "lab",
        "lab",
        "browser",
        *("server",) * 7,
        "cluster",
        "mcp",
        "telemetry",
        "remote",
        "s3",
        "notify",
        "postgres",
    )
    assert [("costs", f"pip install 'lycosa[{extra}]'") for extra in extras] == told


def test_every_extra_is_known() -> None:
    """Each extra of the project has its purpose in the doctor's list, and its package there is the right one."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    (everything,) = extras.pop("all")
    assert everything == f"lycosa[{','.join(extras)}]"
    assert [(extra, need.split(">")[0]) for extra, needs in extras.items() for need in needs] == [
        (extra, package) for extra, package, _ in doctor.EXTRAS
    ]


def test_wordnet_missing_or_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without WordNet, or with half of it, judging by meaning is what it costs; the command that gets it is named."""
    monkeypatch.setattr("lycosa.text.wordnet.usual_places", lambda: iter([tmp_path]))
    monkeypatch.delenv("LYCOSA_WORDNET", raising=False)
    cost = "judges and strategies that use word meanings are not available"
    missing = only(doctor._wordnet)
    assert ("costs", "WordNet is not on this machine", cost) == (missing.state, missing.told, missing.cost)
    assert missing.remedy.startswith("get it with 'lycosa wordnet --fetch'")
    (tmp_path / "data.noun").write_text("")
    told, remedy = f"WordNet is damaged: {tmp_path}/data.noun, line 1: it is empty", "get it again with 'lycosa wordnet"
    damaged = only(doctor._wordnet)
    assert ("costs", told, cost) == (damaged.state, damaged.told, damaged.cost)
    assert f"{remedy} --fetch --to {tmp_path}'" == damaged.remedy


def test_sqlite_without_full_text_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """A SQLite without FTS5 costs the search, nothing else."""

    class Poor:
        def execute(self, sql: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    monkeypatch.setattr(sqlite3, "connect", lambda name: Poor())
    assert ("costs", "no lycosa search") == (only(doctor._sqlite).state, only(doctor._sqlite).cost)


def test_a_clock_that_is_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands before our own files were written is wrong."""
    monkeypatch.setattr(time, "time", lambda: 86_400.0)
    assert ("costs", True) == (only(doctor._clock).state, "1970-01-02" in only(doctor._clock).told)


def test_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little room and a directory that can't be written are told."""
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1, 1, 5_000_000))
    assert ("costs", True) == (only(doctor._disk).state, only(doctor._disk).told.startswith("0.0 GB free in"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "no crawl can be kept here" == only(doctor._disk).cost


@pytest.mark.parametrize(
    ("limits", "state", "told"),
    [
        ((256, 512), "costs", "256 at once, more in a crawl, which raises that"),
        ((1_024, 1_048_576), "ok", "1,024 at once, more in a crawl, which raises that"),
        ((1_024, resource.RLIM_INFINITY), "ok", "1,024 at once, more in a crawl, which raises that"),
        ((4_096, 4_096), "ok", "4,096 at once"),
        ((resource.RLIM_INFINITY, resource.RLIM_INFINITY), "ok", "no limit"),
    ],
)
def test_open_files(limits: tuple[int, int], state: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a hard limit that is low costs something: a crawl raises the soft one itself."""
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)
    assert (state, told) == (only(doctor._files).state, only(doctor._files).told)


def test_text_that_is_not_utf8(monkeypatch: pytest.MonkeyPatch) -> None:
    """An ASCII terminal costs titles their letters, and there is a way out."""

    class Ascii:
        encoding = "ANSI_X3.4-1968"

    monkeypatch.setattr(sys, "stdout", Ascii())
    assert "export PYTHONUTF8=1" in only(doctor._text).remedy


@pytest.mark.parametrize(
    ("shell", "file"),
    [
        ("bash", ".bash_completions/lycosa.sh"),
        ("zsh", ".zfunc/_lycosa"),
        ("fish", ".config/fish/completions/lycosa.fish"),
    ],
)
def test_completion(shell: str, file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Completion is there when its file is."""
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "lycosa --install-completion" == only(doctor._completion).remedy
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).touch()
    assert f"installed for {shell}" == only(doctor._completion).told


def test_a_shell_without_completion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told to install what does not exist for their shell."""
    monkeypatch.setenv("SHELL", "/bin/dash")
    assert ("ok", True) == (only(doctor._completion).state, "your shell is dash" in only(doctor._completion).told)


def test_a_look_that_fails_is_a_finding() -> None:
    """The doctor survives what it examines."""

    def _liver() -> Iterator[Finding]:
        raise RuntimeError("not there")
        yield

    (finding,) = doctor._safely(_liver)
    assert ("broken", "RuntimeError: not there") == (finding.state, finding.told)
    assert finding.remedy


def finding() -> Finding:
    """The only one."""
    (found,) = try_crawl()
    return found


def test_a_crawl_that_fails_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the trial is a finding, not a traceback."""

    def fails(*args: Any, **more: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(lycosa.crawling, "crawl", fails)
    assert ("broken", "StoreError: the disk is full") == (finding().state, finding().told)


def test_a_crawl_without_network_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where loopback can't be reached, the trial says which error came back, and does not take for ever."""
    crawl = lycosa.crawling.crawl
    monkeypatch.setattr(
        lycosa.crawling, "crawl", lambda *args, **more: crawl(*args, **{**more, "allow_network": ["10.0.0.0/8"]})
    )
    found = finding()
    assert ("broken", "nothing can be crawled") == (found.state, found.cost)
    assert found.told.startswith("0 of 5 pages could be fetched: ")
    assert "no reason" not in found.told


def test_no_room_for_the_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A temporary directory that can't be used is named."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    found = finding()
    assert ("broken", True) == (found.state, str(tmp_path / "nowhere") in found.remedy)
