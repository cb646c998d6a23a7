"""Similarity of texts to a topic, by terms from a glossary.

tf is the frequency of a term in a text, w a weight, sim the similarity of two terms, q the topic, T_q its terms.

Paper: Batsakis 2007, section 3.3, equations 8 and 9; Corley and Mihalcea 2005, equation 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.text.background import Rarity
from lycosa.text.bags import Bags
from lycosa.text.glossary import LanguageTerms
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import Vocabulary

# 1 + log f, or f, of a term that occurs f times (f / max f would give the same values as f)
Tf = Literal["log", "raw"]
Numbers = NDArray[np.float64]


def ehrig(bags: Bags, words: LanguageTerms) -> Numbers:
    """Return equation 8, sum over text terms j and topic terms k of sim(j, k) tf_j tf_k, which grows with the text."""
    similarities = words.similarities(bags.columns) @ words.glossary.weights
    return _sums(bags, bags.counts * similarities)


def ssrm(bags: Bags, words: LanguageTerms, weights: Numbers, query: Numbers) -> Numbers:
    """Return equation 9, sum over j and k of sim(j, k) w_j w_k, divided by sqrt(sum of w_j^2) sqrt(sum of w_k^2).

    If only equal terms are similar it is the cosine; otherwise it may exceed 1.
    """
    dots = _sums(bags, weights * (words.similarities(bags.columns) @ query))
    lengths = np.sqrt(_sums(bags, weights * weights) * float(query @ query))
    return dots / np.where(lengths > 0, lengths, 1.0)


def corley_mihalcea(bags: Bags, words: LanguageTerms, rarity: Numbers, query: Numbers) -> Numbers:
    """Return (mean over text terms of maxSim to the topic + mean over topic terms of maxSim to the text) / 2.

    maxSim is the similarity to the most similar term of the other side; the means are weighted by idf.
    """
    similarities = words.similarities(bags.columns)
    best = similarities.max(1, initial=0.0)
    text = _sums(bags, best * rarity) / np.maximum(_sums(bags, rarity), 1e-12)
    strongest = np.zeros((len(bags), similarities.shape[1]))
    nonempty = np.flatnonzero(np.diff(bags.starts))  # reduceat cannot handle empty slices
    if len(nonempty):
        strongest[nonempty] = np.maximum.reduceat(similarities, bags.starts[nonempty], axis=0)
    topic = strongest @ query / max(float(query.sum()), 1e-12)
    return (text + topic) / 2


def tf_idf(
    bags: Bags, words: LanguageTerms, rarity: Rarity, vocabulary: Vocabulary, tf: Tf = "log"
) -> tuple[Numbers, Numbers, Numbers]:
    """Return tf idf of the texts' terms, tf idf of the topic's terms, and idf of the texts' terms."""
    terms = np.concatenate([bags.columns, words.topic])
    if rarity.is_learned(words.language):
        idf = vocabulary.idf_by(words.pages(terms, vocabulary))
    else:
        idf = rarity.of([words.stems[number] for number in terms.tolist()], vocabulary, words.language)
    texts, topic = idf[: len(bags.columns)], idf[len(bags.columns) :]
    counts = 1.0 + np.log(bags.counts) if tf == "log" else bags.counts
    return counts * texts, words.glossary.weights * topic, texts


def settings(measure: Measure, a: float, b: float, df: float) -> dict[str, float]:
    return {"a": a, "b": b} if measure == "li" else {"df": df} if measure == "ehrig" else {}


def _sums(bags: Bags, values: Numbers) -> Numbers:
    """Return the sum of each bag's values; differences of a running sum would round equal texts differently."""
    return np.bincount(bags.rows(), values, len(bags)).astype(np.float64)
