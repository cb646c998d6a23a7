"""The crawls: five settings (what is told, where crawls start), all strategies in each, and shares of the oracle's."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import ceil

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.telling import Tell, silent
from lycosa.lab.certainty import Difference, Interval, interval, paired
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT, Mode
from lycosa.lab.hunters import AHEAD, ORACLE
from lycosa.lab.index import Index
from lycosa.lab.measures import Floats, found, global_score
from lycosa.lab.papers import Bench
from lycosa.lab.papers.weighing import complete
from lycosa.lab.results import Outcome, Results
from lycosa.lab.subjects import Subject, chance, subjects_from_query, subjects_of
from lycosa.text.tokens import stems
from lycosa.training.record import NO

SCENT = "scent"
PUBLISHED = (
    "breadth-first", "best-first", "best-first-page", "best-first-anchor", "link-context", "shark-search",
    "fish-search", "fl_n", "fl_e", "fl_ne", "sl_n", "lr_fl", "mab_var", "mab_first", "otie", "opic-alpha",
    "link-score", "nb-links", "soft-focus",
)  # fmt: skip
QUICK = ("breadth-first", "best-first", "link-context")

# Seeds of a topic; of a keyword, as in Gouriten et al., or a tenth of its pages.
SEEDS, KEYWORD_SEEDS = 5, 50

EXAMPLES = 20
JUDGE = "vector,idf=none"  # ranks pages best of the judges that do not learn (benchmarks/judges.py)

TRIALS = 24  # topics times seed sets, at least: fewer than eight topics get more seed sets


@dataclass(frozen=True)
class Setting:
    """What the guide is told, and where crawls start."""

    key: str
    title: str
    told: str
    seeds: str

    @property
    def mode(self) -> Mode:
        """Keywords are judged by the guide, as Gouriten et al. have it; all else by labels."""
        return AS_PUBLISHED if self.key == "keyword" else INDEPENDENT


KEYWORD = Setting("keyword", "keyword", "words", "random")
QUERY_ON = Setting("query-on", "query, on-topic seeds", "words", "on-topic")
QUERY_OFF = Setting("query-off", "query, off-topic seeds", "words", "off-topic")
EXAMPLES_ON = Setting("examples-on", f"{EXAMPLES} examples, on-topic seeds", "examples", "on-topic")
EXAMPLES_OFF = Setting("examples-off", f"{EXAMPLES} examples, off-topic seeds", "examples", "off-topic")
SETTINGS = (KEYWORD, QUERY_ON, QUERY_OFF, EXAMPLES_ON, EXAMPLES_OFF)

ABLATED = (replace(QUERY_ON, key="ablation-on"), replace(QUERY_OFF, key="ablation-off"))
ABLATION_SETS = 1  # seed sets of each topic


@dataclass(frozen=True)
class Size:
    """How much is run."""

    topics: int = 8
    sets: int = 5
    budgets: tuple[int, ...] = (100, 500, 1000)
    published: tuple[str, ...] = PUBLISHED
    terms: int = 0  # terms of scent left out one by one; 0: all

    def sets_for(self, hunted: int) -> int:
        """Seed sets of each of so many topics."""
        return self.sets if self.sets < 5 else max(self.sets, ceil(TRIALS / max(1, hunted)))


@dataclass
class ScentCrawls:
    """All crawls of a setting, in the trials (topics and seed sets) that every strategy has a crawl of."""

    setting: Setting
    results: Results

    @cached_property
    def outcomes(self) -> dict[str, list[Outcome]]:
        """By strategy, those of the same trials in the same order."""
        for needed in (ORACLE, SCENT):
            if needed not in self.results.strategies:
                raise InputError(f"{self.setting.title}: {needed} has no crawl. {' '.join(self.results.remarks)}")
        return complete(self.results, [ORACLE, *self.results.strategies])

    @cached_property
    def published(self) -> list[str]:
        """Those to compare with."""
        yardsticks = (ORACLE, AHEAD)
        return [name for name in self.results.strategies if name not in yardsticks and not name.startswith(SCENT)]

    @cached_property
    def groups(self) -> list[str]:
        return [one.subject for one in self.outcomes[ORACLE]]

    @property
    def topics(self) -> list[str]:
        return list(dict.fromkeys(self.groups))

    @property
    def budgets(self) -> list[int]:
        return self.results.experiment.budgets

    @cached_property
    def curves(self) -> dict[str, Floats]:
        """Of each strategy what it had found after 0, 1, 2 ... pages: a line for each trial."""
        steps = np.arange(self.results.experiment.budget + 1)
        return {
            name: np.array([found(self.results.gains(one), steps) for one in crawls])
            for name, crawls in self.outcomes.items()
        }

    @cached_property
    def bounds(self) -> Floats:
        """What no crawl can exceed: a line for each trial, a column for each budget."""
        return np.array([self.results.bounds(one) for one in self.outcomes[ORACLE]])

    def share(self, strategy: str, budget: int) -> Floats:
        """Of each trial what the strategy found, over what the oracle found; nan where that is nothing."""
        return _over(self.curves[strategy][:, budget], self.curves[ORACLE][:, budget])

    def of_ahead(self, strategy: str, budget: int) -> float:
        """What the strategy found over what the oracle that looks ahead did, mean over topics; nan without one."""
        if AHEAD not in self.curves:
            return math.nan
        shares = _over(self.curves[strategy][:, budget], self.curves[AHEAD][:, budget])
        return interval(shares, draws=1, groups=self.groups).mean

    def of_bound(self, strategy: str, budget: int) -> float:
        """What the strategy found over what is reachable, mean over topics."""
        most = self.bounds[:, self.budgets.index(budget)]
        return interval(_over(self.curves[strategy][:, budget], most), draws=1, groups=self.groups).mean

    def interval(self, strategy: str, budget: int) -> Interval:
        """The mean share over topics and seed sets, and how sure it is."""
        return interval(self.share(strategy, budget), groups=self.groups)

    def mean(self, strategy: str, budget: int) -> float:
        """The mean share alone."""
        return interval(self.share(strategy, budget), draws=1, groups=self.groups).mean

    def geometric(self, strategy: str, budget: int) -> float:
        """As Gouriten et al. have it: what a topic's crawls found over what the oracle's did, geometric mean of all."""
        of = np.array(self.groups)
        ours, best = ([self.curves[name][of == topic, budget] for topic in self.topics] for name in (strategy, ORACLE))
        return global_score(ours, best)

    def by_topic(self, strategy: str, budget: int) -> dict[str, float]:
        of, share = np.array(self.groups), self.share(strategy, budget)
        return {topic: interval(share[of == topic], draws=1).mean for topic in self.topics}

    def best(self, budget: int) -> str:
        """The published strategy with the highest mean share here, which nobody could have known before."""
        return max(self.published, key=lambda name: self.mean(name, budget))

    def ahead(self, one: str, other: str, budget: int) -> Difference:
        """How much larger the one's share is than the other's, on the same topics and seeds."""
        return paired(self.share(one, budget), self.share(other, budget), groups=self.groups)


def crawl(bench: Bench, setting: Setting, hunted: Hunted, size: Size, without: Sequence[str] = ()) -> ScentCrawls:
    """Run a setting; crawls that are there already are kept. `without` are texts of scent with terms left out."""
    told, by_keyword = setting.told, setting == KEYWORD
    if by_keyword:
        subjects = [subjects_from_query(bench.index, word) for word in hunted.keywords]
    else:
        subjects = subjects_told(bench.index, hunted.topics, told, bench.random_seed)
    plan = bench.plan(
        f"scent, {setting.title}", [ORACLE, SCENT, *size.published, *without], told=told,
        judge="keyword" if by_keyword else JUDGE, mode=setting.mode, seeds=setting.seeds,
        examples=EXAMPLES if told == "examples" else 10,
        seed_count=max(1, min(KEYWORD_SEEDS, min(hunted.keywords.values()) // 10)) if by_keyword else SEEDS,
        seed_sets=size.sets_for(len(subjects)), budgets=list(size.budgets),
    )  # fmt: skip
    place = setting.key if by_keyword else told  # settings that share guides share a directory
    made = ScentCrawls(setting, bench.run(plan, place, subjects=subjects, part=setting.key, title=setting.title))
    if not made.groups:
        raise InputError(f"{setting.title}: no trial that all strategies have run. {' '.join(made.results.remarks)}")
    return made


def subjects_told(index: Index, topics: Sequence[str], told: str, random_seed: int = 0) -> list[Subject]:
    """Topics to hunt by words or examples. Who is told examples is told no words: a topic's name would be a query."""
    if told == "words":
        return subjects_of(index, topics, random_seed=random_seed)
    subjects = subjects_of(index, topics, random_seed=random_seed, examples=EXAMPLES)
    return [replace(subject, words="") for subject in subjects]


