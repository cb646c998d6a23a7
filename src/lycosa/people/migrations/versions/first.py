"""The first schema. An empty database gets the tables of `people.schema`, so this has nothing to do."""

revision = "1"
down_revision = None


def upgrade() -> None:
    """Change nothing."""
