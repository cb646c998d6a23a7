"""Alembic's environment: runs migrations on the connection of `migrate`."""

from alembic import context

from lycosa_server.people.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite can alter little in place: Alembic copies the table
)
with context.begin_transaction():
    context.run_migrations()
