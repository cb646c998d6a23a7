"""The tables of the server's database, for SQLite and PostgreSQL.

Times are seconds since the epoch, truth is 0 or 1, and every key is a random id (`new_id`). Of a secret, a digest is
kept. The first revision in `migrations/versions` makes them.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.schema import SchemaItem

metadata = MetaData()


def _table(name: str, *parts: SchemaItem) -> None:
    Table(name, metadata, *parts)


# Accounts. A name is kept as it was typed; `folded` is what makes it unique.
_table(
    "person",
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("folded", Text, unique=True, nullable=False),
    Column("password", Text, nullable=False),  # argon2id
    Column("role", Text, nullable=False),  # admin, member, reader
    Column("disabled", Integer, nullable=False, server_default="0"),
    Column("preferences", Text, nullable=False, server_default="{}"),
    Column("created", Double, nullable=False),
)

# A link that makes an account, once, or lets its owner choose a new password. Only a digest of its code is kept, as of
# every secret here.
_table(
    "invitation",
    Column("id", Text, primary_key=True),
    Column("digest", Text, unique=True, nullable=False),
    Column("role", Text, nullable=False),
    Column("note", Text, nullable=False, server_default=""),
    Column("made_by", Text, ForeignKey("person.id", ondelete="SET NULL")),
    # whose password it changes, null for a new account
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE")),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("used", Double),
)

_table(
    "session",
    Column("id", Text, primary_key=True),
    Column("digest", Text, unique=True, nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("created", Double, nullable=False),
    Column("rotated", Double, nullable=False),
    Column("seen", Double, nullable=False),
    Column("expires", Double, nullable=False),
    # digest before the last rotation: good for a moment longer
    Column("previous", Text, nullable=False, server_default=""),
    Column("agent", Text, nullable=False, server_default=""),
    Index("session_person", "person"),
    Index("session_previous", "previous"),
)

_table(
    "token",
    Column("id", Text, primary_key=True),
    Column("digest", Text, unique=True, nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),  # words
    Column("created", Double, nullable=False),
    Column("expires", Double),
    Column("used", Double),
    Column("revoked", Double),
    Index("token_person", "person"),
)

# Failed attempts to sign in, by name and by address.
_table(
    "attempt",
    Column("id", Text, primary_key=True),
    Column("source", Text, nullable=False),  # kind and digest: what was typed may have been a password
    Column("at", Double, nullable=False),
    Index("attempt_source", "source", "at"),
)

# What was done, by whom. Outlives the person: the name is kept as it was.
_table(
    "audit",
    Column("id", Text, primary_key=True),
    Column("at", Double, nullable=False),
    Column("person", Text, nullable=False, server_default=""),
    Column("name", Text, nullable=False, server_default=""),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False, server_default=""),
    Column("detail", Text, nullable=False, server_default=""),
    Column("address", Text, nullable=False, server_default=""),
    Index("audit_at", "at"),
)

# Seeds that the admin keeps, by preference: what a person who likes it may start from.
_table(
    "catalogue",
    Column("id", Text, primary_key=True),
    Column("preference", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("title", Text, nullable=False, server_default=""),
    Column("note", Text, nullable=False, server_default=""),
    Column("created", Double, nullable=False),
    UniqueConstraint("preference", "url"),
)

_table(
    "interest",
    Column("id", Text, primary_key=True),
    Column("owner", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("wishes", Text, nullable=False),  # JSON: words, examples, seeds, strategy, budget, ...
    # how often finished crawls are refreshed: 1d, 6h; empty: never
    Column("look_again", Text, nullable=False, server_default=""),
    Column("created", Double, nullable=False),
    Column("changed", Double, nullable=False),
    Index("interest_owner", "owner"),
)

_table(
    "share",
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("mode", Text, nullable=False),  # read, edit
    Column("created", Double, nullable=False),
    PrimaryKeyConstraint("interest", "person"),
    Index("share_person", "person"),
)

# One crawl: a directory, and what is wanted of it. `state` is the crawl process's word, `wanted` people's.
_table(
    "crawl",
    Column("id", Text, primary_key=True),
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("task", Text, nullable=False),  # crawl, refresh
    Column("wanted", Text, nullable=False),  # run, pause, stop
    Column("state", Text, nullable=False),  # queued, running, paused, stopped, finished, failed
    Column("reason", Text, nullable=False, server_default=""),
    Column("budget", Integer, nullable=False),
    Column("pages", Integer, nullable=False, server_default="0"),
    Column("found", Integer, nullable=False, server_default="0"),
    Column("lessons", Integer, nullable=False, server_default="0"),  # how much feedback its judge has learned from
    Column("created", Double, nullable=False),
    Column("queued", Double, nullable=False),
    Column("started", Double),
    Column("ended", Double),
    Column("due", Double),  # when it is to be looked at again
    # judge its pages again after a change of: labels, threshold, topic
    Column("judging", Text, nullable=False, server_default=""),
    Column("asked", Integer, nullable=False, server_default="0"),  # how often that was requested
    Column("heard", Integer, nullable=False, server_default="0"),  # number of the last label that its log has
    Column("judging_failed", Text, nullable=False, server_default=""),
    # a refresh visits all pages, or only those that are due
    Column("everything", Integer, nullable=False, server_default="1"),
    # JSON list: parts of addresses that a refresh visits first
    Column("look_first", Text, nullable=False, server_default="[]"),
    UniqueConstraint("interest", "number"),
    Index("crawl_state", "state"),
)

# Yes and no to pages, and who gave it. One label a page: the last one counts. The crawl process appends labels to the
# logs of an interest's crawls in the order of `number`, and notes in a crawl's `heard` how far it is: so a label waits
# here while that process is away, and goes into each log once. Logs know no names.
_table(
    "feedback",
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("url", Text, nullable=False),
    Column("number", Integer, nullable=False, server_default="0"),  # grows with every label of an interest
    Column("relevant", Integer),  # null: taken back
    Column("title", Text, nullable=False, server_default=""),
    Column("person", Text, ForeignKey("person.id", ondelete="SET NULL")),
    Column("at", Double, nullable=False),
    Column("worth", Double),  # the page's score just before, and the threshold of that time
    Column("threshold", Double),
    PrimaryKeyConstraint("interest", "url"),
)

# Results that a person opened; kept only while the person's preferences allow it.
_table(
    "opened",
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("url", Text, nullable=False),
    Column("times", Integer, nullable=False, server_default="1"),
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("interest", "person", "url"),
)

# What became of a suggestion.
_table(
    "suggestion",
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("kind", Text, nullable=False),  # seed, term
    Column("value", Text, nullable=False),
    Column("answer", Text, nullable=False),  # accepted, dismissed
    Column("at", Double, nullable=False),
    PrimaryKeyConstraint("interest", "person", "kind", "value"),
)

# Up to where a person has seen the changes of an interest; and the secret address of its feed, if there is one.
_table(
    "seen",
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE"), nullable=False),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("at", Double, nullable=False, server_default="0"),
    Column("feed", Text, unique=True),  # digest of the feed's key
    PrimaryKeyConstraint("interest", "person"),
)

_table(
    "notice",
    Column("id", Text, primary_key=True),
    Column("person", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("interest", Text, ForeignKey("interest.id", ondelete="CASCADE")),
    Column("kind", Text, nullable=False),  # finished, failed, changes, shared, account
    Column("text", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("read", Double),
    Index("notice_person", "person", "at"),
)

# Trained or uploaded models. The content is a file of its own.
_table(
    "model",
    Column("id", Text, primary_key=True),
    Column("owner", Text, ForeignKey("person.id", ondelete="CASCADE"), nullable=False),
    Column("name", Text, nullable=False),
    Column("kind", Text, nullable=False),  # classifier, rules, browsing, directory
    Column("state", Text, nullable=False),  # queued, training, ready, failed
    Column("reason", Text, nullable=False, server_default=""),
    # JSON: what it is trained from; empty if it was uploaded
    Column("sources", Text, nullable=False, server_default="{}"),
    Column("about", Text, nullable=False, server_default="{}"),  # JSON: classes, pages, how good it is
    Column("size", Integer, nullable=False, server_default="0"),  # bytes of the file
    Column("digest", Text),  # SHA-256 of the file; null as long as there is none
    Column("created", Double, nullable=False),
    Column("ended", Double),
    Index("model_owner", "owner", "created"),
)

# Directories whose rows are gone and that are still to be removed: also after a crash.
_table(
    "rubbish",
    Column("crawl", Text, primary_key=True),
    Column("at", Double, nullable=False),
)

# The processes, and when they were last heard of.
_table(
    "process",
    Column("name", Text, primary_key=True),
    Column("pid", Integer, nullable=False),
    Column("started", Double, nullable=False),
    Column("beat", Double, nullable=False),
    Column("told", Text, nullable=False, server_default="{}"),
)