def _over(ours: Floats, theirs: Floats) -> Floats:
    share: Floats = np.divide(ours, theirs, out=np.full(len(ours), np.nan), where=theirs > 0)
    return share


# -- what is hunted ----------------------------------------------------------------------------------------

# What is hunted: topics and keywords, by rule and chance, in two halves: one to develop on, one to report.

DEVELOPMENT, REPORT = "development", "report"

# Pages of a topic.
LEAST, MOST = 30, 600
LARGEST = 1 / 3  # of the corpus: a larger class is what is left over, no topic

# Share of the pages that have a keyword.
RARE, COMMON = 0.05, 0.2

OFTEN = 3.0  # mean occurrences on the pages with the keyword: words that stand on a page once say little of its links

_WORD = re.compile(r"\b[^\W\d_]{4,}\b")


@dataclass
class Hunted:
    """Topics by name, keywords with the number of pages that have them, and what is to be said of the choice."""

    half: str
    topics: list[str]
    keywords: dict[str, int]
    remarks: list[str] = field(default_factory=list)


def half_of(name: str) -> str:
    """On which side a topic or keyword is, whatever the corpus: by the last bit of its checksum.

    >>> half_of("student"), half_of("staff")
    ('report', 'development')
    """
    return REPORT if zlib.crc32(name.encode()) % 2 else DEVELOPMENT


