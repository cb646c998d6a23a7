"""`lycosa doctor`: findings and exit code."""

from __future__ import annotations

import json
import os
import resource
import sqlite3
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
from lycosa.cli.doctor import CheckResult
from lycosa.core.errors import StoreError
from places import ROOT


def test_doctor_finds_no_errors_on_this_machine(command: Command) -> None:
    told = command.json("doctor")
    assert told["works"]
    findings = {finding["name"]: finding for finding in told["findings"]}
    assert {"versions", "packages", "SQLite", "disk", "open files"} <= findings.keys()
    assert findings["trial"]["text"].startswith("5 pages over HTTP on this machine in ")
    assert findings["trial"]["text"].endswith("; 5 of 5 read back from log and WARC")


def test_doctor_prints_findings_as_text(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    bad = CheckResult("pyarrow", "not installed", "no tables", "pip install it")
    monkeypatch.setattr(doctor, "examine", lambda: iter([CheckResult("disk", "12 GB"), bad]))
    assert [
        "  disk     12 GB",
        "- pyarrow  not installed",
        "           costs: no tables",
        "           to do: pip install it",
        "Lycosa works on this machine. 1 thing could be improved.",
    ] == command.out("doctor").splitlines()


def test_doctor_exit_code_reflects_findings(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    broken = CheckResult("numpy", "not installed", "it is needed", "pip install numpy", essential=True)
    monkeypatch.setattr(doctor, "examine", lambda: iter([broken]))
    code, out, _ = command("doctor")
    assert (1, "Lycosa does not work on this machine: 1 thing is broken.") == (code, out.splitlines()[-1])
    code, out, _ = command("doctor", "--json")
    assert (1, False) == (code, json.loads(out)["works"])


def only(look: Callable[[], Iterator[CheckResult]]) -> CheckResult:
    (finding,) = look()
    return finding


def test_missing_and_outdated_packages_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"numpy": "1.26", "rich": "15.0.0"}

    def version(name: str) -> str:
        if name not in there:
            raise metadata.PackageNotFoundError(name)
        return there[name]

    needed = ["numpy>=2.0", "rich>=14", "yarl>=1.20", 'pyarrow>=18; extra == "parquet"']
    monkeypatch.setattr(metadata, "requires", lambda name: needed)
    monkeypatch.setattr(metadata, "version", version)
    assert [
        CheckResult("numpy", "1.26, needed is numpy>=2.0", "it may fail", "pip install 'numpy>=2.0'", essential=True),
        CheckResult("yarl", "not installed", "it is needed", "pip install 'yarl>=1.20'", essential=True),
        CheckResult("packages", "1 of 3: rich 15.0.0"),
    ] == list(doctor._packages())[1:]
    remedies = {finding.name: finding.remedy for finding in doctor._extras()}
    assert "pip install 'lycosa[train]'" == remedies["train"]
    assert "pip install lycosa-lab" == remedies["lycosa-lab"]
    assert "pip install 'lycosa-server[postgres]'" == remedies["lycosa-server[postgres]"]


def test_missing_extras_are_listed() -> None:
    extras = tomllib.loads((ROOT / "packages" / "lycosa" / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    (everything,) = extras.pop("all")
    assert everything == f"lycosa[{','.join(extras)}]"
    packages = {extra: sorted(need.split(">")[0] for need in needs) for extra, needs in extras.items()}
    listed = {extra: sorted(names.split()) for extra, (names, _) in doctor.TASKS.items()}
    assert packages == {extra: names for extra, names in listed.items() if not extra.startswith("lycosa-")}
    plugins = {path.name for path in (ROOT / "packages").iterdir()} - {"lycosa"}
    assert plugins == {extra for extra in listed if extra.startswith("lycosa-") and "[" not in extra}


def test_wordnet_missing_or_damaged_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lycosa.text.wordnet.usual_places", lambda: iter([tmp_path]))
    monkeypatch.delenv("LYCOSA_WORDNET", raising=False)
    cost = "judges and strategies that use word meanings are not available"
    missing = only(doctor._wordnet)
    assert ("WordNet is not installed", cost) == (missing.text, missing.cost)
    assert missing.remedy.startswith("install it (on Debian")
    (tmp_path / "data.noun").write_text("")
    told = f"WordNet is damaged: {tmp_path}/data.noun, line 1: the file is empty"
    damaged = only(doctor._wordnet)
    assert (told, cost) == (damaged.text, damaged.cost)
    assert "install WordNet again, or give a directory that has its files with --ontology DIR" == damaged.remedy


def test_sqlite_without_full_text_search_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Poor:
        def execute(self, sql: str) -> None:
            raise sqlite3.OperationalError("no such module: fts5")

        def close(self) -> None:
            pass

    monkeypatch.setattr(sqlite3, "connect", lambda name: Poor())
    assert "no lycosa search" == only(doctor._sqlite).cost


def test_full_or_unwritable_disk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda path: usage(1, 1, 5_000_000))
    assert (True, True) == (bool(only(doctor._disk).cost), only(doctor._disk).text.startswith("0.0 GB free in"))
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
def test_low_open_files_limit_is_reported(
    limits: tuple[int, int], state: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: limits)
    assert (state == "costs", told) == (bool(only(doctor._files).cost), only(doctor._files).text)


def test_failing_check_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def _sqlite() -> Iterator[CheckResult]:
        raise RuntimeError("not there")
        yield

    monkeypatch.setattr(doctor, "CHECKS", (_sqlite,))
    (finding,) = doctor.examine()
    assert (True, "sqlite", "RuntimeError: not there") == (finding.broken, finding.name, finding.text)


def test_failing_trial_crawl_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **more: Any) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(lycosa.crawling, "crawl", fails)
    found = list(doctor.examine())[-1]
    assert (True, "StoreError: the disk is full") == (found.broken, found.text)


def test_trial_crawl_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = lycosa.crawling.crawl
    monkeypatch.setattr(
        lycosa.crawling, "crawl", lambda *args, **more: crawl(*args, **{**more, "allow_network": ["10.0.0.0/8"]})
    )
    found = only(doctor._trial)
    assert (True, "nothing can be crawled") == (found.broken, found.cost)
    assert found.text.startswith("0 of 5 pages could be fetched: ")
    assert "no reason" not in found.text


def test_trial_crawl_without_temporary_directory_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    found = list(doctor.examine())[-1]
    assert (True, True) == (found.broken, str(tmp_path / "nowhere") in found.remedy)
