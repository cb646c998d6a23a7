"""Parameters shared by several commands, and parsing of times."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from lycosa.cli.commands import Group, Variable, optional
from lycosa.core.durations import parse_duration
from lycosa.core.errors import InputError
from lycosa.core.plugins import named

if TYPE_CHECKING:
    from lycosa.core.options import Options

Quiet = Annotated[bool, "-q", "Print errors only."]
Json = Annotated[bool, "--json", "Machine-readable output."]
Dir = Annotated[Path, "DIR", "The crawl's directory."]
WholeText = Annotated[bool, "--whole-text", "Use the whole page, including menus, footers and comments."]
Threshold = Annotated[
    float | None, "--threshold", "Minimum relevance of relevant pages. Default: the crawl's threshold."
]
Limit = Annotated[int, "-n", "Maximum number of lines; 0 for all."]
MaxTime = Annotated[float | None, "--max-time", "Maximum duration of this run in seconds."]
Port = Annotated[int, "--port", "Port on 127.0.0.1; 0 takes a free one."]
Cluster = Annotated[
    str | None,
    "--cluster",
    "WHERE",
    "Run on Ray: local:4 (four shards on this machine), auto, or the address of a cluster.",
]
Delay = Annotated[float, "--delay", "Seconds to wait after each response before the next request to the same host."]
AllowNetwork = Annotated[
    list[str] | None, "--allow-network", "CIDR", "A private network that requests may go to; repeatable."
]
Workers = Annotated[int, "--workers", "N", "Number of processes; 0 for one per core."]
Contact = Annotated[str, "--contact", "A URL or email address for site owners to contact you."]
Column = Annotated[str, "--column", "NAME", "The table's column with classes, by title or number. Default: the second."]
Pages = Annotated[
    Path | None,
    "--pages",
    "PLACE",
    "Where to read pages from: a WARC file, a directory of them, or a crawl. Default: the web.",
]
Language = Annotated[str, "--language", "CODE", "The language of pages that do not declare one (en, de, ...)."]

_NETWORK: dict[str, tuple[Any, Any]] = {
    "delay": (Delay, 1),
    "allow_network": (AllowNetwork, None),
    "proxy": (Annotated[str, "URL", "Send every request through this HTTP proxy."], ""),
    "proxy_ca": (Annotated[str, "FILE", "Trust the certificate authorities in this file."], ""),
    "contact": (Contact, ""),
}


def network_parameters(*names: str) -> list[inspect.Parameter]:
    """Return options for commands that fetch pages without being a crawl; all of them, or those with these names."""
    group = Group("Fetching, without --pages")
    return [optional(name, Annotated[_NETWORK[name][0], group], _NETWORK[name][1]) for name in names or _NETWORK]


def network_options(**given: Any) -> Options:
    from lycosa.core.options import Options

    options = Options(**{name: value for name, value in given.items() if value is not None}, traps=False)
    options.check()
    return options


BUILT_IN = {
    "judges": ("judges", "JUDGES"),
    "strategies": ("strategies", "STRATEGIES"),
    "spaces": ("spaces", "SPACES"),
    "exporters": ("collection.export", "FORMATS"),
}


def built_in(group: str) -> Iterable[str]:
    module, registry = BUILT_IN[group]
    names: Iterable[str] = getattr(import_module(f"lycosa.{module}"), registry)
    return names


def complete_names(group: str) -> Callable[[str], list[str]]:
    """Return a shell completion for the names of a group, including plugins."""

    def offered(typed: str) -> list[str]:
        names = dict.fromkeys([*built_in(group), *named(group)])
        return [name for name in names if name.startswith(typed)]

    return offered


REGISTRIES = {group: complete_names(group) for group in ("judges", "strategies", "spaces")}
_COMPLETIONS = {"judge": "judges", "strategy": "strategies", "space": "spaces"}


def settings_parameters(settings: type[Any]) -> list[inspect.Parameter]:
    """Return options for the fields of a dataclass that have `texts`: flag, metavar and help."""
    kinds, parameters = get_type_hints(settings), []
    for item in fields(settings):
        if texts := item.metadata.get("texts"):
            several = isinstance(item.default, tuple)
            kind = list[str] | None if several else kinds[item.name]
            variable = [Variable(item.metadata["variable"])] if item.metadata["variable"] else []
            annotation = Annotated[kind, *variable, *texts]  # type: ignore[valid-type]
            parameters.append(optional(item.name, annotation, None if several else item.default))
    return parameters


def crawl_options(*, of_refresh: bool = False, only: Collection[str] = ()) -> list[inspect.Parameter]:
    """Return a crawl's options, or those of revisits, as `Options` describes them; `only` selects some, ungrouped."""
    from lycosa.core.options import Options, describe

    parameters = []
    for name, flag, kind, default, group, text in describe():
        about = Options.__dataclass_fields__[name].metadata
        if name not in only if only else (group in ("Freshness", "Notifications")) != of_refresh or not about["typed"]:
            continue
        if not only and not isinstance(default, bool) and default:
            text += f" [default: {default:g}]" if kind is float else f" [default: {default}]"
        if kind is bool:
            flag += f"/--no-{flag[2:]}"
        names = [about["metavar"]] if about["metavar"] else []
        names += [REGISTRIES[_COMPLETIONS[name]]] if name in _COMPLETIONS else []
        one = optional(name, Annotated[kind | None, Group("" if only else group), flag, *names, text])
        if name == "topic":
            about_it = Annotated[list[str] | None, Group(group), "TOPIC", text]
            one = one.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=about_it)
        parameters.append(one)
    return parameters


def rare_options() -> set[str]:
    """Return the names of a crawl's options that only --help-all lists."""
    from lycosa.core.options import Options

    return {name for name, item in Options.__dataclass_fields__.items() if not item.metadata["common"]}


_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|today|yesterday", re.IGNORECASE)


def parse_end_time(typed: str, now: float, option: str) -> float:
    """Parse the end of a period; a day includes all of it."""
    return parse_time(typed, now, option) + (86_400.0 - 1e-6 if _DAY.fullmatch(typed.strip()) else 0.0)


def parse_time(typed: str, now: float, option: str = "--since") -> float:
    """Parse a day, a day and time (UTC by default), a duration ago, `today` or `yesterday` to seconds since the epoch.

    >>> [parse_time(text, 1_700_000_000.0) for text in ("2023-11-14 22:13", "3 hours ago")]  # now: 2023-11-14 22:13:20
    [1699999980.0, 1699989200.0]
    """
    text = typed.strip()
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if text.lower() in ("today", "yesterday"):
        return (day - timedelta(days=text.lower() == "yesterday")).timestamp()
    if text.lower() == "now":
        return now
    try:
        if re.match(r"\d{4}-?\d\d", text):
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        if re.search("[A-Za-z]", text):  # a bare number is ambiguous
            return now - parse_duration(re.sub(r"\s+ago$", "", text, flags=re.IGNORECASE))
    except (ValueError, OverflowError, InputError):
        pass
    examples = "2026-03-01, '2026-03-01 14:30', 2d or '3 hours ago'"
    raise InputError("bad-time", f"{option} {typed!r} is not a date or time: write it like {examples}")
