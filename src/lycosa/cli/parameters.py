"""Parameters that several commands have, so that each is described once; and moments as people name them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from lycosa.core.durations import seconds
from lycosa.core.errors import InputError

if TYPE_CHECKING:
    from lycosa.core.options import Options

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl's directory.")]
WholeText = Annotated[
    bool, typer.Option("--whole-text", help="Use the whole page, including menus, footers and comments.")
]
Line = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        show_default=False,
        help="Lowest score that counts as relevant. Default: the crawl's threshold.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="WHERE",
        show_default=False,
        help="Run on Ray: local:4 (four shards on this machine), auto, or the address of a cluster.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Delay = Annotated[
    float, typer.Option(help="Seconds to wait after each response before the next request to the same host.")
]
AllowNetwork = Annotated[
    list[str] | None, typer.Option(metavar="CIDR", help="A private network that requests may go to.")
]
ProxyUrl = Annotated[str, typer.Option(metavar="URL", help="Send every request through this HTTP proxy.")]
ProxyCa = Annotated[str, typer.Option(metavar="FILE", help="Trust the certificate authorities in this file.")]
Workers = Annotated[int, typer.Option(metavar="N", help="Number of processes; 0 for one per core.")]
Contact = Annotated[str, typer.Option(help="A URL or email address for site owners to contact you.")]
Column = Annotated[
    str, typer.Option(metavar="NAME", help="The table's column with classes, by title or number. Default: the second.")
]
Place = Annotated[
    Path | None,
    typer.Option(
        metavar="PLACE",
        help="Where to read the pages of a table from: a WARC file, a directory of them, or a crawl. Default: the web.",
    ),
]
Language = Annotated[
    str, typer.Option(metavar="CODE", help="The language of pages that do not declare one (en, de, ...).")
]


def names_in(module: str, registry: str) -> Callable[[str], list[str]]:
    """What a shell offers where a name of a registry is to be typed."""

    def offered(typed: str) -> list[str]:
        names = getattr(import_module(f"lycosa.{module}"), registry)
        return [name for name in names if name.startswith(typed)]

    return offered


strategy_names = names_in("estimators", "STRATEGIES")
judge_names = names_in("topics", "TOPICS")
space_names = names_in("spaces", "SPACES")

_COMPLETIONS = {"strategy": strategy_names, "judge": judge_names, "space": space_names}


_NETWORK: dict[str, tuple[Any, Any]] = {
    "delay": (Delay, 1.0),
    "allow_network": (AllowNetwork, None),
    "proxy": (ProxyUrl, ""),
    "proxy_ca": (ProxyCa, ""),
    "contact": (Contact, ""),
}


def network_parameters(*names: str) -> list[inspect.Parameter]:
    """How a command that is no crawl may fetch: all that can be said, or these."""
    return [optional(name, *_NETWORK[name]) for name in names or _NETWORK]


def network_options(**given: Any) -> Options:
    """Options of a command that fetches without being a crawl; what was not given stays as it is by default."""
    from lycosa.core.options import Options

    options = Options(**{name: value for name, value in given.items() if value is not None}, traps=False)
    options.check()
    return options


def optional(name: str, annotation: Any, default: Any = None) -> inspect.Parameter:
    """A parameter that may be left out."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def with_more(more: Sequence[inspect.Parameter], at: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose `**options` are declared elsewhere; they stand `at` this place among its own parameters."""

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        parameters = inspect.signature(command, eval_str=True).parameters.values()
        own = [
            one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for one in parameters
            if one.kind != inspect.Parameter.VAR_KEYWORD
        ]
        command.__signature__ = inspect.Signature([*own[:at], *more, *own[at:]])  # type: ignore[attr-defined]
        return command

    return decorated


def declared(settings: type[Any]) -> list[inspect.Parameter]:
    """The fields of a dataclass that have a help, as options; what stands beside the help is for typer."""
    kinds, parameters = get_type_hints(settings), []
    for item in fields(settings):
        if "help" in item.metadata:
            several = isinstance(item.default, tuple)
            about = dict(item.metadata)
            option = typer.Option(about.pop("flag", "--" + item.name.replace("_", "-")), **about)
            kind = list[str] | None if several else kinds[item.name]
            parameters.append(optional(item.name, Annotated[kind, option], None if several else item.default))
    return parameters


def crawl_options(of_refresh: bool) -> list[inspect.Parameter]:
    """The options of a crawl, or those of looking again, as they are described there."""
    from lycosa.core.options import Options, describe

    parameters = []
    for name, flag, kind, default, group, text in describe():
        about = Options.__dataclass_fields__[name].metadata
        if (group in ("Freshness", "Notifications")) != of_refresh or not about["typed"]:
            continue
        metavar = about["metavar"] or None
        if not isinstance(default, bool) and default not in ("", []):
            text = f"{text} [default: {default:g}]" if kind is float else f"{text} [default: {default}]"
        extra: dict[str, Any] = {"help": text, "metavar": metavar, "show_default": False}
        if name == "topic":
            annotation: Any = Annotated[
                list[str] | None, typer.Argument(metavar="TOPIC", help=text, show_default=False)
            ]
        elif kind is bool:
            negated = f"--no-{flag[2:].removeprefix('with-')}"
            annotation = Annotated[bool | None, typer.Option(f"{flag}/{negated}", **extra)]
        else:
            if name in _COMPLETIONS:
                extra["autocompletion"] = _COMPLETIONS[name]
            annotation = Annotated[kind | None, typer.Option(flag, **extra)]
        parameters.append(optional(name, annotation))
    return parameters


# -- moments -----------------------------------------------------------------------------------------------

# When: moments as people name them on a command line.

DAY = 86_400.0

_DAY = re.compile(r"\d{4}-?\d\d-?\d\d|today|yesterday", re.IGNORECASE)


def by_the_end(told: str, now: float, option: str) -> float:
    """A moment up to which something counts: a day means its last one, after all that happened on it.

    >>> by_the_end("1970-01-01", 0.0, "--at"), by_the_end("1970-01-01 01:00", 0.0, "--at")
    (86399.999999, 3600.0)
    """
    return moment(told, now, option) + (DAY - 1e-6 if _DAY.fullmatch(told.strip()) else 0.0)


def moment(told: str, now: float, option: str = "--since") -> float:
    """A day, a day and a time (UTC unless it says another zone), how long ago, `today` or `yesterday`; as an epoch.

    >>> now = 1_700_000_000.0  # 2023-11-14 22:13:20
    >>> moment("2023-11-14", now), moment("2023-11-14 22:13", now), moment("3 hours ago", now), moment("2d", now)
    (1699920000.0, 1699999980.0, 1699989200.0, 1699827200.0)
    """
    text = told.strip()
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if text.lower() in ("today", "yesterday"):
        return (day - timedelta(days=text.lower() == "yesterday")).timestamp()
    if text.lower() == "now":
        return now
    try:
        if re.match(r"\d{4}-?\d\d", text):
            found = datetime.fromisoformat(text)
            return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
        if re.search("[A-Za-z]", text):  # a mere number could be anything
            return now - seconds(re.sub(r"\s+ago$", "", text, flags=re.IGNORECASE))
    except (ValueError, OverflowError, InputError):
        pass
    raise InputError(
        f"{option} {told!r} is not a date or time: write it like 2026-03-01, '2026-03-01 14:30', 2d or '3 hours ago'"
    )
