"""Strategies: which link to fetch next. One class per algorithm, with its paper in the docstring.

`STRATEGIES` is the registry behind `--strategy`: module, class, fixed arguments, requirements and source of each.
`strategy("best-first,merge=sum")` builds one. A specification takes the fields of the class as parameters and, except
for bandits, these six:

    batch=N        rank the frontier again only after every N pages (default 1)
    dry=random     when a batch runs out of ranked links, pick at random among newer links, as in the paper
    q=Q, zeta=Z    with probability 1 - Q take any row whose priority is at least Z times the best (defaults 1 and 0)
    ties=random    break ties at random instead of by order of discovery
    spread=S       prefer new sites: divide priorities by (1 + pages fetched from the link's host) ** S (default 0)
"""

from __future__ import annotations

from typing import Any

from lycosa.core.composite import steer
from lycosa.core.errors import InputError
from lycosa.core.options import FILES
from lycosa.core.protocols import Estimator, Strategy
from lycosa.core.spec import Registry, RegistryEntry, check_parts, format_spec, make_with, parse_spec

BATSAKIS = "Batsakis 2007"
GOURITEN = "Gouriten, Maniu, Senellart 2014"
OTIE = "Guan et al. 2008"
RULES = "Altingovde, Ulusoy 2004"
PERSONALISED = "Trivedi et al. 2014"
PEZZUTI = "Pezzuti, MacAvaney, Tonellotto 2025"

TOPIC, MODEL, TAXONOMY, TRUTH = "topic", "topic, best a model", "taxonomy and rules", "true scores"
KEYWORDS = "topic in words"
WORDS, BROWSING = "topic in words, WordNet", "a browsing record"

