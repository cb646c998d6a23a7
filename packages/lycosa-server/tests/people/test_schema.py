"""The database schema."""

from lycosa_server.people.database import Database
from lycosa_server.people.schema import metadata
from people_rows import fill


def test_schema_matches_database(database: Database) -> None:
    tables = {table.name: sorted(column.name for column in table.columns) for table in metadata.sorted_tables}
    found = {name: sorted(columns) for name, columns in database.tables().items() if name != "alembic_version"}
    assert tables == found


def test_deleted_person_takes_dependent_rows_along(database: Database) -> None:
    fill(database)
    label = {"interest": "interest-1", "url": "https://a.example/", "person": "person-0", "relevant": 1, "at": 0.0}
    database.insert("feedback", label)
    database.delete("person", "person-0")
    assert 0 == database.count("session", "person = 'person-0'")
    assert 0 == database.count("crawl", "interest = 'interest-0'")
    assert 1 == database.count("feedback", "person IS NULL")
