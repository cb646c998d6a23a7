"""The tables of the server's database, for SQLite and PostgreSQL.

Times are seconds since the epoch, booleans are 0 or 1, and every key is a random id (`new_id`). Secrets are stored as
digests. The first revision in `migrations/versions` creates the tables.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, Double, ForeignKey, Index, Integer, MetaData, PrimaryKeyConstraint, Table, Text
from sqlalchemy.schema import SchemaItem, UniqueConstraint

metadata = MetaData()


def _table(name: str, *parts: SchemaItem, key: tuple[str, ...] = ()) -> None:
    ids = [] if key else [Column("id", Text)]
    Table(name, metadata, *ids, *parts, PrimaryKeyConstraint(*(key or ("id",))))


def _texts(*names: str, default: str | None = None, **how: Any) -> list[Column[str]]:
    return [Column(name, Text, nullable=False, server_default=default, **how) for name in names]


def _numbers(*names: str, default: str | None = None) -> list[Column[int]]:
    return [Column(name, Integer, nullable=False, server_default=default) for name in names]


def _times(*names: str, **how: Any) -> list[Column[float]]:
    return [Column(name, Double, **{"nullable": False, **how}) for name in names]


def _of(table: str, name: str = "", *, ends: str = "CASCADE", nullable: bool = False) -> Column[str]:
    return Column(name or table, Text, ForeignKey(f"{table}.id", ondelete=ends), nullable=nullable)


# Accounts. `name` is as typed, `folded` canonical, `password` an argon2id hash, `role` admin, member or reader.
_table(
    "person",
    *_texts("name", "password", "role"),
    *_texts("folded", unique=True),
    *_numbers("disabled", default="0"),
    *_texts("preferences", default="{}"),
    *_times("created"),
)

# One-time links that create an account or reset the password of `person`.
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

# `previous` is the digest before the last rotation, valid for another minute.
_table(
    "session",
    *_texts("digest", unique=True),
    _of("person"),
    *_times("created", "rotated", "seen", "expires"),
    *_texts("previous", "agent", default=""),
    Index("session_person", "person"),
    Index("session_previous", "previous"),
)

# `scopes` are separated by spaces.
_table(
    "token",
    *_texts("digest", unique=True),
    _of("person"),
    *_texts("name", "scopes"),
    *_times("created"),
    *_times("expires", "used", "revoked", nullable=True),
    Index("token_person", "person"),
)

# Failed attempts to sign in, by name and by address; digests, because people type passwords into name fields.
_table("attempt", *_texts("source"), *_times("at"), Index("attempt_source", "source", "at"))

# Audit log. It outlives the person, so it has a copy of the name.
_table(
    "audit",
    *_times("at"),
    *_texts("action"),
    *_texts("person", "name", "subject", "detail", "address", default=""),
    Index("audit_at", "at"),
)

_table(
    "catalogue",
    *_texts("preference", "url"),
    *_texts("title", "note", default=""),
    *_times("created"),
    UniqueConstraint("preference", "url"),
)

# `settings` is JSON: words, examples, seeds, strategy, budget, ...; `revisit_every` is an interval such as 1d or 6h,
# or empty for never.
_table(
    "interest",
    _of("person", "owner"),
    *_texts("name", "settings"),
    *_texts("revisit_every", default=""),
    *_times("created", "changed"),
    Index("interest_owner", "owner"),
)

_table(
    "share",
    _of("interest"),
    _of("person"),
    *_texts("mode"),
    *_times("created"),
    Index("share_person", "person"),
    key=("interest", "person"),
)

# A crawl directory and its job. `state` is set by the crawl process, `wanted` by people.
_table(
    "crawl",
    _of("interest"),
    *_numbers("number", "budget"),
    *_texts("task"),  # crawl, refresh
    *_texts("wanted"),  # run, pause, stop
    *_texts("state"),  # queued, running, paused, stopped, finished, failed
    *_texts("reason", default=""),
    *_numbers("pages", "relevant", default="0"),
    *_numbers("labels_learned", default="0"),  # labels that its judge has learned from
    *_times("created", "queued"),
    *_times("started", "ended", nullable=True),
    *_times("due", nullable=True),  # time of the next refresh
    *_texts("judging", default=""),  # judge its pages again after a change of: labels, threshold, topic
    *_numbers("judge_requests", default="0"),  # counter of these requests
    *_numbers("last_label", default="0"),  # number of the last label in its log
    *_texts("judging_failed", default=""),
    *_numbers("everything", default="1"),  # a refresh visits all pages, or only due ones
    *_texts("revisit_first", default="[]"),  # JSON list: pieces of URLs that a refresh visits first
    UniqueConstraint("interest", "number"),
    Index("crawl_state", "state"),
)

# Labels, one per page: the last label is used. The crawl process appends them to the logs of an interest's crawls in
# order
# of `number`, and records the last one in `crawl.last_label`: labels wait here while that process is down, and enter
# each log once. Logs contain no names.
_table(
    "feedback",
    _of("interest"),
    *_texts("url"),
    *_numbers("number", default="0"),  # increases with every label of an interest
    Column("relevant", Integer),  # null: removed
    *_texts("title", default=""),
    _of("person", ends="SET NULL", nullable=True),
    *_times("at"),
    Column("relevance_now", Double),  # relevance and threshold just before the first label
    Column("threshold", Double),
    key=("interest", "url"),
)

# Results that a person opened; only with the person's consent.
_table(
    "opened",
    _of("interest"),
    _of("person"),
    *_texts("url"),
    *_numbers("times", default="1"),
    *_times("at"),
    key=("interest", "person", "url"),
)

# Answers to suggestions. `kind`: seed, term; `answer`: accepted, dismissed.
_table(
    "suggestion",
    _of("interest"),
    _of("person"),
    *_texts("kind", "value", "answer"),
    *_times("at"),
    key=("interest", "person", "kind", "value"),
)

# When a person last saw the changes of an interest, and the key of its feed, if there is one.
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

# Trained or uploaded models. The content is in files.
_table(
    "model",
    _of("person", "owner"),
    *_texts("name"),
    *_texts("kind"),  # classifier, rules, browsing, directory
    *_texts("state"),  # queued, training, ready, failed
    *_texts("reason", default=""),
    *_texts("sources", default="{}"),  # JSON: training data; empty for uploads
    *_texts("about", default="{}"),  # JSON metadata: classes, pages, accuracy
    *_numbers("size", default="0"),  # bytes of the file
    Column("digest", Text),  # SHA-256 of the file; null before there is one
    *_times("created"),
    *_times("ended", nullable=True),
    Index("model_owner", "owner", "created"),
)

# Directories to remove after their rows were deleted.
_table("deleted_crawl", *_texts("crawl"), *_times("at"), key=("crawl",))

_table(
    "process",
    *_texts("name"),
    *_numbers("pid"),
    *_times("started", "heartbeat"),
    *_texts("stats", default="{}"),
    key=("name",),
)
