"""Judges: the relevance of a page and of each of its links.

`JUDGES` is the registry of the names that `--judge` accepts; factory.py creates a judge from the options of a crawl.
"""

from __future__ import annotations

from typing import Any

from lycosa.core.spec import Registry, RegistryEntry

ENTRIES = {
    "probability": RegistryEntry(
        "probability", "Probability",
        "the probability that a user would label the page relevant; learns from seeds, examples, labels "
            "and the crawl",
        "", "words or examples",
    ),
    "vector": RegistryEntry(
        "vector_judge", "VectorJudge", "similarity to words or example pages in the vector space: tf-idf and cosine",
        "Batsakis 2007, eq. 1, 2", "words or examples",
    ),
    "word-frequency": RegistryEntry(
        "counting", "WordFrequencyJudge", "how often the search string occurs, or on how many lines",
        "Trivedi et al. 2014", "words",
    ),
    "weighted-content": RegistryEntry(
        "vector_judge", "WeightedContentJudge", "cosine of word counts, those in the title counted twice",
        "Trivedi et al. 2014", "words",
    ),
    "keyword": RegistryEntry(
        "counting", "KeywordJudge", "log(1 + occurrences) of a word, in the page and in 100 characters around a link",
        "Gouriten, Maniu, Senellart 2014, 2.3", "words",
    ),
    "ehrig": RegistryEntry(
        "meaning", "EhrigJudge",
        "similarity of meaning: each word counts by its distance from the topic's words in WordNet",
        "Batsakis 2007, eq. 3, 8; Ehrig, Maedche 2003", "words",
    ),
    "ssrm": RegistryEntry(
        "meaning", "SsrmJudge", "cosine that also counts words of similar meaning, by paths and depths in WordNet",
        "Batsakis 2007, eq. 4, 9; Varelas et al. 2005", "words",
    ),
    "synset-expansion": RegistryEntry(
        "meaning", "SynsetExpansionJudge", "vector space, with the synonyms of the topic's words added",
        "Batsakis 2007, eq. 10", "words",
    ),
    "corley-mihalcea": RegistryEntry(
        "meaning", "CorleyMihalceaJudge",
        "for each word the most similar word of the other text, in both directions, weighted by idf",
        "Corley, Mihalcea 2005", "words",
    ),
    "embedding": RegistryEntry(
        "embedding", "EmbeddingJudge", "similarity of meaning by pretrained word vectors; needs no training",
        "", "words or examples",
    ),
    "regex": RegistryEntry("pattern", "RegexJudge", "matches of a regular expression (--regex)", "", "expression"),
    "model": RegistryEntry(
        "model_judge", "ModelJudge",
        "the probability of a class or branch of a taxonomy: Naive Bayes, SVM, network or tree ('lycosa train')",
        "Guan et al. 2008; Altingovde, Ulusoy 2004; Chakrabarti et al. 1999", "training",
    ),
    "browsing": RegistryEntry(
        "browsing_judge", "BrowsingJudge",
        "similarity to the relevant pages of the recorded browsing that the strategy learned from",
        "Batsakis 2007, 3.1, 3.4.2", "browsing",
    ),
    "given": RegistryEntry(
        "space_judge", "SpaceJudge",
        "the score that the space provides: a graph's scores, the records that a search form returned",
        "Gouriten, Maniu, Senellart 2014, 2.2",
    ),
}  # fmt: skip
JUDGES = Registry("judge", __name__, ENTRIES, group="judges")

DEFAULT = "probability"
# constructor parameters that come from options of their own, not from `--judge NAME,key=value`
OPTION_PARAMETERS = ("words", "expression", "model", "targets", "stemmed", "background", "ontology", "examples", "file")


def describe(name: str) -> dict[str, tuple[Any, Any]]:
    """Return the type and the default of each parameter that can be set after the judge's name."""
    return JUDGES.parameters(name, OPTION_PARAMETERS)
