"""Parameters that several commands have, so that each is described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no summary; errors only.")]
Dir = Annotated[Path, typer.Argument(metavar="DIR", help="The crawl's directory.")]
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
