from __future__ import annotations

import tomllib
from pathlib import Path
from statistics import mean

import pytest

from lycosa_lab.corpora.loading import open_corpus
from lycosa_lab.experiment_runner import run
from lycosa_lab.experiments import Experiment
from places import CORPORA

FLOORS = tomllib.loads(Path(__file__).with_name("floors.toml").read_text("utf-8"))


@pytest.mark.parametrize("name", FLOORS)
def test_run_harvest_reaches_minimum(name: str, tmp_path: Path) -> None:
    section = FLOORS[name]
    corpus, labels = section["corpus"], section.get("labels", "")
    if labels:
        if not (CORPORA / corpus).exists():
            pytest.skip(f"there is no {corpus} beside the project, in ../shared/corpora")
        source = tmp_path / Path(corpus).name  # its index is written next to it
        source.symlink_to(CORPORA / corpus)
        corpus, labels = str(source), str(CORPORA / labels)
    index = open_corpus(corpus, tmp_path / "corpora", labels=labels, exclude=section.get("exclude", []))
    assert section["fingerprint"] == index.fingerprint, "another corpus: its floors have to be measured again"
    floors = section["floors"]
    plan = Experiment(name, corpus, list(floors), **section["experiment"])
    results = run(plan, tmp_path / "runs", index=index, workers=1)
    reached = {
        text: mean(row["score"] / row["budget"] for row in results.rows if row["strategy"] == text) for text in floors
    }
    assert {} == {text: (reached[text], floor) for text, floor in floors.items() if reached[text] < floor}