ENTRIES = {
    "scent": RegistryEntry(
        "scent", "Scent",
        "learns from every page which link texts, places and neighbours lead to relevant pages; needs no training",
        "ours", TOPIC,
    ),
    "best-first": RegistryEntry(
        "best_first", "BestFirst", "ranks links by the mean relevance of the linking page and the link text",
        f"{BATSAKIS}, eq. 7", TOPIC, arguments={"page": 0.5, "anchor": 0.5},
    ),
    "best-first-page": RegistryEntry(
        "best_first", "BestFirst", "ranks links by the relevance of the linking page", f"{BATSAKIS}, 3.2.1", TOPIC,
        arguments={"page": 1.0, "anchor": 0.0},
    ),
    "best-first-anchor": RegistryEntry(
        "best_first", "BestFirst", "ranks links by the relevance of the link text", f"{BATSAKIS}, 3.2.2", TOPIC,
        arguments={"page": 0.0, "anchor": 1.0},
    ),
    "n-best-first": RegistryEntry(
        "best_first", "NBestFirst", "best-first in batches: fetches n pages before ranking again", f"{BATSAKIS}, 2.3",
        TOPIC,
    ),
    "link-context": RegistryEntry(
        "otie", "LinkContext", "weighs the page's relevance by 1/4, that of the 20 words around the link by 3/4",
        f"{OTIE}, eq. 4", TOPIC,
    ),
    "ehrig": RegistryEntry(
        "anchors", "EhrigStrategy", "ranks links by how close their text is in meaning to the topic, by WordNet paths",
        f"{BATSAKIS}, eq. 3, 8", WORDS,
    ),
    "ssrm": RegistryEntry(
        "anchors", "SsrmStrategy", "like ehrig, a cosine over WordNet paths and depths", f"{BATSAKIS}, eq. 4, 9", WORDS,
    ),
    "synset-expansion": RegistryEntry(
        "anchors", "SynsetExpansionStrategy", "best-first with synonyms of the topic and the link text added",
        f"{BATSAKIS}, eq. 10", WORDS,
    ),
    "hmm": RegistryEntry(
        "hmm", "Hmm", "learns from recorded browsing how likely a path through similar pages leads to a relevant one",
        f"{BATSAKIS}, eq. 5, 6; Liu, Milios, Janssen 2004", BROWSING, arguments={"clusters": "kmeans"},
    ),
    "hmm-xmeans": RegistryEntry(
        "hmm", "Hmm", "like hmm, with the number of clusters chosen automatically",
        f"{BATSAKIS}, eq. 5, 6; Pelleg, Moore 2000", BROWSING, arguments={"clusters": "xmeans"},
    ),
    "hybrid": RegistryEntry(
        "hmm", "Hybrid", "mean of hmm and the page's similarity to relevant pages that were browsed",
        f"{BATSAKIS}, eq. 11", BROWSING, arguments={"anchors": False},
    ),
    "hybrid-anchor": RegistryEntry(
        "hmm", "Hybrid", "hybrid plus the similarity of the link text", f"{BATSAKIS}, eq. 12", BROWSING,
        arguments={"anchors": True},
    ),
    "context-graph": RegistryEntry(
        "context_graph", "ContextGraph",
        "classifies pages by their distance from relevant ones and follows the nearest first",
        f"{BATSAKIS}, 2.5; Diligenti et al. 2000", BROWSING,
    ),
    "fish-search": RegistryEntry(
        "fish_search", "FishSearch",
        "follows links from relevant pages and gives up a few links after an irrelevant one", "De Bra et al. 1994",
        TOPIC,
    ),
    "shark-search": RegistryEntry(
        "fish_search", "SharkSearch", "fish-search with graded scores: inherited relevance, link text and context",
        "Hersovici et al. 1998", TOPIC,
    ),
    "breadth-first": RegistryEntry(
        "baselines", "BreadthFirst", "follows links in the order they were discovered; ignores the topic",
        f"{BATSAKIS}, 3.2; {GOURITEN}, estimator 1",
    ),
    "random": RegistryEntry("baselines", "Random", "follows links in random order; ignores the topic"),
    "backlink": RegistryEntry(
        "baselines", "Backlink", "ranks pages by how many known pages link to them",
        f"{BATSAKIS}, 2.2; Cho et al. 1998",
    ),
    "pagerank": RegistryEntry(
        "ranks", "PageRank", "ranks pages by PageRank over the links seen so far", f"{BATSAKIS}, 2.2; Cho et al. 1998",
    ),
    "url-depth": RegistryEntry(
        "baselines", "UrlDepth", "ranks pages by the slashes in their URLs, fewest first", f"{BATSAKIS}, 2.2",
    ),
    "out-links": RegistryEntry(
        "baselines", "OutLinks", "ranks links by the number of links on their page", f"{BATSAKIS}, 2.2",
    ),
    "hard-focus": RegistryEntry(
        "focus", "HardFocus", "follows links of relevant pages only", f"{RULES}; Chakrabarti et al. 1999", MODEL,
    ),
    "soft-focus": RegistryEntry(
        "focus", "SoftFocus",
        "ranks links by the classifier's score of their page; optionally with a hub distiller or an apprentice",
        f"{RULES}; Chakrabarti et al. 1999, 2002", MODEL,
    ),
    "rules": RegistryEntry(
        "interclass_rules", "InterclassRules",
        "ranks links by how likely pages of this class lead to the target class within a few links", f"{RULES}, fig. 4",
        TAXONOMY,
    ),
    "opic": RegistryEntry(
        "cash", "Opic", "OPIC: each page shares its cash equally among its links; the richest page is fetched first",
        f"{OTIE}; Abiteboul et al. 2003",
    ),
    "opic-original": RegistryEntry(
        "opic_alpha", "OpicOriginal", "OPIC as published: every page brings its own cash and counts its history",
        f"{GOURITEN}, 7.1 and 8.2; Abiteboul et al. 2003",
    ),
    "opic-alpha": RegistryEntry(
        "opic_alpha", "OpicAlpha", "OPIC with cash shared by the relevance of links", f"{GOURITEN}, estimator 3",
        TOPIC,
    ),
    "otie": RegistryEntry(
        "otie", "Otie", "OPIC with cash shared by link context and corrected by the page's actual relevance",
        f"{OTIE}, eq. 1-4", TOPIC,
    ),
    "fl_deg": RegistryEntry(
        "first_level", "FirstLevel", "number of pages that link to it", f"{GOURITEN}, estimator 4",
        arguments={"kind": "deg"},
    ),
    "fl_n": RegistryEntry(
        "first_level", "FirstLevel", "total relevance of the pages that link to it", f"{GOURITEN}, estimator 4", TOPIC,
        arguments={"kind": "n"},
    ),
    "fl_e": RegistryEntry(
        "first_level", "FirstLevel", "total score of the links to it", f"{GOURITEN}, estimator 4", TOPIC,
        arguments={"kind": "e"},
    ),
    "fl_ne": RegistryEntry(
        "first_level", "FirstLevel", "total of page relevance times link score", f"{GOURITEN}, estimator 4", TOPIC,
        arguments={"kind": "ne"},
    ),
    "sl_n": RegistryEntry(
        "first_level", "SecondLevel", "total relevance of pages linked from the same pages", f"{GOURITEN}, estimator 4",
        TOPIC, arguments={"kind": "n"},
    ),
    "sl_e": RegistryEntry(
        "first_level", "SecondLevel", "total score of the links to pages linked from the same pages",
        f"{GOURITEN}, estimator 4", TOPIC, arguments={"kind": "e"},
    ),
    "sl_ne": RegistryEntry(
        "first_level", "SecondLevel", "total of relevance times link score over pages linked from the same pages",
        f"{GOURITEN}, estimator 4", TOPIC, arguments={"kind": "ne"},
    ),
    "lr_fl": RegistryEntry(
        "regression", "Regression", "linear regression on the four fl_ features, updated with every page",
        f"{GOURITEN}, estimator 5", TOPIC, arguments={"level": "fl"},
    ),
    "lr_sl": RegistryEntry(
        "regression", "Regression", "linear regression on the fl_ and sl_ features, updated with every page",
        f"{GOURITEN}, estimator 5", TOPIC, arguments={"level": "sl"},
    ),
    "mab_epsilon": RegistryEntry(
        "bandit", "Bandit", "bandit: mostly uses the strategy with the best pages so far", f"{GOURITEN}, estimator 6",
        TOPIC, arguments={"policy": "epsilon"},
    ),
    "mab_first": RegistryEntry(
        "bandit", "Bandit", "bandit: tries all strategies first, then keeps the best", f"{GOURITEN}, estimator 7",
        TOPIC, arguments={"policy": "first"},
    ),
    "mab_reset": RegistryEntry(
        "bandit", "Bandit", "mab_first, restarted at regular intervals", f"{GOURITEN}, 7.4", TOPIC,
        arguments={"policy": "reset"},
    ),
    "mab_var": RegistryEntry(
        "bandit", "Bandit", "mab_first, restarted less often the longer one strategy wins", f"{GOURITEN}, estimator 8",
        TOPIC, arguments={"policy": "var"},
    ),
    "mab_window": RegistryEntry(
        "bandit", "Bandit", "mab_epsilon over the most recent pages only", f"{GOURITEN}, 7.4", TOPIC,
        arguments={"policy": "window"},
    ),
    "mab_discounted": RegistryEntry(
        "bandit", "Bandit", "bandit over strong strategies, with recent pages weighted more",
        "ours; Garivier, Moulines 2011", TOPIC, arguments={"policy": "discounted"},
    ),
    "nr": RegistryEntry(
        "ranks", "NavigationalRank",
        "spreads relevance from pages to those that link to them, then to those they link to",
        f"{GOURITEN}, estimator 2; Feng et al. 2010", TOPIC,
    ),
    "oracle": RegistryEntry(
        "oracle", "Oracle", "knows every score in advance: the upper bound, for graphs and recorded crawls",
        f"{GOURITEN}, 6", TRUTH,
    ),
    "link-score": RegistryEntry(
        "personalised", "LinkScore", "sum of URL, link text, number of linking pages and their relevance",
        PERSONALISED, TOPIC,
    ),
    "url-optimisation": RegistryEntry(
        "personalised", "LinkScore", "link-score, dropping links below a threshold", PERSONALISED, TOPIC,
        arguments={"least": 1.1},
    ),
    "nb-links": RegistryEntry(
        "nb_links", "NaiveBayesLinks", "Naive Bayes on the words of URL and link text, updated with every page",
        PERSONALISED, TOPIC,
    ),
    "personalised": RegistryEntry(
        "personalised", "Personalised", "breadth-first through pages that contain the search string", PERSONALISED,
        TOPIC,
    ),
    "disco": RegistryEntry(
        "disco", "Disco",
        "bandit between links of pages most similar to the first relevant ones and links of their parents",
        "Pham, Santos, Freire 2019", TOPIC,
    ),
    "crawl4ai": RegistryEntry(
        "crawl4ai", "Crawl4Ai", "ranks links by the topic's words in their URL, ten at a time", "crawl4ai 2025",
        KEYWORDS,
    ),
    "qfirst": RegistryEntry(
        "page_quality", "PageQuality", "ranks links by the score of the first page that has them", PEZZUTI, TOPIC,
        arguments={"kind": "first"},
    ),
    "qmin": RegistryEntry(
        "page_quality", "PageQuality", "ranks links by the score of the worst page that has them", PEZZUTI, TOPIC,
        arguments={"kind": "min"},
    ),
    "craw4llm": RegistryEntry(
        "oracle", "Craw4Llm", "ranks pages by the score they will get: an oracle, for recorded crawls",
        "Yu, Liu, Xiong 2025", TRUTH,
    ),
    "sb-classifier": RegistryEntry(
        "sleeping_bandit", "SleepingBandit",
        "bandit over groups of links in similar places on their pages, with a classifier of URLs",
        "Gauquier, Manolescu, Senellart 2026", TOPIC,
    ),
    "deep-deep": RegistryEntry(
        "deep_deep", "DeepDeep", "Q-learning on the letters of link text and URL, updated during the crawl",
        "TeamHG-Memex 2016", TOPIC,
    ),
    "tres": RegistryEntry(
        "tres", "Tres", "sorts links in a tree and chooses among its leaves with a network trained during the crawl",
        "Kontogiannis et al. 2021", TOPIC,
    ),
}  # fmt: skip
STRATEGIES = Registry("strategy", __name__, ENTRIES, "lycosa list strategies", "strategies")
# Sections of `lycosa list strategies`, with the default strategy first.
GROUPS = {
    "Recommended": ("scent", "best-first", "breadth-first"),
    "Relevance of pages and link texts": (
        "best-first-page", "best-first-anchor", "n-best-first", "link-context", "fish-search", "shark-search",
        "link-score", "url-optimisation", "qfirst", "qmin", "crawl4ai", "personalised",
    ),
    "Learning during the crawl": ("nb-links", "lr_fl", "lr_sl", "disco", "sb-classifier", "deep-deep", "tres"),
    "Several strategies combined": ("mab_discounted", "mab_epsilon", "mab_first", "mab_reset", "mab_var", "mab_window"),
    "Meaning of words": ("ehrig", "ssrm", "synset-expansion"),
    "Trained before the crawl": (
        "soft-focus", "hard-focus", "rules", "hmm", "hmm-xmeans", "hybrid", "hybrid-anchor", "context-graph",
    ),
    "Link structure": (
        "backlink", "pagerank", "opic", "opic-original", "opic-alpha", "otie", "nr", "fl_deg", "fl_n", "fl_e", "fl_ne",
        "sl_n", "sl_e", "sl_ne", "url-depth", "out-links",
    ),
    "Baselines and upper bounds": ("random", "oracle", "craw4llm"),
}  # fmt: skip
PAPERS_ARMS = ("fl_deg", "fl_n", "fl_e", "fl_ne", "lr_fl")  # default arms of a bandit
STRONG_ARMS = ("scent", "best-first", "fl_n", "link-context")  # default arms of mab_discounted
STEERING = ("batch", "dry", "q", "zeta", "ties", "spread")  # parameters of every greedy strategy
# Fields that select a variant of a class and are fixed by the strategy's name; users can't set them.
_NAMED = ("kind", "level", "policy", "clusters", "anchors")
# facts of the crawl, passed to constructors
_FACTS = ("seed", "budget", "threshold", "probability", "exact", "words", "stems", "ontology")


