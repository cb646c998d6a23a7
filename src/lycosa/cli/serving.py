"""`lycosa serve`, `backup`, `restore`: Lycosa for many people."""

from __future__ import annotations

import asyncio
import ipaddress
import math
import os
import sys
import time
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lycosa.core.errors import InputError
from lycosa.people.database import Database
from lycosa.people.migrating import migrate, version

NEEDED = ("fastapi", "uvicorn", "argon2", "python_multipart", "plotly")


def serve(*, quiet: bool, admin_link: bool = False, **given: Any) -> None:
    """Run a server until it is told to stop."""
    missing = [name for name in NEEDED if find_spec(name) is None]  # to tell now, and not in a child's log
    if missing:
        raise InputError(f"lycosa serve needs {missing[0]}: install it with pip install 'lycosa[server]'")
    from lycosa.people.accounts import first_link
    from lycosa.people.audit import record
    from lycosa.server.logs import QUIET
    from lycosa.server.settings import Settings
    from lycosa.server.supervising import Held, Supervisor, listen

    _check(given)
    settings = Settings(**given)
    os.umask(0o077)  # all that is kept is for this account alone, also in a directory that others may enter
    with closing(Held(settings.data)) as held, closing(listen(settings.host, settings.port)) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        with closing(Database.open(settings.database_address)) as database:
            migrate(database)
            code = first_link(database, time.time(), anyway=admin_link)
            if admin_link:
                record(database, time.time(), "", "", "made an invitation", "with --admin-link", "admin")
        if quiet:
            os.environ[QUIET] = "quiet"

        def ready() -> None:
            print(f"Lycosa is at {settings.base}/ . Ctrl-C stops it.", flush=True)
            if code:
                link = f"{settings.base}/join#{code}"
                if not admin_link and orphaned(settings.data):
                    print("Mind: crawls lie there already. Do they belong to another --database?", flush=True)
                why = "One more admin." if admin_link else "No admin yet."
                print(f"{why} Make the account here, within a week, once:\n{link}", flush=True)

        async def run() -> None:
            await Supervisor(settings, listening, held, ready).run()

        print(f"Data in {settings.data.absolute()}, accounts in {_where(settings.database)}.", flush=True)
        asyncio.run(run())
    print("stopped; crawls go on at the next start", file=sys.stderr)


def orphaned(data: Path) -> bool:
    """Whether there are crawls in a directory: odd where the database knows nobody."""
    crawls = data / "crawls"
    return crawls.is_dir() and any(one.is_dir() for one in crawls.iterdir())


def _where(address: str) -> str:
    return "PostgreSQL" if address else "SQLite there"


def _check(given: dict[str, Any]) -> None:
    """Refuse now what would fail later, in another process."""
    for option, key in (("--allow-network", "allow_network"), ("--trusted-proxy", "trusted_proxies")):
        for name in given[key]:
            try:
                ipaddress.ip_network(name, strict=False)
            except ValueError as error:
                raise InputError(f"{option} {name!r} is no address: write it as in 192.168.0.0/16") from error
    if not (math.isfinite(given["delay"]) and given["delay"] >= 0):
        raise InputError(f"--delay {given['delay']}: give seconds, 0 or more")
    try:
        parts = urlsplit(given["url"])
        wrong = bool(given["url"]) and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query)
    except ValueError:
        wrong = True
    if wrong:
        raise InputError(f"--url {given['url']}: write it as in https://lycosa.example.org")
    if not given["contact"].isprintable():
        raise InputError("--contact: leave out control characters")


def back_up(data: Path, file: Path, database: str) -> None:
    """Write a backup."""
    from lycosa.server.backup import Backup
    from lycosa.server.settings import Settings

    settings = Settings(data, database)
    if not data.is_dir() or not (database or Path(settings.database_address).exists()):
        raise InputError(f"{data} holds no server's data: name the directory that 'lycosa serve' was given")
    with closing(Database.open(settings.database_address)) as opened:
        if not version(opened):
            raise InputError(f"the database of {data} is empty: is --database right?")
        migrate(opened)
        told = Backup(settings, opened).write(file)
    print(f"{file}: {_counted(told)}, {told.size / 1e6:,.1f} MB")


def put_back(file: Path, data: Path, database: str) -> None:
    """Restore one."""
    from lycosa.server.restoring import restore

    told = restore(file, data, database)
    where = " with the same --database" if database else ""
    print(f"{data}: {_counted(told)}. Start it{where}: lycosa serve {data}")
    for crawl in told.damaged:
        print(f"Mind: {crawl}", file=sys.stderr)


def _counted(told: Any) -> str:
    people = "1 person" if told.people == 1 else f"{told.people:,} people"
    crawls = "1 crawl" if told.crawls == 1 else f"{told.crawls:,} crawls"
    return f"{people}, {crawls}"
