"""The database's schema is brought up to date when a process of the server starts."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from lycosa.core.errors import InputError
from lycosa_server.people.database import Database


def newest(config: Config | None = None) -> str:
    return str(ScriptDirectory.from_config(config or _config()).get_current_head())


def revision(database: Database) -> str:
    """The revision of a database's schema; empty for an empty one."""
    with database.connection() as connection:
        return MigrationContext.configure(connection).get_current_revision() or ""


def migrate(database: Database, config: Config | None = None) -> None:
    """Apply the revisions that a database has not seen, all or nothing. Processes that do so at once take turns."""
    config = config or _config()
    if revision(database) == newest(config):
        return
    with database.transaction(), database.connection() as connection:
        if database.is_postgres:  # a lock of this schema's own, until the transaction ends
            database.rows("SELECT pg_advisory_xact_lock(114778, hashtext(current_schema()))")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise InputError(
                f"the database has schema {revision(database)}, but this Lycosa knows {newest(config)}: it was used by "
                "a newer version; install that one, or restore a backup"
            ) from error


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "lycosa_server.people:migrations")
    return config