def estimator(text: str, **known: Any) -> Estimator:
    """Build an estimator from a specification such as `best-first,merge=sum` or `module:Class`.

    `known` holds facts of the crawl, passed to constructors that take them: seed, budget, threshold, probability,
    targets, words, stems, ontology.

    >>> estimator("best-first,merge=sum")
    BestFirst(page=0.5, anchor=0.5, merge='sum')
    """
    name, settings = parse_spec(text)
    guide: Estimator = _make(name, settings, known)
    return guide


def strategy(text: str, **known: Any) -> Strategy:
    """Build a strategy from a specification: a bandit, or a greedy strategy over the estimator of that name.

    >>> strategy("fl_n,batch=32").name
    'fl_n,batch=32'
    """
    name, settings = parse_spec(text)
    steering = {key: settings.pop(key) for key in STEERING if key in settings}
    guide = _make(name, settings, known)
    if hasattr(guide, "pick"):
        if steering:
            hint = "a bandit picks by its own policy; set it on an arm"
            raise InputError("unknown-option", f"{name} has no parameter {next(iter(steering))!r}: {hint}")
        bandit: Strategy = guide
        return bandit
    shown = format_spec(name, {key: value for key, value in {**settings, **steering}.items() if key not in FILES})
    return make_with(steer, steering, name, estimator=guide, name=shown, seed=known.get("seed", 0))


def describe(name: str) -> dict[str, tuple[Any, Any]]:
    """Return the parameters of a strategy, each with its type and default."""
    fixed = STRATEGIES[name].arguments if name in STRATEGIES else {}
    if "policy" in fixed:  # each bandit policy uses only some parameters
        from lycosa.strategies.bandit import settings

        kinds = STRATEGIES.parameters(name)
        return {key: (kinds[key][0], default) for key, default in settings(fixed["policy"]).items()}
    hidden = {*(key for key in _NAMED if key in fixed), *_FACTS} | ({"targets"} if name != "rules" else set())
    return STRATEGIES.parameters(name, hidden)


def _make(name: str, given: dict[str, str], known: dict[str, Any]) -> Any:
    fixed = STRATEGIES[name].arguments if name in STRATEGIES else {}
    for key in _NAMED:
        if key in given and key in fixed:
            raise InputError("unknown-option", f"{name} has no parameter {key!r}: the strategy's name fixes it")
    made = STRATEGIES.make(name, given, **known)
    if name not in STRATEGIES:
        strategy_parts = ("learn", "frontier", "admit", "wants", "proportional")
        check_parts(made, strategy_parts if hasattr(made, "pick") else ("learn", "priority"), name)
    return made
