"""What to fetch next. One algorithm, one class, its paper in the docstring.

`STRATEGIES` names what `--strategy` accepts: where it lives, what it is made with, what it needs and whose it is.
`strategy("best-first,merge=sum")` makes one; the parameters are those of the class, and these six of all but bandits:

    batch=N        see the scores of N pages ago: rank again after every N pages only (1)
    dry=random     when a batch has used up what is ranked: what was found since in any order, as the paper has it
    q=Q, zeta=Z    with probability 1 - Q take any row that scores at least Z times the best (1, 0)
    ties=random    among equal scores not the first discovered, but any
    spread=S       new sites first: scores are divided by (1 + pages of the link's host) to the power of S (0)

Paper items:
    batsakis-figure-1: `lycosa strategies`. Test: cli/test_topics.py::test_everything_is_listed.
"""

from __future__ import annotations

from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.options import FILES
from lycosa.core.protocols import Estimator, Strategy
from lycosa.core.registry import Entry, Registry
from lycosa.core.spec import build, check_parts, parse, spell
from lycosa.core.strategies import steer

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
    "scent": Entry(
        "scent", "Scent",
        "starts from what the topic says of a link, and learns from every page which words and places led to good ones",
        "ours", TOPIC,
    ),
    "scent-1": Entry(
        "scent", "Scent", "scent as it was at first but for risk: no hindsight, tag paths, exact judges; to compare",
        "ours", TOPIC, arguments={"hindsight": False, "exact": False, "lean": False, "without": "place"},
    ),
    "best-first": Entry(
        "best_first", "BestFirst",
        "links of relevant pages with relevant anchors first: mean of page and anchor similarity",
        f"{BATSAKIS}, eq. 7", TOPIC, arguments={"page": 0.5, "anchor": 0.5},
    ),
    "best-first-page": Entry(
        "best_first", "BestFirst",
        "links of the most relevant pages first", f"{BATSAKIS}, 3.2.1", TOPIC, arguments={"page": 1.0, "anchor": 0.0},
    ),
    "best-first-anchor": Entry(
        "best_first", "BestFirst",
        "links with the most relevant anchor text first", f"{BATSAKIS}, 3.2.2", TOPIC,
        arguments={"page": 0.0, "anchor": 1.0},
    ),
    "n-best-first": Entry(
        "best_first", "NBestFirst",
        "best-first, but n pages at a time before anything is ranked again", f"{BATSAKIS}, 2.3", TOPIC,
    ),
    "link-context": Entry(
        "otie", "LinkContext",
        "a quarter the page's relevance, three quarters that of the 20 words around the link", f"{OTIE}, eq. 4", TOPIC,
    ),
    "ehrig": Entry(
        "anchors", "Ehrig", "links with anchors that mean something near the topic, by paths in WordNet",
        f"{BATSAKIS}, eq. 3, 8", WORDS,
    ),
    "ssrm": Entry(
        "anchors", "Ssrm", "the same as a cosine, by paths and depths in WordNet", f"{BATSAKIS}, eq. 4, 9", WORDS,
    ),
    "synset-expansion": Entry(
        "anchors", "SynsetExpansion",
        "best-first with page and anchor, topic and anchor widened by their synonyms", f"{BATSAKIS}, eq. 10", WORDS,
    ),
    "hmm": Entry(
        "hmm", "Hmm",
        "by how likely a path through pages like these leads to a relevant one, learned from someone's browsing",
        f"{BATSAKIS}, eq. 5, 6; Liu, Milios, Janssen 2004", BROWSING, arguments={"clusters": "kmeans"},
    ),
    "hmm-xmeans": Entry(
        "hmm", "Hmm", "the same, with as many clusters of pages as fit them",
        f"{BATSAKIS}, eq. 5, 6; Pelleg, Moore 2000", BROWSING, arguments={"clusters": "xmeans"},
    ),
    "hybrid": Entry(
        "hmm", "Hybrid", "mean of hmm and the page's similarity to the relevant pages browsed",
        f"{BATSAKIS}, eq. 11", BROWSING, arguments={"anchors": False},
    ),
    "hybrid-anchor": Entry(
        "hmm", "Hybrid", "hybrid, with the anchor's similarity as well", f"{BATSAKIS}, eq. 12",
        BROWSING, arguments={"anchors": True},
    ),
    "context-graph": Entry(
        "context_graph", "ContextGraph",
        "a classifier for each distance from relevant pages: links of the nearest layer first",
        f"{BATSAKIS}, 2.5; Diligenti et al. 2000", BROWSING,
    ),
    "fish-search": Entry(
        "fish_search", "FishSearch",
        "relevant pages have offspring that swims on, others starve after a few hops", "De Bra et al. 1994", TOPIC,
    ),
    "shark-search": Entry(
        "fish_search", "SharkSearch",
        "graded fish-search: inherited relevance that decays, anchor and context", "Hersovici et al. 1998", TOPIC,
    ),
    "breadth-first": Entry(
        "baselines", "BreadthFirst", "in order of discovery, level by level",
        f"{BATSAKIS}, 3.2; {GOURITEN}, estimator 1",
    ),
    "random": Entry("baselines", "Random", "in a random order that depends on --random-seed only"),
    "backlink": Entry(
        "baselines", "Backlink", "what most pages link to first", f"{BATSAKIS}, 2.2; Cho et al. 1998",
    ),
    "pagerank": Entry(
        "ranks", "PageRank", "by PageRank of the graph seen so far, brought up to date now and then",
        f"{BATSAKIS}, 2.2; Cho et al. 1998",
    ),
    "url-depth": Entry(
        "baselines", "UrlDepth", "addresses with the fewest slashes first", f"{BATSAKIS}, 2.2",
    ),
    "out-links": Entry(
        "baselines", "OutLinks", "links of the pages with the most links first", f"{BATSAKIS}, 2.2",
    ),
    "hard-focus": Entry(
        "focus", "HardFocus", "follow the links of pages on the topic only, prune at all others",
        f"{RULES}; Chakrabarti et al. 1999", MODEL,
    ),
    "soft-focus": Entry(
        "focus", "SoftFocus",
        "links are worth what the classifier says of their page; with a distiller of hubs or an apprentice if wanted",
        f"{RULES}; Chakrabarti et al. 1999, 2002", MODEL,
    ),
    "rules": Entry(
        "rules", "Rules",
        "by how likely pages of this class lead to the wanted one, over paths of a few links", f"{RULES}, fig. 4",
        TAXONOMY,
    ),
    "opic": Entry(
        "cash", "Opic", "cash that pages hand to their links in equal shares: the richest first",
        f"{OTIE}; Abiteboul et al. 2003",
    ),
    "opic-original": Entry(
        "opic_alpha", "OpicOriginal", "the same where every page brings cash of its own, and its history",
        f"{GOURITEN}, 7.1 and 8.2; Abiteboul et al. 2003",
    ),
    "opic-alpha": Entry(
        "opic_alpha", "OpicAlpha", "cash shared by the links' promise, and its history", f"{GOURITEN}, estimator 3",
        TOPIC,
    ),
    "otie": Entry(
        "otie", "Otie", "cash shared by link context, revised by what the page turned out to be",
        f"{OTIE}, eq. 1-4", TOPIC,
    ),
    "fl_deg": Entry(
        "first_level", "FirstLevel", "number of parents seen", f"{GOURITEN}, estimator 4", arguments={"kind": "deg"},
    ),
    "fl_n": Entry(
        "first_level", "FirstLevel", "sum of the parents' relevance", f"{GOURITEN}, estimator 4", TOPIC,
        arguments={"kind": "n"},
    ),
    "fl_e": Entry(
        "first_level", "FirstLevel", "sum of the links' promise", f"{GOURITEN}, estimator 4", TOPIC,
        arguments={"kind": "e"},
    ),
    "fl_ne": Entry(
        "first_level", "FirstLevel", "sum of relevance times promise", f"{GOURITEN}, estimator 4",
        TOPIC, arguments={"kind": "ne"},
    ),
    "sl_n": Entry(
        "first_level", "SecondLevel", "sum of the siblings' relevance", f"{GOURITEN}, estimator 4",
        TOPIC, arguments={"kind": "n"},
    ),
    "sl_e": Entry(
        "first_level", "SecondLevel", "sum of the promise of the links to siblings",
        f"{GOURITEN}, estimator 4", TOPIC, arguments={"kind": "e"},
    ),
    "sl_ne": Entry(
        "first_level", "SecondLevel", "sum over siblings of relevance times promise",
        f"{GOURITEN}, estimator 4", TOPIC, arguments={"kind": "ne"},
    ),
    "lr_fl": Entry(
        "regression", "Regression",
        "linear regression on the four fl_ features, trained by every page", f"{GOURITEN}, estimator 5", TOPIC,
        arguments={"level": "fl"},
    ),
    "lr_sl": Entry(
        "regression", "Regression",
        "linear regression on the fl_ and sl_ features, trained by every page", f"{GOURITEN}, estimator 5", TOPIC,
        arguments={"level": "sl"},
    ),
    "mab_epsilon": Entry(
        "bandit", "Bandit",
        "several strategies take turns: mostly the one with the best pages so far", f"{GOURITEN}, estimator 6", TOPIC,
        arguments={"policy": "epsilon"},
    ),
    "mab_first": Entry(
        "bandit", "Bandit",
        "tries its strategies during the first part of the budget, then stays with the best",
        f"{GOURITEN}, estimator 7", TOPIC, arguments={"policy": "first"},
    ),
    "mab_reset": Entry(
        "bandit", "Bandit", "mab_first all over again every so many pages", f"{GOURITEN}, 7.4",
        TOPIC, arguments={"policy": "reset"},
    ),
    "mab_var": Entry(
        "bandit", "Bandit",
        "mab_first all over again, the less often the longer the same strategy wins", f"{GOURITEN}, estimator 8", TOPIC,
        arguments={"policy": "var"},
    ),
    "mab_window": Entry(
        "bandit", "Bandit", "mab_epsilon that remembers the last pages only", f"{GOURITEN}, 7.4",
        TOPIC, arguments={"policy": "window"},
    ),
    "mab_discounted": Entry(
        "bandit", "Bandit",
        "several strong strategies take turns, by what their pages were worth of late: older ones count less and less",
        "ours; Garivier, Moulines 2011", TOPIC, arguments={"policy": "discounted"},
    ),
    "nr": Entry(
        "ranks", "NavigationalRank",
        "relevance spreads from pages to what links to them, then to what they link to",
        f"{GOURITEN}, estimator 2; Feng et al. 2010", TOPIC,
    ),
    "oracle": Entry(
        "oracle", "Oracle", "knows every score beforehand: the yardstick, for graphs and recorded crawls",
        f"{GOURITEN}, 6", TRUTH,
    ),
    "link-score": Entry(
        "personalised", "LinkScore", "URL text, anchor text, number of parents and their relevance, added up",
        PERSONALISED, TOPIC,
    ),
    "url-optimisation": Entry(
        "personalised", "LinkScore", "link-score without the links that score below a threshold",
        PERSONALISED, TOPIC, arguments={"least": 1.1},
    ),
    "nb-links": Entry(
        "nb_links", "NaiveBayesLinks",
        "Naive Bayes on the words of address and anchor, which learns from every page", PERSONALISED, TOPIC,
    ),
    "personalised": Entry(
        "personalised", "Personalised",
        "first in, first out; only the links of pages that have the search string are followed", PERSONALISED, TOPIC,
    ),
    "disco": Entry(
        "disco", "Disco",
        "a bandit of two operators, links of the pages that are most like the first relevant ones and of their parents",
        "Pham, Santos, Freire 2019", TOPIC,
    ),
    "crawl4ai": Entry(
        "crawl4ai", "Crawl4Ai", "links with the most of the topic's words in their address first, ten at a time",
        "crawl4ai 2025", KEYWORDS,
    ),
    "qfirst": Entry(
        "page_quality", "PageQuality", "links are worth what the first page with them is worth",
        PEZZUTI, TOPIC, arguments={"kind": "first"},
    ),
    "qmin": Entry(
        "page_quality", "PageQuality", "links are worth what the worst page with them is worth",
        PEZZUTI, TOPIC, arguments={"kind": "min"},
    ),
    "craw4llm": Entry(
        "oracle", "Craw4Llm",
        "rates pages before they are fetched, by what the judge will say of them: an oracle, for recorded crawls",
        "Yu, Liu, Xiong 2025", TRUTH,
    ),
    "sb-classifier": Entry(
        "sleeping_bandit", "SleepingBandit",
        "a bandit over groups of links in like places of their pages, and a classifier of addresses",
        "Gauquier, Manolescu, Senellart 2026", TOPIC,
    ),
    "deep-deep": Entry(
        "deep_deep", "DeepDeep",
        "Q-learning as the crawl goes: letters of anchor and address say what a link will lead to, now and later",
        "TeamHG-Memex 2016", TOPIC,
    ),
    "tres": Entry(
        "tres", "Tres",
        "a tree sorts links by what is known of them, a network trained as the crawl goes chooses among its leaves",
        "Kontogiannis et al. 2021", TOPIC,
    ),
}  # fmt: skip
STRATEGIES = Registry("strategy", __name__, ENTRIES, "lycosa strategies")

