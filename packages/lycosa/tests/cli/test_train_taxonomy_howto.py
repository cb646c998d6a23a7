"""The commands of docs/howto/taxonomy.md, run as shown on a small embedded web."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from commands import Command
from lycosa.cli.demo import _write_directory
from lycosa.strategies.rulebook import RuleBook
from lycosa.testweb import Web, serve
from places import ROOT

PAGE = ROOT / "docs" / "howto" / "taxonomy.md"
SMALLER = {"--links 20": "--links 3", "--walk 1000": "--walk 60", "--budget 300": "--budget 20", "0.01": "0"}
"""Replacements in commands, for fewer pages and no delays."""


def test_taxonomy_howto_commands_succeed(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    lines = re.findall(r"^\$ lycosa (.+)$", "\n".join(blocks).replace("\\\n", " "), re.MULTILINE)
    web = Web(seed=7, pages=100, hosts=4, traps=())
    with serve(web, record=False) as server:
        told = {}
        for line in lines:
            if line.startswith("demo "):
                _write_directory(web, Path(shlex.split(line)[-1]))
                continue
            for large, small in SMALLER.items():
                line = line.replace(large, small)
            told[line] = command.out(*shlex.split(line.replace(":8123", f":{server.port}")), width=100)
    assert {"train", "crawl"} == {line.split()[0] for line in told}
    assert "Marked: marine_biology/coral_reefs" in next(out for line, out in told.items() if "--mark" in line)
    assert 60 == round(sum(rule.cases for rule in RuleBook.load(Path("walked.rules"))))
    assert all("relevant" in out for line, out in told.items() if line.startswith("crawl"))
    (shown,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    exec(compile(shown, str(PAGE), "exec"), {})
    assert Path("taxonomy.tsv").read_text().count("\tmarine_biology/coral_reefs\n") > 0
