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
    help="Sign requests, so that sites can verify them (Web Bot Auth).",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

File = Annotated[Path, typer.Argument(metavar="FILE", help="The identity file: a private key, readable only by you.")]
Site = Annotated[str, typer.Argument(metavar="SITE", help="Your site, which serves the key directory.")]


def new(file: File, site: Site) -> None:
    """Create an identity: a key that signs requests for a site."""
    from lycosa.web.signing import MEDIA_TYPE, WELL_KNOWN, Identity

    made = Identity.new(site)
    made.save(file)
    print(f"{file}: the private key {made.id}. Keep it secret.")
    print(f"Have {made.agent}{WELL_KNOWN} answer with what 'lycosa identity show {file}' prints,")
    print(f"as {MEDIA_TYPE}. Then crawl with --identity {file}")


def show(file: File) -> None:
    """Print the key directory: the public key, for your site."""
    from lycosa.web.signing import Identity

    print(json.dumps(Identity.load(file).directory(), indent=2))
