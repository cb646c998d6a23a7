"""Experiment settings: strategies x subjects x seed sets x repetitions, measured at several budgets.

This module must stay cheap to import: `lycosa lab run` derives its options from it.
"""

from __future__ import annotations

import difflib
import shlex
import tomllib
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lycosa.core.errors import InputError
from lycosa.core.options import toml_of

if TYPE_CHECKING:
    from lycosa_lab.corpus_index import CorpusIndex

AS_PUBLISHED: Final = "as-published"
INDEPENDENT: Final = "independent"
# ground truth of the harvest: labels, or the guiding judge itself as in some papers
Mode = Literal["independent", "as-published"]

EXAMPLES = 10  # default number of example pages; at most a quarter of the relevant pages

# descriptions of a topic for the judge
DESCRIPTIONS = {
    "words": "a query of a few words",
    "examples": "a few example pages",
    "model": "a classifier, trained on other pages",
    "score": "the scores that a graph has",
}

# kinds of seed pages
SEEDS = {
    "on-topic": "relevant pages",
    "off-topic": "pages that are `hops` links or more from every relevant one",
    "cold": "pages exactly two links from the nearest relevant one",
    "random": "any nodes with a score, as in Gouriten et al.",
}

MODES = {INDEPENDENT: "labels, which crawlers do not see", AS_PUBLISHED: "the crawler's own judge, as in some papers"}

Expected = Literal["better", "not better", "alike"]
_EXPECTED: dict[str, Expected] = {" not better than ": "not better", " better than ": "better", " like ": "alike"}


def setting(
    help: str,
    default: Any = MISSING,
    *,
    flag: str = "",
    metavar: str = "N",
    minimum: int | None = None,
    maximum: int | None = None,
    choices: Mapping[str, str] | None = None,
) -> Any:
    """Return a dataclass field with its help text; fields with a `flag` become options of `lycosa lab run`."""
    if choices:
        help += ": " + "; ".join(f"{key} ({description})" for key, description in choices.items()) + "."
    metadata = {"help": help, "flag": flag, "metavar": metavar, "least": minimum, "most": maximum, "choices": choices}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass
