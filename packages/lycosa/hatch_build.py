"""The word vectors of the package, made from those of wordllama when Lycosa is built or installed: a hook of Hatch.

    python hatch_build.py DIRECTORY      the same by hand

wordllama has 32,000 pieces of words, each with 256 numbers of two bytes. Kept are the direction of each piece, a byte a
number (whole parts of 1/STEPS of its length), and its length. wordllama is needed where Lycosa is built, not where it
runs: with what it brings it would be a third of the install.
"""

from __future__ import annotations

import json
import shutil
import sys
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from safetensors import safe_open

PLACE = "src/lycosa/text/word_vectors"
VECTORS, PIECES, LICENCE = "vectors.npy", "pieces.json", "LICENSE"
SOURCES = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")
STEPS = 320
"""As in lycosa/text/embeddings.py, which reads what is made here."""

WORD = "\u2581"
"""What the first piece of a word starts with."""


class VectorsHook(BuildHookInterface[Any]):
    """Makes the files before the wheel is put together, or the source is installed as it stands."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make them, unless they are there; git does not know them, so the wheel has to be told."""
        into = Path(self.root) / PLACE
        if not all((into / name).is_file() for name in (VECTORS, PIECES, LICENCE)):
            make(into)
        build_data["artifacts"].append(f"{PLACE}/*")


def make(into: Path) -> None:
    """Write the files of the vectors."""
    package = distribution("wordllama")
    cutting, weighing = (Path(str(package.locate_file(f"wordllama/{name}"))) for name in SOURCES)
    with safe_open(weighing, framework="np") as file:
        weights = file.get_tensor("embedding.weight").astype(np.float32)
    told = cutting.read_bytes()
    model = json.loads(told)["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].__getitem__)
    joins = [pair.replace(" ", "") for pair in model["merges"]]
    ranks = [model["vocab"][piece] for piece in joins if piece.strip(WORD)]  # several blanks: not within a word
    if model["type"] != "BPE" or not model["byte_fallback"] or ranks != sorted(ranks) or len(pieces) != len(weights):
        raise SystemExit(f"wordllama {package.version} cuts words in another way")
    lengths = np.sqrt((weights * weights).sum(axis=1, keepdims=True))
    rows = np.rint(weights / np.maximum(lengths, 1e-30) * STEPS)
    if np.abs(rows).max() > 127:
        raise SystemExit("a number does not fit into a byte")
    content = xxhash.xxh3_64(weights.data)
    content.update(told)
    head = {
        "source": f"wordllama {package.version}",
        "digest": content.hexdigest(),
        "lengths": [round(float(length), 3) for length in lengths[:, 0]],
        "pieces": pieces,
    }
    into.mkdir(parents=True, exist_ok=True)
    licence = next(file for file in package.files or () if file.name == "LICENSE")
    shutil.copy(str(licence.locate()), into / LICENCE)
    (into / PIECES).write_text(json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    np.save(into / VECTORS, rows.astype(np.int8))


if __name__ == "__main__":
    make(Path(sys.argv[1]))
