"""`lycosa identity ...`: who we are, provably."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from lycosa.cli.commands import Commands


class Identities(Commands):
    """The commands of `lycosa identity`."""

    names = "new show"
    places: ClassVar = {"new": "identity", "show": "identity"}


identity = Identities(
    name="identity",
    help="Sign requests, so that hosts can tell it is you: Web Bot Auth.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The identity: a private key, which only you may read.")]
Site = Annotated[str, typer.Argument(metavar="SITE", help="Your site, which will serve the key directory.")]


def new(file: File, site: Site) -> None:
    """Make an identity: a new key, for requests that are signed in the name of a site."""
    from lycosa.web.signing import MEDIA_TYPE, WELL_KNOWN, Identity

    made = Identity.new(site)
    made.save(file)
    print(f"{file}: the private key {made.id}, to be kept secret.")
    print(f"Have {made.agent}{WELL_KNOWN} answer with what 'lycosa identity show {file}' prints,")
    print(f"as {MEDIA_TYPE}. Then crawl with --identity {file}")


def show(file: File) -> None:
    """Print the key directory of an identity: the public half, for your site to serve."""
    from lycosa.web.signing import Identity

    print(json.dumps(Identity.load(file).directory(), indent=2))