class Experiment:
    """Settings of an experiment.

    >>> plan = Experiment("mine", "my.index", ["best-first", "breadth-first"], subjects=["Science"], budgets=[300, 100])
    >>> plan.check()
    >>> plan.budgets, plan.description, len(plan.as_dict())
    ([100, 300], 'words', 20)
    """

    name: str = setting("Name of the experiment and its report.")
    corpus: str = setting("An index of 'lycosa lab index'.", flag="--corpus", metavar="DIR")
    strategies: list[str] = setting(
        "Strategies to compare: a name of 'lycosa list strategies', with parameters; your own, module:Class; or an "
        "external program, program,command=COMMAND. 'oracle' knows everything.",
        flag="--strategy",
        metavar="NAME",
    )
    subjects: list[str] = setting(
        "Classes or branches of the corpus to crawl for. Default: random ones.", [], flag="--topic", metavar="CLASS"
    )
    subject_count: int = setting("Number of random classes, if none is named.", 5, flag="--topics", minimum=1)
    least: int = setting("Minimum pages of a random class.", 20, minimum=1)
    most: int = setting("Maximum pages of a random class; 0: a fifth of the corpus.", 0, minimum=0)
    description: str = setting(
        "Description of the topic for the judge; score by default on a graph",
        "words",
        flag="--description",
        metavar="KIND",
        choices=DESCRIPTIONS,
    )
    examples: int = setting(
        "Example pages of a class, also the source of its words; at most a quarter of the class.", EXAMPLES, minimum=1
    )
    judge: str = setting(
        "Judge of pages, a name of 'lycosa list judges'. Default: depends on the description.",
        "",
        flag="--judge",
        metavar="NAME",
    )
    mode: str = setting("Judge of the fetched pages", INDEPENDENT, flag="--mode", metavar="MODE", choices=MODES)
    seeds: str = setting("Seeds of crawls", "on-topic", flag="--seeds", metavar="KIND", choices=SEEDS)
    seed_count: int = setting("Number of seeds.", 5, flag="--seed-count", minimum=1)
    seed_sets: int = setting(
        "Sets of seeds: each strategy crawls from each of them.", 3, flag="--seed-sets", minimum=1, maximum=10_000
    )
    disjoint: bool = setting("Draw disjoint sets of seeds.", False)
    hops: int = setting(
        "Minimum links between off-topic seeds and the nearest relevant page.", 2, flag="--hops", minimum=1
    )
    budgets: list[int] = setting(
        "Pages after the seeds at which results are measured; the largest is crawled.",
        [100, 300, 1000],
        flag="--budget",
        maximum=20_000_000,
    )
    repetitions: int = setting(
        "Crawls from the same seeds, each with another random seed (random_seed, random_seed + 1 ...).",
        1,
        flag="--repetitions",
        minimum=1,
        maximum=10_000,
    )
    claims: list[str] = setting(
        "Claims about two strategies: 'A better than B', 'A not better than B' or 'A like B'.",
        [],
        flag="--claim",
        metavar="CLAIM",
    )
    random_seed: int = setting("Random seed of subjects, seeds and strategies.", 0, flag="--random-seed", minimum=0)

    def __post_init__(self) -> None:
        self.strategies, self.subjects = list(self.strategies), list(self.subjects)
        self.budgets = sorted(set(self.budgets))

    @property
    def budget(self) -> int:
        """The largest budget; results at the others are read from the same crawl."""
        return self.budgets[-1]

    @property
    def claimed(self) -> dict[str, tuple[str, str, Expected]]:
        """Return both strategies and the expected result of each claim in `claims`, by its text."""
        claims: dict[str, tuple[str, str, Expected]] = {}
        for text in self.claims:
            for words, expect in _EXPECTED.items():
                one, separator, other = text.partition(words)
                if separator and one in self.strategies and other in self.strategies:
                    claims[text] = one, other, expect
                    break
            else:
                raise InputError("bad-value", f"claim {text!r} is not 'A better than B' of two strategies")
        return claims

    def check(self) -> None:
        """Raise InputError for invalid settings; those that depend on the corpus are checked when it runs."""
        if not self.budgets or self.budgets[0] < 1:
            raise InputError("out-of-range", f"'budgets' ({self.budgets}) must have one or more values from 1 on")
        for item in fields(self):
            value, about = getattr(self, item.name), item.metadata
            value = value[-1] if item.name == "budgets" else value
            if about["choices"]:
                one_of(item.name, value, about["choices"])
            if about["least"] is not None and value < about["least"]:
                raise InputError("out-of-range", f"'{item.name}' ({value}) must be at least {about['least']}")
            if about["most"] is not None and value > about["most"]:
                raise InputError("out-of-range", f"'{item.name}' ({value:,}) must be at most {about['most']:,}")
        self._check_names()
        _ = self.claimed

    def _check_names(self) -> None:
        for description, named in (("strategies", self.strategies), ("subjects", self.subjects)):
            if twice := sorted({one for one in named if named.count(one) > 1}):
                raise InputError("duplicate", f"{description} contains {twice[0]!r} twice")
            if any(not one.strip() for one in named):
                raise InputError("bad-value", f"{description} contains an empty name: remove it")
        if not self.strategies:
            raise InputError(
                "missing-option", "no strategy given: choose one of 'lycosa list strategies' with --strategy"
            )
        from lycosa_lab.trial_strategies import check

        for text in self.strategies:
            check(text, self.budget)

    def open(self) -> CorpusIndex:
        from lycosa_lab.corpus_index import FACTS, CorpusIndex

        path, command = Path(self.corpus), "lycosa lab index"
        if not self.corpus:
            raise InputError("missing-option", f"no corpus given: create one with '{command} SOURCE --out my.index'")
        if not (path / FACTS).is_file():
            source, out = "SOURCE", shlex.quote(self.corpus)
            if path.exists():
                source, out = out, shlex.quote(f"{path.resolve().name.split('.')[0] or 'my'}.index")
            raise InputError("not-an-index", f"{self.corpus} is not an index: {command} {source} --out {out}")
        return CorpusIndex.open(path)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def as_toml(self) -> str:
        """Return the complete settings as a commented file that `load` reads."""
        lines = ["# An experiment for 'lycosa lab run': all settings, including defaults."]
        for item in fields(self):
            lines += ["", f"# {item.metadata['help']}", f"{item.name} = {toml_of(getattr(self, item.name))}"]
        return "\n".join(lines) + "\n"

    @classmethod
    def load(cls, path: str | Path) -> Experiment:
        """Read an experiment file; a relative corpus path is first resolved against its directory."""
        path = Path(path)
        try:
            given = {"name": path.stem, **tomllib.loads(path.read_bytes().decode("utf-8"))}
        except OSError as error:
            raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise InputError("bad-file", f"{path} is not valid TOML: {error}") from error
        kinds = typing.get_type_hints(cls)
        for key in given:
            one_of(f"{path}: a key", key, kinds)
        for item in fields(cls):
            if item.name not in given and item.default is MISSING and item.default_factory is MISSING:
                raise InputError("missing-option", f"{path}: {item.name} is missing. {item.metadata['help']}")
        experiment = cls(**{key: _typed(value, kinds[key], f"{path}: {key}") for key, value in given.items()})
        candidate = path.parent / experiment.corpus
        if experiment.corpus and not Path(experiment.corpus).is_absolute() and candidate.exists():
            experiment.corpus = str(candidate)
        return experiment


_KINDS = {str: "a text", int: "a whole number", bool: "true or false"}


def _typed(value: Any, kind: Any, where: str) -> Any:
    """Return a value from a file if it has the right type; a single value is accepted as a list of one."""
    if typing.get_origin(kind) is list:
        (inner,) = typing.get_args(kind)
        return [_typed(item, inner, where) for item in (value if isinstance(value, list) else [value])]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError("bad-value", f"{where} is {value!r}: it must be {_KINDS[kind]}")
    return value


def one_of(key: str, value: str, known: Iterable[str]) -> None:
    """Raise InputError unless the value is known."""
    known = list(known)
    if value not in known:
        near = difflib.get_close_matches(value, known, 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError("unknown-name", f"{key} is {value!r}: {hint}choose one of {', '.join(known)}")