def choose(index: Index, half: str, count: int, random_seed: int = 0, tell: Tell = silent) -> Hunted:
    """`count` topics and as many keywords of a half."""
    made = Hunted(half, [], {})
    made.topics = topics(index, half, count, random_seed, made.remarks)
    made.keywords = keywords(index, half, count, random_seed, tell)
    if len(made.keywords) < count:
        made.remarks.append(f"{len(made.keywords)} keywords only, {count} were wanted: the corpus has no more.")
    if not made.keywords:
        raise InputError(f"no word is on {RARE:.0%} to {COMMON:.0%} of the pages: the corpus is too small, or no text")
    made.remarks.append(
        f"The {half} half: topics and keywords whose CRC-32 is {'odd' if half == REPORT else 'even'}. Topics: "
        f"{', '.join(made.topics)}. Keywords: {', '.join(made.keywords)}: words on {RARE:.0%} to {COMMON:.0%} of the "
        f"pages, there {OFTEN:g} times or more in the mean. Topics of the two halves may have pages in common, where "
        "pages are of several classes, or one is a branch of the other."
    )
    return made


def topics(index: Index, half: str, count: int, random_seed: int, remarks: list[str]) -> list[str]:
    """Topics of a fitting size by chance, none within another; where they are too few, the larger ones as well."""
    sizes = {name: size for name, size in index.sizes().items() if name.casefold() not in NO and half_of(name) == half}
    fitting = [name for name, size in sizes.items() if LEAST <= size <= MOST]
    order = chance(random_seed, "scent", "topics").permutation(len(fitting)).tolist()
    chosen: list[str] = []
    for name in (fitting[place] for place in order):
        if len(chosen) < count and not any(within(name, other) or within(other, name) for other in chosen):
            chosen.append(name)
    if len(chosen) < count:
        larger = sorted((size, name) for name, size in sizes.items() if MOST < size <= LARGEST * len(index))
        more = [name for _, name in larger if not any(within(other, name) for other in chosen)][: count - len(chosen)]
        chosen += more
        remarks.append(
            f"The {half} half has {len(chosen)} topics"
            + (f", {len(more)} of them with more than {MOST} pages" if more else "")
            + f"; {count} of {LEAST} to {MOST} pages were wanted. Intervals over so few topics are too narrow."
        )
    if not chosen:
        raise InputError(f"no class of the {half} half has {LEAST} pages or more: take a corpus with more classes")
    return sorted(chosen)


def keywords(index: Index, half: str, count: int, random_seed: int, tell: Tell = silent) -> dict[str, int]:
    """Words that are on 5 % to 20 % of the pages, as written (so counts the keyword judge), by chance.

    Stop words, digits and words of fewer than four letters are none, nor are those that are there less than OFTEN.
    """
    if not index.has_text:
        raise InputError("the corpus has no text: scent is measured on pages with words")
    pages: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for node in range(len(index)):
        page = index.page(node)
        words = _WORD.findall(f"{page.title} {page.text}".casefold())
        pages.update(set(words))
        times.update(words)
        tell("counting words", node + 1, len(index))
    fitting = sorted(
        word
        for word, many in pages.items()
        if RARE * len(index) <= many <= COMMON * len(index) and times[word] >= OFTEN * many and half_of(word) == half
    )
    order = chance(random_seed, "scent", "keywords").permutation(len(fitting)).tolist()
    chosen = [word for word in (fitting[place] for place in order) if stems(word)][:count]
    return {word: pages[word] for word in sorted(chosen)}


def within(name: str, other: str) -> bool:
    """Whether a class is another one, or below it."""
    return name == other or name.startswith(f"{other}/")
