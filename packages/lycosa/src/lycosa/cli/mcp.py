"""`lycosa mcp`: collections for agents, over the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from lycosa.cli.parameters import AllowNetwork, Contact
from lycosa.core.options import Options


def mcp(
    directory: Annotated[Path, "DIR", "Directory for the collections."] = Path("agents"),
    *,
    max_pages: Annotated[int, "Maximum pages per collection."] = 500,
    max_at_once: Annotated[int, "Maximum collections running at the same time."] = 2,
    max_collections: Annotated[int, "Maximum number of collections."] = 100,
    max_minutes: Annotated[float, "Maximum duration of a collection in minutes."] = 60,
    config: Annotated[Path | None, "FILE", "Options for all collections, in the format of crawl.toml."] = None,
    contact: Contact = "",
    delay: Annotated[float | None, "Seconds between a response and the next request to the same host."] = None,
    allow_network: AllowNetwork = None,
) -> None:
    """Let AI agents collect and read pages (MCP server)."""
    from lycosa.agents.desk import Desk, Limits
    from lycosa.agents.serving import serve_stdio
    from lycosa.core.files import allow_many_files

    base = Options.load(config) if config is not None else Options()
    base.contact = contact or base.contact
    base.delay = base.delay if delay is None else delay
    base.allow_network = [*base.allow_network, *(allow_network or [])]
    base.check()
    limits = Limits(max_pages, max_at_once, max_collections, 60.0 * max_minutes)
    allow_many_files()
    serve_stdio(Desk(directory, base, limits))
