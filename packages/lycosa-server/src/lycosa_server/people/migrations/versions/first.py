"""The tables of `people.schema`. A second revision has to write them out here as they are now."""

from alembic import op

from lycosa_server.people.schema import metadata

revision = "1"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind(), checkfirst=False)
