"""Database migrations, applied when a process of the server starts."""

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
    with database.connection() as connection:
        return MigrationContext.configure(connection).get_current_revision() or ""


def migrate(database: Database, config: Config | None = None) -> None:
    """Apply pending revisions in one transaction. Concurrent processes take turns."""
    config = config or _config()
    if revision(database) == newest(config):
        return
    with database.transaction(), database.connection() as connection:
        if database.is_postgres:  # a lock per schema, held until the transaction ends
            database.rows("SELECT pg_advisory_xact_lock(114778, hashtext(current_schema()))")
        config.attributes["connection"] = connection
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise InputError(
                "newer-database",
                f"the database has schema {revision(database)}: install the newer Lycosa that wrote it",
            ) from error


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "lycosa_server.people:migrations")
    return config
