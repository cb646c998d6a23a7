"""The tables of `people.schema`. Whoever adds the second revision writes them out here as they are then."""

from alembic import op

from lycosa_server.people.schema import metadata

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make all tables; fails where somebody else's table has one of the names."""
    metadata.create_all(op.get_bind(), checkfirst=False)
