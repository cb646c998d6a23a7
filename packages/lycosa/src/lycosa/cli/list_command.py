"""`lycosa list`: list judges, strategies and spaces, or describe one."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from rich.table import Column
from rich.text import Text

from lycosa.cli.commands import one_line
from lycosa.cli.parameters import REGISTRIES, Json
from lycosa.cli.printing import Part, listing, print_result
from lycosa.core.composite import steer
from lycosa.core.errors import InputError
from lycosa.core.options import DEFAULT_STRATEGY
from lycosa.core.spec import Registry, RegistryEntry, describe_type, parameters
from lycosa.judges import JUDGES
from lycosa.judges import describe as describe_topic
from lycosa.spaces import SPACES
from lycosa.spaces import describe as describe_space
from lycosa.strategies import BROWSING, GROUPS, STEERING, STRATEGIES, TAXONOMY, TRUTH
from lycosa.strategies import describe as describe_strategy

KINDS: dict[str, tuple[Registry[Any], str]] = {  # registry and title of the column of requirements
    "judges": (JUDGES, "needs"),
    "strategies": (STRATEGIES, "needs"),
    "spaces": (SPACES, "seed"),
}

# Example arguments for judges and strategies, by requirement.
_EXAMPLES = {
    "expression": "--regex 'corals?'",
    "training": "--model FILE --target CLASS",
    "browsing": "--strategy hmm,file=FILE",
    "": "--space graph,file=FILE,scores=FILE",
    TAXONOMY: "--model FILE --target CLASS",
    BROWSING: "",
}
_FILES = {TAXONOMY: ",file=FILE", TRUTH: ",scores=FILE", BROWSING: ",file=FILE"}

_TO_START = {
    "web": "'coral reefs' --seed URL",
    "social": "'coral reefs' --space social,server=URL --seed NAME",
    "search-form": "--space 'search-form,url=https://site.example/search?q={}' --seed water",
    "graph": "--space graph,file=links.tsv,scores=scores.tsv --seed NODE",
    "gossip": "'coral reefs' --space gossip,file=network.tsv,documents=documents.tsv --seed PEER",
    "acquaintance": "--space acquaintance,file=knows.tsv,traits=people.tsv,receiver=NAME --seed SENDER",
}


def _complete(typed: str) -> list[str]:
    kinds = [kind for kind in KINDS if kind.startswith(typed)]
    return kinds or [name for offered in REGISTRIES.values() for name in offered(typed)]


def list_(
    words: Annotated[
        list[str] | None, _complete, "NAME", "judges, strategies or spaces: only this list; another name: all about it."
    ] = None,
    *,
    json: Json = False,
) -> None:
    """List judges, strategies and spaces, or describe one."""
    kinds = [word for word in (words or [])[:1] if word in KINDS]
    names = (words or [])[len(kinds) :]
    if len(names) > 1:
        raise InputError("bad-value", f"{len(names)} names: give one, as in 'lycosa list {DEFAULT_STRATEGY}'")
    if not names:
        known = {kind: KINDS[kind][0].entries(_complain) for kind in kinds or KINDS}
        facts = {kind: [_facts(kind, name, entry) for name, entry in known[kind].items()] for kind in known}
        print_result(facts[kinds[0]] if kinds else facts, _lists(known), json=json)
        return
    wanted = names[0].partition(",")[0].strip()  # parameters after the name are ignored
    all_names = {kind: [*KINDS[kind][0], *KINDS[kind][0].added()] for kind in kinds or KINDS}
    found = next((kind for kind in all_names if wanted in all_names[kind]), None)
    if found is None:
        known_names = [*([] if kinds else KINDS), *(name for names in all_names.values() for name in names)]
        kind = _singular(kinds[0]) if kinds else "name"
        raise InputError("unknown-name", f"unknown {kind} {wanted!r}; available: {', '.join(known_names)}")
    # Raises with the reason if a plugin cannot be loaded.
    about = _about(inspect.getdoc(KINDS[found][0].maker(wanted)) or "")
    entry = KINDS[found][0].entries(lambda text: None)[wanted]
    groups = _parameters(found, wanted)
    taken = [
        {"name": key, "type": describe_type(kind), "default": None if default is inspect.Parameter.empty else default}
        for group in groups.values()
        for key, (kind, default) in group.items()
    ]
    facts_of_one = {**_facts(found, wanted, entry), "about": "\n\n".join(about), "parameters": taken}
    print_result(facts_of_one, _one(found, wanted, entry, about, groups), json=json)


def _complain(text: str) -> None:
    print(f"warning: {one_line(text)}", file=sys.stderr)


def _singular(kind: str) -> str:
    return {"strategies": "strategy"}.get(kind, kind[:-1])


def _facts(kind: str, name: str, entry: RegistryEntry) -> dict[str, Any]:
    return {"name": name, "summary": entry.summary, KINDS[kind][1]: entry.needs, "paper": entry.paper}


def _lists(known: Mapping[str, Mapping[str, RegistryEntry]]) -> Iterator[Part]:
    for kind, entries in known.items():
        registry, label = KINDS[kind]
        one = _singular(kind)
        groups = dict(GROUPS) if kind == "strategies" else {"": tuple(registry)}
        if len(entries) > len(registry):
            groups["From other packages"] = tuple(name for name in entries if name not in registry)
        for number, (title, names) in enumerate(groups.items()):
            if title:
                yield Text(title, "bold")
            first = Column(one, style="bold", no_wrap=True, min_width=max(map(len, entries)))
            columns = [first, Column("what it does", ratio=3), Column(label, ratio=1)]
            rows = [(name, _summary(name, entries[name]), entries[name].needs or "-") for name in names]
            yield listing(columns, rows, pad_edge=False, show_header=not number)
            yield ""
    example = f"{next(iter(known))} NAME" if len(known) == 1 else "NAME"
    yield Text(f"Details and parameters: lycosa list {example}", "dim")


def _summary(name: str, entry: RegistryEntry) -> Text:
    text = Text(entry.summary)
    text.append(" (default)" if name == DEFAULT_STRATEGY else "", "bold")
    return text.append(f" ({entry.paper})" if entry.paper else "", "dim")


def _parameters(kind: str, name: str) -> dict[str, Mapping[str, tuple[Any, Any]]]:
    if kind != "strategies":
        return {"parameter": (describe_topic if kind == "judges" else describe_space)(name)}
    groups: dict[str, Mapping[str, tuple[Any, Any]]] = {"parameter": describe_strategy(name)}
    if not hasattr(STRATEGIES.maker(name), "pick"):  # strategies with `pick` have their own steering parameters
        groups["of every strategy"] = {key: about for key, about in parameters(steer).items() if key in STEERING}
    return groups


def _example(kind: str, name: str, needs: str, takes: Mapping[str, tuple[Any, Any]]) -> str:
    if kind == "spaces":
        return f"for example: lycosa crawl {_TO_START.get(name, f'--space {name} --seed NODE')}"
    setting = _FILES.get(needs) or _setting(takes)
    needs_nothing = kind == "strategies" and not needs
    topic = "'coral reefs'" if needs_nothing or name not in KINDS[kind][0] else _EXAMPLES.get(needs, "'coral reefs'")
    words = [topic, f"--{_singular(kind)} {name}{setting}", "--seed URL"]
    return f"for example: lycosa crawl {' '.join(filter(None, words))}"


def _setting(takes: Mapping[str, tuple[Any, Any]]) -> str:
    """Return the first parameter with a simple default, in the form ",name=default"."""
    for key, (_, default) in takes.items():
        if key != "threshold" and isinstance(default, float | int | str) and default not in ("", True, False):
            return f",{key}={default:g}" if isinstance(default, float) else f",{key}={default}"
    return ""


def _one(
    kind: str, name: str, entry: RegistryEntry, about: list[str], groups: Mapping[str, Mapping[str, tuple[Any, Any]]]
) -> Iterator[Part]:
    yield Text.assemble((name, "bold"), f": {entry.summary}")
    yield {KINDS[kind][1]: entry.needs, "paper": entry.paper}
    for paragraph in about:
        yield ""
        yield listing([Column("")], [[paragraph]], show_header=False, padding=(0, 0, 0, 2))
    for title, group in groups.items():
        yield ""
        if not group:
            yield "no parameters"
            continue
        columns = [Column(title, style="bold", no_wrap=True), Column("is"), Column("default")]
        rows = ((key, describe_type(kind), _typed(default)) for key, (kind, default) in group.items())
        yield listing(columns, rows, padding=(0, 2, 0, 0), pad_edge=False)
    takes = groups["parameter"] or groups.get("of every strategy", {})
    yield from ("", Text(_example(kind, name, entry.needs, takes), "dim"))


def _typed(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return "required"
    if isinstance(default, bool):
        return "yes" if default else "no"
    if isinstance(default, tuple | list):
        return "+".join(map(str, default)) or "none"
    return f"{default:g}" if isinstance(default, float) else str(default) if default not in (None, "") else "none"


def _about(doc: str) -> list[str]:
    """Return a docstring's paragraphs without examples; lines are joined, except in lists."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", doc):
        if block.lstrip().startswith(">>>") or not block.strip():
            continue
        lines: list[str] = []
        for line in block.split("\n"):
            item = re.match(r"[a-z_]+: |[-*] ", line) and lines and lines[-1].endswith((".", ":", ";"))
            if lines and not line.startswith(" ") and not item:
                lines[-1] += f" {line.strip()}"
            else:
                lines.append(line.rstrip())
        paragraphs.append("\n".join(lines))
    return paragraphs
