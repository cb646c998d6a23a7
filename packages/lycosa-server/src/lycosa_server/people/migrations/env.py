"""What Alembic runs for each of its commands: on the connection that `migrate` gives it."""

from alembic import context

from lycosa_server.people.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite alters few things of a table: Alembic copies it
)
with context.begin_transaction():
    context.run_migrations()
