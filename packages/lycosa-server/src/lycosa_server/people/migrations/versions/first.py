"""First revision: create the tables of `people.schema`. When a second one is added, copy their definitions here."""

from alembic import op

from lycosa_server.people.schema import metadata

revision = "1"
down_revision = None


def upgrade() -> None:
    metadata.create_all(op.get_bind(), checkfirst=False)