PAPERS_ARMS = ("fl_deg", "fl_n", "fl_e", "fl_ne", "lr_fl")
"""What a bandit plays unless it is told otherwise."""

STRONG_ARMS = ("scent", "best-first", "fl_n", "link-context")
"""What mab_discounted plays, the bandit of our own."""


STEERING = ("batch", "dry", "q", "zeta", "ties", "spread")
"""Parameters of every strategy that is greedy over an estimator."""


_NAMED = ("kind", "level", "policy", "clusters", "anchors")
"""Arguments that tell entries of the same class apart, so that nobody has to type them."""


_FACTS = ("seed", "budget", "threshold", "probability", "exact", "words", "stems", "ontology")
"""What a strategy gets from the crawl, if it asks for it."""


def estimator(text: str, **known: Any) -> Estimator:
    """Make an estimator by its name and parameters, or one of your own as `module:Class`.

    `known` are facts of the crawl that it gets if it asks for them: seed, budget, threshold, probability, targets,
    words, stems, ontology.

    >>> estimator("best-first,merge=sum")
    BestFirst(page=0.5, anchor=0.5, merge='sum')
    """
    name, settings = parse(text)
    guide: Estimator = _make(name, settings, known)
    return guide


def strategy(text: str, **known: Any) -> Strategy:
    """Make the strategy that a name and parameters stand for: greedy over an estimator, unless told otherwise.

    >>> strategy("fl_n,batch=32").name
    'fl_n,batch=32'
    """
    name, settings = parse(text)
    steering = {key: settings.pop(key) for key in STEERING if key in settings}
    guide = _make(name, settings, known)
    if hasattr(guide, "pick"):  # a bandit, which steers by itself
        if steering:
            raise InputError(f"{name} has no parameter {next(iter(steering))!r}: it chooses among its arms by itself")
        whole: Strategy = guide
        return whole
    shown = spell(name, {key: value for key, value in {**settings, **steering}.items() if key not in FILES})
    return build(steer, steering, name, estimator=guide, name=shown, seed=known.get("seed", 0))


def describe(name: str) -> dict[str, tuple[Any, Any]]:
    """The parameters of a strategy by name, each with its type and its default."""
    fixed = STRATEGIES[name].arguments
    if "policy" in fixed:  # a bandit: not every parameter says something to every policy
        from lycosa.estimators.bandit import settings

        kinds = STRATEGIES.parameters(name)
        return {key: (kinds[key][0], default) for key, default in settings(fixed["policy"]).items()}
    hidden = {*(key for key in _NAMED if key in fixed), *_FACTS} | ({"targets"} if name != "rules" else set())
    return STRATEGIES.parameters(name, hidden)


def _make(name: str, given: dict[str, str], known: dict[str, Any]) -> Any:
    fixed = STRATEGIES[name].arguments if name in STRATEGIES else {}
    for key in _NAMED:
        if key in given and key in fixed:
            raise InputError(f"{name} has no parameter {key!r}: the name says it already")
    made = STRATEGIES.make(name, given, **known)
    if name not in STRATEGIES:
        whole = ("learn", "frontier", "admit", "wants", "proportional")
        check_parts(made, whole if hasattr(made, "pick") else ("learn", "score"), name)
    return made
