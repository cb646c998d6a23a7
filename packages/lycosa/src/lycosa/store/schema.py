"""Schema of `crawl.sqlite`, described for its users in docs/schema.md.

A crawl is a sequence of events, numbered by `seq`. Each kind of event has a table; `score` and `page` are derived from
the events, `content` belongs to `visit`. Texts are '' and numbers 0 where nothing is known.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from functools import cache

VERSION = 6  # format of the file; crawls of other formats are refused
APPLICATION_ID = 0x4C796363  # marks the file as a crawl of Lycosa

TABLES = """
CREATE TABLE visit (
    seq INTEGER PRIMARY KEY,
    url TEXT NOT NULL,
    host TEXT NOT NULL,            -- with its port
    kind TEXT NOT NULL,            -- page, redirect, robots, sitemap, probe, revisit, search, ...
    outcome TEXT NOT NULL,         -- ok, unchanged, redirect, gone, ...
    status INTEGER NOT NULL,
    size INTEGER NOT NULL,
    started REAL NOT NULL,
    ended REAL NOT NULL,
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,
    etag TEXT NOT NULL,
    modified TEXT NOT NULL,
    digest BLOB NOT NULL,
    simhash INTEGER NOT NULL,
    duplicate_of TEXT NOT NULL,
    target TEXT NOT NULL,          -- of a redirect
    judge TEXT NOT NULL,
    relevance REAL NOT NULL,       -- when it was fetched
    pick INTEGER NOT NULL,
    arm TEXT NOT NULL,
    priority REAL NOT NULL,        -- infinite for a seed
    priority_terms TEXT NOT NULL,  -- JSON; about the parts of the priority
    parent TEXT NOT NULL,          -- page with the first link to this one
    anchor TEXT NOT NULL,          -- text of that link
    depth INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    retry_at REAL NOT NULL,
    hops INTEGER NOT NULL,
    origin TEXT NOT NULL,          -- URL for which this request was needed
    warc_file TEXT NOT NULL,
    warc_offset INTEGER NOT NULL,
    warc_length INTEGER NOT NULL,
    flags TEXT NOT NULL,           -- JSON
    note TEXT NOT NULL,
    data TEXT NOT NULL             -- JSON
) STRICT;
CREATE INDEX visit_url ON visit (url);
CREATE INDEX visit_target ON visit (target) WHERE target != '';
CREATE INDEX visit_outcome ON visit (kind, outcome, attempt, status, size);
CREATE TABLE content (seq INTEGER PRIMARY KEY, links BLOB, terms BLOB, binary BLOB) STRICT;
CREATE TABLE score (seq INTEGER PRIMARY KEY, relevance_now REAL NOT NULL) STRICT;
CREATE TABLE page (
    first INTEGER PRIMARY KEY,     -- visit that brought the first version
    current INTEGER NOT NULL,      -- visit that brought the current version
    is_copy INTEGER NOT NULL,      -- whether the current version duplicates another page
    state TEXT NOT NULL,           -- stands, vanished, moved
    since REAL NOT NULL,
    versions INTEGER NOT NULL,
    revisits INTEGER NOT NULL,
    last_seen REAL NOT NULL,
    changed REAL NOT NULL,         -- last change of its main text
    moved_to TEXT NOT NULL
) STRICT;
CREATE TABLE seed (seq INTEGER PRIMARY KEY, url TEXT NOT NULL, at REAL NOT NULL, kind TEXT NOT NULL, data ANY) STRICT;
CREATE TABLE label (
    seq INTEGER PRIMARY KEY, url TEXT NOT NULL, relevant INTEGER, at REAL NOT NULL, author TEXT NOT NULL
) STRICT;
CREATE TABLE setting (seq INTEGER PRIMARY KEY, name TEXT NOT NULL, value ANY, at REAL NOT NULL) STRICT;
CREATE TABLE model_update (
    seq INTEGER PRIMARY KEY, judge TEXT NOT NULL, at REAL NOT NULL, data TEXT NOT NULL, binary BLOB
) STRICT;
CREATE TABLE link_batch (
    seq INTEGER PRIMARY KEY, sender INTEGER NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL
) STRICT;
"""

# DuckDB rewrites views that it reads, and SQLite does not know its name for COUNT(*): hence SUM(1).
VIEWS = """
CREATE VIEW pages AS
    SELECT visit.seq, visit.url, visit.host, visit.title, visit.language,
        round(COALESCE(score.relevance_now, visit.relevance), 6) AS relevance,
        visit.duplicate_of = '' AND COALESCE(score.relevance_now, visit.relevance) >= COALESCE(
            (SELECT CAST(value AS REAL) FROM setting WHERE name = 'threshold' ORDER BY seq DESC LIMIT 1), 0
        ) AS relevant,
        visit.duplicate_of, page.state, page.versions,
        datetime(first.started, 'unixepoch') AS first_fetched, datetime(visit.started, 'unixepoch') AS fetched,
        CASE WHEN page.changed THEN datetime(page.changed, 'unixepoch') END AS changed,
        first.pick, first.priority, first.priority_terms, first.parent, first.anchor, first.depth,
        first.relevance AS relevance_when_fetched, visit.status, visit.size,
        visit.warc_file, visit.warc_offset, visit.warc_length
    FROM page JOIN visit ON visit.seq = page.current JOIN visit AS first ON first.seq = page.first
    LEFT JOIN score ON score.seq = page.current;
CREATE VIEW relevant_pages AS SELECT * FROM pages WHERE relevant ORDER BY relevance DESC;
CREATE VIEW requests AS
    SELECT seq, url, host, kind, outcome, status, size, datetime(started, 'unixepoch') AS started,
        round(ended - started, 3) AS seconds, attempt, origin, note
    FROM visit
    WHERE outcome NOT IN ('denied', 'refused') AND (kind NOT IN ('robots', 'sitemap') OR outcome != 'ok' OR status);
CREATE VIEW hosts AS
    SELECT * FROM (
        SELECT host, SUM(1) AS requests,
            SUM(kind IN ('page', 'redirect') AND outcome NOT IN ('ok', 'redirect')) AS failures,
            SUM(size) AS bytes, round(AVG(seconds), 3) AS mean_seconds, MIN(started) AS first, MAX(started) AS last
        FROM requests GROUP BY host
    ) LEFT JOIN (SELECT host, SUM(1) AS pages, SUM(relevant) AS relevant_pages FROM pages GROUP BY host) USING (host);
"""


_COMMENT = re.compile(r"--[^\n]*")


def create(db: sqlite3.Connection) -> None:
    marks = f"PRAGMA application_id={APPLICATION_ID}; PRAGMA user_version={VERSION};"
    # Two or three pages with their links and words fit in 8 kB; pages of 4 kB stay a quarter empty.
    db.executescript(f"PRAGMA page_size=8192; BEGIN; {TABLES} {VIEWS} {marks} COMMIT;")


def objects(db: sqlite3.Connection) -> set[tuple[str, ...]]:
    """Return tables, indexes and views of a database as type, name and SQL, without comments and statistics."""
    rows = db.execute("SELECT type, name, COALESCE(sql, '') FROM main.sqlite_master WHERE name NOT LIKE 'sqlite_stat%'")
    return {(kind, name, " ".join(_COMMENT.sub("", sql).split())) for kind, name, sql in rows}


@cache
def expected_objects() -> frozenset[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as db:
        create(db)
        return frozenset(objects(db))
