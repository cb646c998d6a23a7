"""Alembic's folder of revisions."""
