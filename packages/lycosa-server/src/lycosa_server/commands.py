"""The commands `lycosa serve`, `backup` and `restore`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from lycosa.cli.commands import Variable, with_more
from lycosa.cli.contact import NOTE
from lycosa.cli.parameters import settings_parameters
from lycosa.core.errors import InputError
from lycosa.drawing.formats import many
from lycosa_server.settings import Settings

NEEDED = ("fastapi", "uvicorn", "argon2", "python_multipart", "sqlalchemy", "alembic")

ServerDatabase = Annotated[
    str,
    Variable("LYCOSA_DATABASE"),
    "--database",
    "ADDRESS",
    "PostgreSQL database of the server. Default: SQLite in DATA.",
]


@with_more(settings_parameters(Settings))
def serve(
    data: Annotated[Path, "DATA", "Directory for accounts, interests and crawls."] = Path("lycosa-data"),
    *,
    admin_link: Annotated[
        bool, "Print a link that creates another admin account, for when the only admin forgot the password."
    ] = False,
    quiet: Annotated[bool, "-q", "Log only warnings and errors."] = False,
    **given: Any,
) -> None:
    """Serve Lycosa to a team, in the browser.

    Accounts, interests, crawls and search. The first start prints a link that creates the admin account; the admin
    invites everyone else. Ctrl-C stops the server; crawls continue at the next start, even after a crash. The log
    (JSON lines) goes to standard error.
    """
    check_installed()  # fail here and not in the log of a child process
    from lycosa_server.logs import QUIET
    from lycosa_server.people.accounts import first_link
    from lycosa_server.people.audit import record
    from lycosa_server.people.database import Database
    from lycosa_server.people.migrating import migrate
    from lycosa_server.supervisor import DirectoryLock, Supervisor, listen

    chosen: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    settings = Settings(data, **{name: value for name, value in chosen.items() if value is not None})
    if settings.identity:
        settings = replace(settings, identity=os.path.abspath(settings.identity))
    settings.check()
    os.umask(0o077)  # keep data private even in a shared directory
    with closing(DirectoryLock(settings.data)) as lock, closing(listen(settings.host, settings.port)) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        with closing(Database(settings.database_address)) as opened:
            migrate(opened)
            code = first_link(opened, time.time(), anyway=admin_link)
            if admin_link:
                record(opened, time.time(), "", "", "made an invitation", "with --admin-link", "admin")
        if quiet:
            os.environ[QUIET] = "quiet"

        def ready() -> None:
            print(f"Lycosa is at {settings.base}/ . Ctrl-C stops it.", flush=True)
            if not settings.contact:
                print(f"Note: {NOTE}.", flush=True)
            if code:
                link = f"{settings.base}/join#{code}"
                if not admin_link and has_crawls(settings.data):
                    note = "this directory already contains crawls. Do they belong to another --database?"
                    print(f"Note: {note}", flush=True)
                why = "Another admin." if admin_link else "No admin yet."
                print(f"{why} Create the account with this link, valid once and for a week:\n{link}", flush=True)

        async def run() -> None:
            await Supervisor(settings, listening, lock, ready).run()

        given_file = f"the SQLite file {settings.database}" if settings.database else "SQLite there"
        accounts = "PostgreSQL" if "://" in settings.database else given_file
        print(f"Data in {settings.data.absolute()}, accounts in {accounts}.", flush=True)
        asyncio.run(run())
    print("stopped; crawls continue at the next start", file=sys.stderr)


def check_installed() -> None:
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError("missing-package", f"the server needs {missing[0]}: install it with pip install lycosa-server")


def has_crawls(data: Path) -> bool:
    crawls = data / "crawls"
    return crawls.is_dir() and any(one.is_dir() for one in crawls.iterdir())


def backup(
    data: Annotated[Path, "DATA", "The data directory of 'lycosa serve'."],
    file: Annotated[Path, "FILE", "The backup to write: a tar file."],
    *,
    database: ServerDatabase = "",
) -> None:
    """Back up a server, database and crawls, to one file. Works while the server runs."""
    check_installed()
    from lycosa_server.backup import write_backup
    from lycosa_server.people.database import Database
    from lycosa_server.people.migrating import migrate, revision

    settings = Settings(data, database)
    if not data.is_dir() or not (database or Path(settings.database_address).exists()):
        raise InputError("not-a-server", f"{data} contains no server data: give the data directory of 'lycosa serve'")
    with closing(Database(settings.database_address)) as opened:
        if not revision(opened):
            raise InputError("empty-database", f"the database of {data} is empty: check --database")
        migrate(opened)
        people, crawls = write_backup(settings, opened, file)
    print(f"{file}: {_describe_counts(people, crawls)}, {file.stat().st_size / 1e6:,.1f} MB")


def restore(
    file: Annotated[Path, "FILE", "A file written by 'lycosa backup'."],
    data: Annotated[Path, "DATA", "Directory to restore to, new or empty."],
    *,
    database: ServerDatabase = "",
) -> None:
    """Restore a server from a backup, to SQLite or PostgreSQL.

    Everyone has to sign in again. Restore only backups of your own: accounts and crawls are taken as they are.
    """
    check_installed()
    from lycosa_server.backup import restore as restore_backup

    people, crawls = restore_backup(file, data, database)
    where = " with the same --database" if database else ""
    print(f"{data}: {_describe_counts(people, crawls)}. Start it{where}: lycosa serve {data}")


def _describe_counts(people: int, crawls: int) -> str:
    return f"{'1 person' if people == 1 else f'{people:,} people'}, {many(crawls, 'crawl')}"
