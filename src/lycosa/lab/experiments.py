"""An experiment as a file or an object: strategies x subjects x seed sets x repetitions, and up to which budget."""

from __future__ import annotations

import difflib
import shlex
import tomllib
import typing
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.options import toml_of
from lycosa.core.spec import parse
from lycosa.estimators import STRATEGIES, strategy
from lycosa.lab.findings import AS_PUBLISHED, INDEPENDENT
from lycosa.lab.index import FACTS, Index
from lycosa.lab.subjects import EXAMPLES

TOLD = {
    "words": "a query of a few words",
    "examples": "a few example pages",
    "model": "a classifier, trained on other pages",
    "score": "the scores that a graph has",
    "truth": "the labels themselves; as-published only",
}
"""What a guide may be told of what is hunted."""

SEEDS = {
    "on-topic": "relevant pages",
    "off-topic": "pages that are `hops` links or more from every relevant one",
    "directory": "the pages with the most links",
    "random": "any nodes with a score, as in Gouriten et al.",
    "given": "the seeds that the corpus names",
}
"""Where crawls start."""

MODES = {
    INDEPENDENT: "what is fetched is judged by labels or a model that the guide knows nothing of",
    AS_PUBLISHED: "the guide judges what it has fetched itself, as some papers have it",
}

LARGEST = {"budgets": 20_000_000, "seed_sets": 10_000, "repetitions": 10_000}
"""What is refused above: the numbers of a curve, and the list of all trials, are held in memory."""

_MEANT = {"topics": "subjects", "topic": "subjects", "classes": "subjects", "index": "corpus", "judges": "judge"}
"""What people may write for a key whose name is not near."""

EXPLAINED = {
    "name": "What the experiment is called; its report, too.",
    "corpus": "An index that 'lycosa lab index' made.",
    "strategies": "What is compared: names of 'lycosa strategies', with parameters; or your own as module:Class.",
    "subjects": "Classes or branches of the corpus to hunt; none: as many as subject_count, by chance.",
    "subject_count": "Classes to choose by chance, where none is named.",
    "least": "Pages that a class has at least to be chosen.",
    "most": "Pages that a class has at most to be chosen; 0: a fifth of the corpus.",
    "told": "What a guide is told: " + "; ".join(f"{key} ({what})" for key, what in TOLD.items()) + ".",
    "examples": "Pages of a class to point at: told, or words that stand out in them; at most a quarter of the class.",
    "judge": "How a guide judges pages, a name of 'lycosa topics'; empty: what suits what it is told.",
    "mode": "; ".join(f"{key}: {what}" for key, what in MODES.items()) + ".",
    "seeds": "Where crawls start: " + "; ".join(f"{key} ({what})" for key, what in SEEDS.items()) + ".",
    "seed_count": "Pages that a crawl starts from.",
    "seed_sets": "Sets of seeds: each strategy crawls from each of them.",
    "hops": "Links between off-topic seeds and the nearest relevant page, at least.",
    "budgets": "Pages after the seeds at which is measured; the largest is crawled.",
    "repetitions": "Crawls from the same seeds, each with another random seed (random_seed, random_seed + 1 ...).",
    "random_seed": "Another number: other subjects, seeds and chances.",
}
"""What each setting means, for the file."""


