"""Parameters that several commands have, so that each is described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl's directory.")]
WholeText = Annotated[bool, typer.Option("--whole-text", help="All that pages say, with menus, footers and comments.")]
Line = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        show_default=False,
        help="What a page has to be worth to count as relevant. Default: what the crawl says.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output.")]
Delay = Annotated[float, typer.Option(help="Seconds to leave a host alone after each answer.")]
AllowNetwork = Annotated[
    list[str] | None, typer.Option(metavar="CIDR", help="A network that may be asked although it is not public.")
]
ProxyUrl = Annotated[str, typer.Option(metavar="URL", help="Send every request through this HTTP proxy.")]
ProxyCa = Annotated[str, typer.Option(metavar="FILE", help="Trust the certificates that this file vouches for.")]
Contact = Annotated[str, typer.Option(help="A URL or mail address that hosts can turn to.")]
Column = Annotated[
    str, typer.Option(metavar="NAME", help="A table's column of classes, by title or number. Default: the second.")
]
Place = Annotated[
    Path | None,
    typer.Option(
        metavar="PLACE",
        help="Where the pages of a table are: a WARC file, a directory of them, or a crawl's. Default: the web.",
    ),
]
Language = Annotated[
    str, typer.Option(metavar="CODE", help="The language of pages that do not say theirs (en, de, ...).")
]

OF_REFRESH = ("Freshness", "Telling")
"""The groups of options that `refresh` and `watch` have; a crawl takes them from its configuration file."""


def from_options(
    wanted: Callable[[str], bool], shells: Mapping[str, Callable[[str], list[str]]] | None = None
) -> list[inspect.Parameter]:
    """A command's parameters, made from the options of some groups, so that nothing is written twice.

    `shells`: what the shell offers to complete them with.
    """
    from lycosa.core.options import Options, describe

    parameters = []
    for name, flag, kind, default, group, text in describe():
        if not wanted(group):
            continue
        metavar = Options.__dataclass_fields__[name].metadata["metavar"] or None
        if not isinstance(default, bool) and default not in ("", []):
            text = f"{text} [default: {default:g}]" if kind is float else f"{text} [default: {default}]"
        extra: dict[str, Any] = {"help": text, "metavar": metavar, "show_default": False}
        if name == "topic":
            annotation: Any = Annotated[
                list[str] | None, typer.Argument(metavar="TOPIC", help=text, show_default=False)
            ]
        elif kind is bool:
            annotation = Annotated[bool | None, typer.Option(f"{flag}/--no-{flag[2:]}", **extra)]
        else:
            if shells is not None and name in shells:
                extra["autocompletion"] = shells[name]
            annotation = Annotated[kind | None, typer.Option(flag, **extra)]
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation))
    return parameters


def refresh_signature(once: bool) -> inspect.Signature:
    """The parameters of `refresh` (once) and `watch`."""
    now = Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN", help="Look at addresses that match this first, due or not; repeat it for more. Not kept."
        ),
    ]
    requests = Annotated[int | None, typer.Option(metavar="N", help="Send at most so many requests in this run.")]
    max_time = Annotated[float | None, typer.Option(help="Seconds that this run may take.")]
    everything = Annotated[bool, typer.Option("--all", help="Look at every page that is watched, due or not.")]
    own: list[tuple[str, Any, Any]] = [("now", now, None), ("requests", requests, None), ("max_time", max_time, None)]
    if once:
        own.insert(0, ("all", everything, False))
    own += [("quiet", Quiet, False), ("json", Json, False)]
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("directory", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Dir)]
    parameters += [inspect.Parameter(name, keyword, default=value, annotation=kind) for name, kind, value in own]
    return inspect.Signature([*parameters, *from_options(lambda group: group in OF_REFRESH)])
