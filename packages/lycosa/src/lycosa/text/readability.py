"""Detection of keyword stuffing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.text.vocabulary import CLOSES, OPENS, SKIP

MIN_WORDS = 60  # words without stop words; shorter texts are never stuffed
# Sample of a page: at most MAX_WORDS words, from BLOCKS blocks of BLOCK words and link marks.
MAX_WORDS, BLOCKS, BLOCK = 512, 4, 384


def quality(ids: NDArray[np.int32]) -> float:
    """Return the quality of a page's text from 0 (stuffed) to 1 (prose or a plain list); `ids` are its words in order.

    Words in links are used only if there are few other words. Features:

    - repetition: the probability that two random words are the same;
    - vocabulary size for the length (Heaps 1978);
    - share of stop words: keyword lists have no grammar;
    - word order: tables and references repeat words in the same order, keyword lists have pairs by chance only;
    - links that all contain the same two words.

    The weights are from a logistic regression, except for links. Of held-out pages .3 % are below .5 in an
    encyclopaedia, .7 % in technical documentation and .8 % on university sites (in a language without stop words: .6,
    2.5 and .9 %), and nearly all pages of the link farm in the embedded web.

    >>> from lycosa.core.types import Page
    >>> from lycosa.text.vocabulary import Vocabulary
    >>> def read(text):
    ...     return quality(Vocabulary().read(Page("ok", marked=text)).ids)
    >>> read("coral reef bleaching, best reef coral, cheap coral reefs, reef coral bleaching, " * 20) < .01
    True
    >>> read("Too short to judge.")
    1.0
    """
    if len(ids) < MIN_WORDS:
        return 1.0
    blocks = ids.reshape(1, -1)
    if len(ids) > BLOCKS * BLOCK:
        step = (len(ids) - BLOCK) // (BLOCKS - 1)
        blocks = np.stack([ids[start : start + BLOCK] for start in range(0, BLOCKS * step, step)])
        ids = blocks.ravel()
    steps = (blocks == OPENS).view(np.int8) - (blocks == CLOSES).view(np.int8)
    deep = np.cumsum(steps, axis=1, dtype=np.int32)
    deep -= np.minimum(deep.min(axis=1, keepdims=True), 0)  # a block may begin within a link
    depth = deep.ravel()
    outside = ids[(depth <= 0) & (ids >= SKIP)]
    words = outside[outside >= 0]
    if len(words) < MIN_WORDS:
        outside = ids[ids >= SKIP]
        words = outside[outside >= 0]
        if len(words) < MIN_WORDS:
            return 1.0
    plain = 1.0 - len(words) / len(outside)
    if len(words) > MAX_WORDS:
        block, step = MAX_WORDS // BLOCKS, (len(words) - MAX_WORDS // BLOCKS) // (BLOCKS - 1)
        words = np.concatenate([words[start : start + block] for start in range(0, BLOCKS * step, step)])
    n = len(words)
    counts = _counts(words)
    repeated = max((int(counts @ counts) - n) / (n * (n - 1)), 1e-4)
    pairs = _counts(words[:-1].astype(np.int64) << 32 | words[1:])
    order = math.log((int(pairs @ pairs) - n + 3) / (repeated * repeated * (n - 1) * (n - 2) + 2))
    stuffed = (  # log odds
        2.21 * math.log(repeated)
        - 13.81 * plain
        + 0.75 * math.log(n)
        - 4.28 * math.log(len(counts) / n**0.75)
        - 3.03 * order
        + 24.0 * max(0.0, _common_link_word_share(ids, depth) - 0.65)
        + 10.0
    )
    return 1.0 / (1.0 + math.exp(min(stuffed, 50.0)))


def may_be_stuffed(counts: NDArray[np.integer[Any]]) -> bool:
    """Return true if word frequencies are high enough for a page to be stuffed; a cheap test before `quality`.

    >>> may_be_stuffed(np.ones(300, np.uint16)), may_be_stuffed(np.full(30, 10, np.uint16))
    (False, True)
    """
    often = counts.astype(np.float64)
    n = float(often.sum())
    # probability that two random words are equal: at least .017 on 1,800 pages of link farms, mostly < .0075 in prose
    return float(often @ often) - n >= 0.0075 * n * (n - 1.0)


def _common_link_word_share(ids: NDArray[np.int32], depth: NDArray[np.int32]) -> float:
    """Return the share of links that contain the second most frequent link word: 1 if all have the same two words."""
    links = int(np.count_nonzero(ids == OPENS))
    if links < 8:  # few links may share their words by chance
        return 0.0
    counts = _counts(ids[(depth > 0) & (ids >= 0)])
    return min(1.0, float(np.partition(counts, -2)[-2]) / links) if len(counts) > 1 else 0.0


def _counts(values: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
    counts: NDArray[np.intp] = np.unique(values, return_counts=True)[1]
    return counts