@dataclass
class Experiment:
    """What is to be compared, on what, from where, up to which budgets.

    >>> plan = Experiment("mine", "my.index", ["best-first", "breadth-first"], subjects=["Science"], budgets=[300, 100])
    >>> plan.check()
    >>> plan.budgets, plan.told, len(plan.as_dict())
    ([100, 300], 'words', 18)
    """

    name: str
    corpus: str
    strategies: list[str]
    subjects: list[str] = field(default_factory=list)
    subject_count: int = 5
    least: int = 20
    most: int = 0
    told: str = "words"
    examples: int = EXAMPLES
    judge: str = ""
    mode: str = INDEPENDENT
    seeds: str = "on-topic"
    seed_count: int = 5
    seed_sets: int = 3
    hops: int = 2
    budgets: list[int] = field(default_factory=lambda: [100, 300, 1000])
    repetitions: int = 1
    random_seed: int = 0

    def __post_init__(self) -> None:
        self.strategies, self.subjects = list(self.strategies), list(self.subjects)
        self.budgets = sorted(set(self.budgets))

    @property
    def budget(self) -> int:
        """The largest: all others are read off the same crawl."""
        return self.budgets[-1]

    def check(self) -> None:
        """Refuse what can't work, each with its remedy. What the corpus has to do with it is seen when it is run."""
        _one_of("told", self.told, TOLD)
        _one_of("seeds", self.seeds, SEEDS)
        _one_of("mode", self.mode, MODES)
        least = {
            "subject_count": 1,
            "least": 1,
            "most": 0,
            "examples": 1,
            "seed_count": 1,
            "seed_sets": 1,
            "hops": 1,
            "repetitions": 1,
            "random_seed": 0,
        }
        for key, low in least.items():
            value = getattr(self, key)
            if value < low:
                raise InputError(f"{key} is {value}: it has to be {low} or more")
        if not self.budgets or self.budgets[0] < 1:
            raise InputError(f"budgets are {self.budgets}: name one at least, each 1 page or more")
        for key, high in LARGEST.items():
            value = self.budget if key == "budgets" else getattr(self, key)
            if value > high:
                raise InputError(f"{key} is {value:,}: it has to be {high:,} or less")
        for what, named in (("strategies", self.strategies), ("subjects", self.subjects)):
            if twice := sorted({one for one in named if named.count(one) > 1}):
                raise InputError(f"{what} has {twice[0]!r} twice")
            if any(not one.strip() for one in named):
                raise InputError(f"{what} has an empty name in it: leave it out")
        if not self.strategies:
            raise InputError(
                "no strategy to compare: name some, for example --strategy best-first --strategy breadth-first "
                "('lycosa strategies' lists all)"
            )
        if self.told == "truth" and self.mode != AS_PUBLISHED:
            raise InputError(
                "a guide that is told the truth judges itself: set mode to 'as-published', or told to something else"
            )
        for text in self.strategies:
            _check_strategy(text, self.budget)

    def open(self) -> Index:
        """The corpus."""
        path, command = Path(self.corpus), "lycosa lab index"
        if not self.corpus:
            raise InputError(f"no corpus is named: make one with '{command} SOURCE --out my.index', and name that")
        if not path.exists():
            out = shlex.quote(self.corpus)
            raise InputError(f"there is no corpus {self.corpus}. Make one with: {command} SOURCE --out {out}")
        if not (path / FACTS).is_file():
            source, out = shlex.quote(self.corpus), f"{path.resolve().name.split('.')[0] or 'my'}.index"
            raise InputError(
                f"{self.corpus} is no index yet. Make one with: {command} {source} --out {shlex.quote(out)}; then "
                f"{out} is the corpus"
            )
        return Index.open(path)

    def as_dict(self) -> dict[str, Any]:
        """Every setting, defaults too."""
        return asdict(self)

    def as_toml(self) -> str:
        """A file that `load` reads, complete and with what each setting means."""
        lines = ["# An experiment for 'lycosa lab run': all its settings, those too that nobody set."]
        for item in fields(self):
            lines += ["", f"# {EXPLAINED[item.name]}", f"{item.name} = {toml_of(getattr(self, item.name))}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Experiment:
        """Read a file. A corpus with a relative name is looked for beside the file first."""
        path = Path(path)
        try:
            given = tomllib.loads(path.read_bytes().decode("utf-8"))
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(f"{path} is not valid TOML: {error}") from error
        given.setdefault("name", path.stem)
        made = cls.from_mapping(given, str(path))
        beside = path.parent / made.corpus
        if made.corpus and not Path(made.corpus).is_absolute() and beside.exists():
            made.corpus = str(beside)
        return made

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any], source: str) -> Experiment:
        """An experiment from settings by name; a wrong name or type is an error that says what would be right."""
        kinds = typing.get_type_hints(cls)
        known = [item.name for item in fields(cls)]
        right = {}
        for key, value in given.items():
            if key not in kinds:
                near = difflib.get_close_matches(key, known, 3, 0.5)
                near = [_MEANT[key]] if key in _MEANT else near
                hint = f"do you mean {' or '.join(near)}?" if near else f"there are {', '.join(known)}"
                raise InputError(f"{source}: unknown key {key!r}: {hint}")
            right[key] = typed(value, kinds[key], f"{source}: {key}")
        for key in ("name", "corpus", "strategies"):
            if key not in right:
                raise InputError(f"{source}: {key} is missing. {EXPLAINED[key]}")
        return cls(**right)


def _one_of(key: str, value: str, known: Mapping[str, str]) -> None:
    if value not in known:
        near = difflib.get_close_matches(value, known, 1, 0.5)
        hint = f"do you mean {near[0]}? " if near else ""
        raise InputError(f"{key} is {value!r}: {hint}there are {', '.join(known)}")


def _check_strategy(text: str, budget: int) -> None:
    """Whether there is such a strategy and it takes these parameters; what it is trained with comes later."""
    name, given = parse(text)
    STRATEGIES.maker(name)
    if not given:
        return
    facts = {"seed": 0, "budget": budget, "threshold": 0.5, "words": "topic"}
    try:
        strategy(text, **facts)
    except InputError:
        try:
            strategy(name, **facts)
        except InputError:
            return  # it lacks something that is made when the experiment runs, whatever its parameters
        raise


def typed(value: Any, kind: Any, where: str) -> Any:
    """A value of a file if it is of the kind it should be; one value is a list of one."""
    if typing.get_origin(kind) is list:
        (inner,) = typing.get_args(kind)
        return [typed(item, inner, where) for item in (value if isinstance(value, list) else [value])]
    if not isinstance(value, kind) or isinstance(value, bool):
        named = {str: "a text", int: "a whole number"}[kind]
        raise InputError(f"{where} is {value!r}: it has to be {named}")
    return value
