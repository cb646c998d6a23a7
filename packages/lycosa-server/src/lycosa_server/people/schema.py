"""The tables of the server's database, for SQLite and PostgreSQL.

Times are seconds since the epoch, truth is 0 or 1, and every key is a random id (`new_id`). Of a secret, a digest is
kept. The first revision in `migrations/versions` makes them.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, MetaData, PrimaryKeyConstraint, Table, Text
from sqlalchemy.schema import SchemaItem, UniqueConstraint

metadata = MetaData()


def _table(name: str, *parts: SchemaItem, key: tuple[str, ...] = ()) -> None:
    """A table with an `id`, or with a key of several columns."""
    ids = [] if key else [Column("id", Text)]
    Table(name, metadata, *ids, *parts, PrimaryKeyConstraint(*(key or ("id",))))


def _texts(*names: str, default: str | None = None, **how: Any) -> list[Column[str]]:
    return [Column(name, Text, nullable=False, server_default=default, **how) for name in names]


def _numbers(*names: str, default: str | None = None) -> list[Column[int]]:
    return [Column(name, Integer, nullable=False, server_default=default) for name in names]


def _times(*names: str, **how: Any) -> list[Column[float]]:
    return [Column(name, Double, **{"nullable": False, **how}) for name in names]


def _of(table: str, name: str = "", *, ends: str = "CASCADE", nullable: bool = False) -> Column[str]:
    """The id of a row of another table, and what comes of this one when that ends."""
    return Column(name or table, Text, ForeignKey(f"{table}.id", ondelete=ends), nullable=nullable)


# Accounts. A name is kept as it was typed; `folded` is what makes it unique. A password is a hash of argon2id, a role
# admin, member or reader.
_table(
    "person",
    *_texts("name", "password", "role"),
    *_texts("folded", unique=True),
    *_numbers("disabled", default="0"),
    *_texts("preferences", default="{}"),
    *_times("created"),
)

# A link that makes an account, once, or lets its owner choose a new password. Only a digest of its code is kept, as of
# every secret here. `person`: whose password it changes, null for a new account.
_table(
    "invitation",
    *_texts("digest", unique=True),
    *_texts("role"),
    *_texts("note", default=""),
    _of("person", "made_by", ends="SET NULL", nullable=True),
    _of("person", nullable=True),
    *_times("created", "expires"),
    *_times("used", nullable=True),
)

# `previous`: the digest before the last rotation, good for a moment longer.
_table(
    "session",
    *_texts("digest", unique=True),
    _of("person"),
    *_times("created", "rotated", "seen", "expires"),
    *_texts("previous", "agent", default=""),
    Index("session_person", "person"),
    Index("session_previous", "previous"),
)

# `scopes` are words.
_table(
    "token",
    *_texts("digest", unique=True),
    _of("person"),
    *_texts("name", "scopes"),
    *_times("created"),
    *_times("expires", "used", "revoked", nullable=True),
    Index("token_person", "person"),
)

# Failed attempts to sign in, by name and by address: kind and digest, as what was typed may have been a password.
_table("attempt", *_texts("source"), *_times("at"), Index("attempt_source", "source", "at"))

# What was done, by whom. Outlives the person: the name is kept as it was.
_table(
    "audit",
    *_times("at"),
    *_texts("action"),
    *_texts("person", "name", "subject", "detail", "address", default=""),
    Index("audit_at", "at"),
)

# Seeds that the admin keeps, by preference: what a person who likes it may start from.
_table(
    "catalogue",
    *_texts("preference", "url"),
    *_texts("title", "note", default=""),
    *_times("created"),
    UniqueConstraint("preference", "url"),
)

# `settings` are JSON: words, examples, seeds, strategy, budget, ...; `look_again` says how often finished crawls are
# refreshed: 1d, 6h; empty: never.
_table(
    "interest",
    _of("person", "owner"),
    *_texts("name", "settings"),
    *_texts("look_again", default=""),
    *_times("created", "changed"),
    Index("interest_owner", "owner"),
)

# `mode`: read, edit.
_table(
    "share",
    _of("interest"),
    _of("person"),
    *_texts("mode"),
    *_times("created"),
    Index("share_person", "person"),
    key=("interest", "person"),
)

# One crawl: a directory, and what is wanted of it. `state` is the crawl process's word, `wanted` people's.
_table(
    "crawl",
    _of("interest"),
    *_numbers("number", "budget"),
    *_texts("task"),  # crawl, refresh
    *_texts("wanted"),  # run, pause, stop
    *_texts("state"),  # queued, running, paused, stopped, finished, failed
    *_texts("reason", default=""),
    *_numbers("pages", "found", default="0"),
    *_numbers("lessons", default="0"),  # how much feedback its judge has learned from
    *_times("created", "queued"),
    *_times("started", "ended", nullable=True),
    *_times("due", nullable=True),  # when it is to be looked at again
    *_texts("judging", default=""),  # judge its pages again after a change of: labels, threshold, topic
    *_numbers("asked", default="0"),  # how often that was requested
    *_numbers("heard", default="0"),  # number of the last label that its log has
    *_texts("judging_failed", default=""),
    *_numbers("everything", default="1"),  # a refresh visits all pages, or only those that are due
    *_texts("look_first", default="[]"),  # JSON list: parts of addresses that a refresh visits first
    UniqueConstraint("interest", "number"),
    Index("crawl_state", "state"),
)

# Yes and no to pages, and who gave it. One label a page: the last one counts. The crawl process appends labels to the
# logs of an interest's crawls in the order of `number`, and notes in a crawl's `heard` how far it is: so a label waits
# here while that process is away, and goes into each log once. Logs know no names.
_table(
    "feedback",
    _of("interest"),
    *_texts("url"),
    *_numbers("number", default="0"),  # grows with every label of an interest
    Column("relevant", Integer),  # null: taken back
    *_texts("title", default=""),
    _of("person", ends="SET NULL", nullable=True),
    *_times("at"),
    Column("relevance_now", Double),  # the page's score just before, and the threshold of that time
    Column("threshold", Double),
    key=("interest", "url"),
)

# Results that a person opened; kept only while the person's preferences allow it.
_table(
    "opened",
    _of("interest"),
    _of("person"),
    *_texts("url"),
    *_numbers("times", default="1"),
    *_times("at"),
    key=("interest", "person", "url"),
)

# What became of a suggestion. `kind`: seed, term; `answer`: accepted, dismissed.
_table(
    "suggestion",
    _of("interest"),
    _of("person"),
    *_texts("kind", "value", "answer"),
    *_times("at"),
    key=("interest", "person", "kind", "value"),
)

# Up to where a person has seen the changes of an interest; and the secret address of its feed, if there is one.
_table(
    "seen",
    _of("interest"),
    _of("person"),
    *_times("at", server_default="0"),
    Column("feed", Text, unique=True),  # digest of the feed's key
    key=("interest", "person"),
)

# `kind`: finished, failed, changes, shared, account.
_table(
    "notice",
    _of("person"),
    _of("interest", nullable=True),
    *_texts("kind", "text"),
    *_times("at"),
    *_times("read", nullable=True),
    Index("notice_person", "person", "at"),
)

# Trained or uploaded models. The content is a file of its own.
_table(
    "model",
    _of("person", "owner"),
    *_texts("name"),
    *_texts("kind"),  # classifier, rules, browsing, directory
    *_texts("state"),  # queued, training, ready, failed
    *_texts("reason", default=""),
    *_texts("sources", default="{}"),  # JSON: what it is trained from; empty if it was uploaded
    *_texts("about", default="{}"),  # JSON: classes, pages, how good it is
    *_numbers("size", default="0"),  # bytes of the file
    Column("digest", Text),  # SHA-256 of the file; null as long as there is none
    *_times("created"),
    *_times("ended", nullable=True),
    Index("model_owner", "owner", "created"),
)

# Directories whose rows are gone and that are still to be removed: also after a crash.
_table("rubbish", *_texts("crawl"), *_times("at"), key=("crawl",))

# The processes, and when they were last heard of.
_table(
    "process",
    *_texts("name"),
    *_numbers("pid"),
    *_times("started", "beat"),
    *_texts("told", default="{}"),
    key=("name",),
)
