"""Alembic's environment: runs migrations on the connection of `migrate`."""

from alembic import context

from lycosa_server.people.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # copy tables, as SQLite can alter few properties in place
)
with context.begin_transaction():
    context.run_migrations()
