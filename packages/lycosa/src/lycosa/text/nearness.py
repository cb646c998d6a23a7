"""How near texts are to a topic by what their words mean: the text formulas, over terms that a glossary has read.

tf is the number of times a text has a term, w a weight, sim the likeness of two terms, q the topic, T_q its terms.

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

# 1 + log f, or f, of a term that occurs f times (f / max f is a factor of the whole text, and cancels)
Tf = Literal["log", "raw"]
Numbers = NDArray[np.float64]


def ehrig(bags: Bags, words: LanguageTerms) -> Numbers:
    """Equation 8: sum over the text's terms j and the topic's k of sim(j, k) tf_j tf_k. It grows with the text."""
    near = words.alike(bags.columns) @ words.glossary.weights
    return _sums(bags, bags.counts * near)


def ssrm(bags: Bags, words: LanguageTerms, weights: Numbers, query: Numbers) -> Numbers:
    """Equation 9: sum over j and k of sim(j, k) w_j w_k, by sqrt(sum of w_j^2) sqrt(sum of w_k^2).

    With sim = 1 for the same terms and 0 for others it is the cosine. With more it can be above 1.
    """
    dots = _sums(bags, weights * (words.alike(bags.columns) @ query))
    lengths = np.sqrt(_sums(bags, weights * weights) * float(query @ query))
    return dots / np.where(lengths > 0, lengths, 1.0)


def corley_mihalcea(bags: Bags, words: LanguageTerms, rarity: Numbers, query: Numbers) -> Numbers:
    """(mean over the text's terms of maxSim to the topic + mean over the topic's of maxSim to the text) / 2.

    maxSim is the likeness to the most similar term of the other side; means are weighed by idf.
    """
    alike = words.alike(bags.columns)
    best = alike.max(1, initial=0.0)
    text = _sums(bags, best * rarity) / np.maximum(_sums(bags, rarity), 1e-12)
    strongest = np.zeros((len(bags), alike.shape[1]))
    full = np.flatnonzero(np.diff(bags.starts))  # reduceat takes no empty ones
    if len(full):
        strongest[full] = np.maximum.reduceat(alike, bags.starts[full], axis=0)
    topic = strongest @ query / max(float(query.sum()), 1e-12)
    return (text + topic) / 2


def tf_idf(
    bags: Bags, words: LanguageTerms, rarity: Rarity, vocabulary: Vocabulary, tf: Tf = "log"
) -> tuple[Numbers, Numbers, Numbers]:
    """The weights of the texts' terms and of the topic's, tf idf; and the idf of the texts' alone."""
    terms = np.concatenate([bags.columns, words.topic])
    if rarity.is_learned(words.language):
        idf = vocabulary.idf_by(words.pages(terms, vocabulary))
    else:
        idf = rarity.of([words.stems[number] for number in terms.tolist()], vocabulary, words.language)
    texts, topic = idf[: len(bags.columns)], idf[len(bags.columns) :]
    counts = 1.0 + np.log(bags.counts) if tf == "log" else bags.counts
    return counts * texts, words.glossary.weights * topic, texts


def settings(measure: Measure, a: float, b: float, df: float) -> dict[str, float]:
    """Those that a measure has."""
    return {"a": a, "b": b} if measure == "li" else {"df": df} if measure == "ehrig" else {}


def _sums(bags: Bags, values: Numbers) -> Numbers:
    """The sum of each bag's values. (Differences of one running sum would round equal texts differently.)"""
    return np.bincount(bags.rows(), values, len(bags)).astype(np.float64)
