"""Directories of small pages, for tests of training."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {
    "Sea/Reefs": "coral reef polyp bleaching lagoon algae atoll sponge",
    "Sea/Fish": "fish salmon trout fin gill shoal herring cod",
    "Trains": "rail train station locomotive track signal carriage timetable",
}
COMMON = "people world year report name number water place story picture"


def text(label: str, number: int, words: int = 60) -> str:
    """Return a deterministic page of a class, with half its own words and half common words."""
    chance = random.Random(f"{label} {number}")
    own, all_ = WORDS[label].split(), COMMON.split()
    return " ".join(chance.choice(own if chance.random() < 0.5 else all_) for _ in range(words)) + f" page{number}x"


def write(root: Path, counts: dict[str, int]) -> Path:
    """Write HTML pages into one directory per class."""
    for label, count in counts.items():
        (root / label).mkdir(parents=True, exist_ok=True)
        for number in range(count):
            html = f"<title>Page {number}</title><p>{text(label, number)}</p>"
            (root / label / f"{number}.html").write_text(html)
    return root
