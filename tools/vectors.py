"""The word vectors that come with the package, made from those of wordllama: `python tools/vectors.py [DIRECTORY]`.

wordllama has 32,000 pieces of words, each with 256 numbers of two bytes. Kept are the direction of each piece, a byte a
number (whole parts of 1/320 of its length, as `lycosa.text.embeddings` keeps the words themselves), and its length.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import distribution
from pathlib import Path

import numpy as np
import xxhash
from safetensors import safe_open

from lycosa.text.pieces import FILES, HERE, STEPS, WORD

SOURCES = ("tokenizers/l2_supercat_tokenizer_config.json", "weights/l2_supercat_256.safetensors")


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
    digest = content.hexdigest()
    head = {"source": f"wordllama {package.version}, MIT", "digest": digest, "lengths": None, "pieces": pieces}
    head["lengths"] = [round(float(length), 3) for length in lengths[:, 0]]
    into.mkdir(parents=True, exist_ok=True)
    np.save(into / FILES[0], rows.astype(np.int8))
    (into / FILES[1]).write_text(json.dumps(head, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    make(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
