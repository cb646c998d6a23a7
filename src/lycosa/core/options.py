"""Every option of a crawl, once: command line, `crawl.toml`, Python API and reference are made from this.

Paper items:
    batsakis-page-size: `--max-page`. Test: spaces/test_web.py::test_pages_beyond_a_limit_are_left_alone. Departs:
        unless told so, pages of any size are read, up to 10 MB (`--max-body`).
    batsakis-1000-pages: `--budget`. Test: core/test_options.py::test_default_of_lists.
    rules-10-seconds: `--delay`. Test: web/test_politeness.py::test_crawl_delay. Departs: 1 second from the end of an
        answer, more where a host is slow or asks for it.
"""

from __future__ import annotations

import re
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path, PurePath
from typing import Any

from lycosa.core.errors import InputError
from lycosa.core.spec import parse, spell

FILES = ("file", "scores", "documents", "traits")
"""Parameters of a strategy or a space that name a file."""


HOT = 500_000
"""Known addresses that are kept in memory."""


GROUPS = {
    "topic": "Topic", "space": "Start", "strategy": "Hunt", "budget": "Budget", "hosts": "Scope", "traps": "Traps",
    "concurrency": "Politeness", "allow_network": "Fetching", "render": "Browser", "archive": "Keeping",
    "per_hour": "Freshness", "webhooks": "Telling",
}  # fmt: skip
"""What options are about, each under the first of its group."""


def option(default: Any, help: str, *, flag: str = "", metavar: str = "") -> Any:
    """A field with its help; `flag` is its name on the command line where that differs."""
    metadata = {"help": help, "flag": flag, "metavar": metavar}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


STRATEGY = "scent"
"""What to fetch next where neither the user nor the space names a strategy."""

WARC_PREFIX = "lycosa"
"""What the names of WARC files begin with."""

LARGEST = 1_000_000
"""Bytes of a file of options."""

MOST_PARTS = 16
"""Of a key in such a file; ours have one."""

_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*")

CHOICES = {"render": ("auto", "never", "always"), "render_resources": ("none", "needed", "all")}
"""Options that are one of a few words."""

RETIRED = ("learn_labels",)
"""What earlier versions wrote into files of options, and nobody needs any more: labels are always heard."""


@dataclass
class Options:
    """What to hunt, from where, how far, how politely."""

    topic: str = option("", "The topic as words, for example 'coral reef bleaching'.")
    terms: str = option(
        "",
        "The topic as a file of terms: one a line, a weight after a tab if it matters more or less than 1.",
        metavar="FILE",
    )
    examples: list[str] = option(
        [],
        "The topic by an example page, a URL or an HTML or text file; repeat it for more.",
        flag="--example",
        metavar="PAGE",
    )
    regex: str = option("", "The topic as a regular expression: pages that match are wanted.", metavar="PATTERN")
    model: str = option(
        "", "The topic by a model that 'lycosa train' made; --target says which of its classes.", metavar="FILE"
    )
    targets: list[str] = option(
        [],
        "The class, or the branch of the taxonomy, that is wanted; repeat it for more.",
        flag="--target",
        metavar="CLASS",
    )
    judge: str = option(
        "",
        "How pages are judged: vector, embedding, ... with parameters, as in vector,idf=learned (see 'lycosa "
        "topics'), or a Python class of your own, module:Class.",
        metavar="NAME",
    )
    background: str = option(
        "",
        "Word statistics to weigh words by, made by 'lycosa train background'. Default: learned from the pages.",
        metavar="FILE",
    )
    ontology: str = option(
        "",
        "What words mean, for judges and strategies that go by meaning: a directory of WordNet's files, or an ontology "
        "of yours (SKOS, or a TSV of relations). Default: WordNet, where it is found (see 'lycosa wordnet').",
        metavar="FILE",
    )
    whole_text: bool = option(
        False, "Read all that a page says, with menus, footers and comments, rather than its main part."
    )
    threshold: float = option(
        0.0,
        "Pages that score at least this count as found. 0: the judge's own (words .1, examples to .2, patterns and "
        "models .5; for others see 'lycosa topics NAME').",
    )
    space: str = option(
        "web",
        "Where to hunt: web, or social, search-form, graph with parameters, as in social,server=URL (see 'lycosa "
        "spaces'), or a Python class of your own, module:Class.",
        metavar="NAME",
    )
    seeds: list[str] = option(
        [],
        "A page to start from, or what the space begins with (see 'lycosa spaces'); repeat it for more.",
        flag="--seed",
        metavar="URL",
    )
    seed_files: list[str] = option(
        [],
        "Pages to start from: a file (URLs one a line, bookmarks, OPML, a saved sitemap or feed), or the URL of a "
        "sitemap, feed or llms.txt, whose links are followed as the topic finds them promising.",
        flag="--seeds",
        metavar="FILE",
    )
    search: list[str] = option(
        [],
        "A search engine to ask for the topic's words, whose first results are seeds: the address of its OpenSearch "
        "description, or of a query with {} where the words go; repeat it for more.",
        metavar="URL",
    )
    search_results: int = option(10, "Results of each search to start from.")
    sitemaps: bool = option(False, "Read the sitemaps that the robots.txt of the seeds' hosts name, too.")
    strategy: str = option(
        "",
        "What to fetch next: scent, best-first, breadth-first, ... with parameters, as in best-first,merge=sum (see "
        "'lycosa strategies'), or a Python class of your own, module:Class. Default: what suits the space, scent on "
        "the web.",
        metavar="NAME",
    )
    choosy: float = option(
        0.7,
        "Let a slot wait when all that could be fetched now promises less than this share of the best page whose host "
        "rests: finds more, takes longer. 0: never wait, 1: always the best. For strategies whose scores allow it.",
    )
    spread: float = option(
        0.0,
        "Prefer new sites: what a link promises is divided by (1 + pages fetched from its host) to this power. 0: any "
        "pages, wherever they are; .25 finds more sites for a few pages less. For strategies of one estimator.",
    )
    random_seed: int = option(0, "Chance is drawn from this number: the same number, the same crawl.")
    budget: int = option(1000, "Pages to fetch at most; what else is asked for, --max-requests bounds.")
    max_requests: int = option(
        0,
        "Requests to send at most, for whatever: dead links, redirects, robots.txt and retries count as well. 0: in "
        "proportion to the budget, ten a page and 100 more.",
    )
    max_bytes: int = option(0, "Stop after so many bytes, as sent; what is in flight by then is not kept. 0: no limit.")
    max_disk: int = option(
        0,
        "Stop when the crawl's directory takes so many bytes. 0: no limit but the disk's, of which 100 MB stay free.",
    )
    max_time: float = option(0.0, "Stop a run after so many seconds; what is in flight still arrives. 0: no limit.")
    host_budget: int = option(0, "Pages to fetch from any one host at most. 0: no limit.")
    hot: int = option(
        HOT,
        "Known addresses to keep in memory: those that promise most, and of each host some. The others wait on disk "
        "until they are among the best left, or a page links to them. 0: all.",
    )
    hosts: list[str] = option(
        [], "Stay on this host; repeat it for more. Default: anywhere the seeds lead.", flag="--host", metavar="HOST"
    )
    domains: list[str] = option(
        [], "Stay in this domain and below it; repeat it for more.", flag="--domain", metavar="DOMAIN"
    )
    include: list[str] = option(
        [], "Only URLs that match this regular expression; repeat it for more.", metavar="PATTERN"
    )
    exclude: list[str] = option(
        [], "No URLs that match this regular expression; repeat it for more.", metavar="PATTERN"
    )
    max_depth: int = option(0, "Links to follow from a seed at most. 0: no limit.")
    traps: bool = option(
        True, "Recognise calendars, copies, soft 404s and other traps, and fetch what looks like one last."
    )
    trust: list[str] = option(
        [], "Hold nothing back on this host, or under this address; repeat it for more.", metavar="HOST"
    )
    concurrency: int = option(16, "Requests in flight at once, over all hosts.")
    delay: float = option(1.0, "Seconds to leave a host alone after each answer; more if it is slow or asks for more.")
    per_host: int = option(1, "Requests at once to one host.")
    address_delay: float = option(
        0.25,
        "Seconds between requests to one address, whatever the host; at most the delay, and not in allowed networks.",
    )
    patience: float = option(
        300.0, "End the run when every host left wants to be left alone for more than so many seconds."
    )
    attempts: int = option(3, "Times to try a page whose host is busy or does not answer.")
    follow_nofollow: bool = option(False, "Follow links marked nofollow, too.")
    user_agent: str = option("", "How to introduce ourselves. Default: Lycosa and its version.")
    contact: str = option("", "A URL or mail address that hosts can turn to; becomes part of the user agent.")
    identity: str = option(
        "",
        "Sign every request as the identity in this file, so that hosts can tell it is you: see 'lycosa identity'.",
        metavar="FILE",
    )
    respect_opt_outs: str = option(
        "",
        "Leave out pages whose owners don't want models trained on them (training), or any use that they speak "
        "against (all). Default: such opt-outs are only noted.",
        metavar="WHICH",
    )
    allow_network: list[str] = option(
        [],
        "A network that may be crawled although it is not public, such as 127.0.0.0/8; repeat it for more.",
        metavar="CIDR",
    )
    languages: list[str] = option(
        [],
        "Only pages in this language (en, de, ...) count as found; repeat it for more.",
        flag="--language",
        metavar="CODE",
    )
    accept: list[str] = option(
        [], "Archive this content type, too, even if its text can't be read; repeat it for more.", metavar="TYPE"
    )
    documents: str = option(
        "pdf,office",
        "Documents that are fetched and read like pages: pdf, office (DOCX, ODT, EPUB, RTF), both with a comma between "
        "them, or none. Text and Markdown always are.",
        metavar="KINDS",
    )
    timeout: float = option(60.0, "Seconds that one request may take.")
    min_rate: float = option(500.0, "Bytes a second that an answer must keep up after ten seconds.")
    max_body: int = option(10_000_000, "Bytes of a body at most, as sent; the rest is cut off.")
    max_page: int = option(
        0,
        "Leave pages alone that have more bytes than this once unpacked. 0: read as much of them as --max-body allows.",
    )
    readers: int = option(
        0,
        "Processes that unpack and read pages beside the one that judges and picks, for more than one core; what is "
        "found stays the same. 0: none, one process does it all.",
    )
    proxy: str = option(
        "",
        "Send every request through this HTTP proxy, such as http://127.0.0.1:8080. It looks up the host names, too.",
        metavar="URL",
    )
    proxy_ca: str = option(
        "", "Trust the certificates that this file vouches for (PEM): the proxy's own.", metavar="FILE"
    )
    headers: list[str] = option(
        [],
        "A header for the requests to one host, as 'HOST NAME: VALUE'; $WORD in it is a word of the environment. Never "
        "logged or archived, and kept in crawl.toml only with such a word; repeat it for more.",
        flag="--header",
        metavar="HEADER",
    )
    cookies: str = option(
        "",
        "Cookies for the hosts that they belong to: a file as browsers and curl export it (cookies.txt). Never logged "
        "or archived.",
        metavar="FILE",
    )
    render: str = option(
        "auto",
        "Whether pages are rendered by a browser, too: auto (where that brings more text or links), never, always. "
        "Takes Chromium, and the extra 'browser'.",
        metavar="WHEN",
    )
    render_resources: str = option(
        "needed",
        "What is archived of what rendered pages fetch: none, needed (scripts, styles, data), or all (pictures, fonts "
        "and media are then fetched, too).",
        metavar="WHICH",
    )
    render_time: float = option(
        20.0, "Seconds that a page may take to render; what it waits for the pauses of hosts is not counted."
    )
    render_requests: int = option(60, "Requests that a page may send while it is rendered.")
    render_bytes: int = option(10_000_000, "Bytes that a page may fetch while it is rendered.")
    render_at_once: int = option(2, "Pages that are rendered at the same time.")
    render_more: str = option(
        "",
        "Click what this CSS selector finds, such as 'button.more', up to ten times. Default: nothing is clicked.",
        metavar="SELECTOR",
    )
    render_trackers: bool = option(False, "Let rendered pages fetch from well-known hosts of ads and trackers, too.")
    browser: str = option("", "The Chromium to render with. Default: the one that is installed.", metavar="FILE")
    browser_profile: str = option(
        "",
        "Render with this profile of yours, a directory; its cookies and storage are used and changed. Default: an "
        "empty one for each page.",
        metavar="DIR",
    )
    browser_pages: int = option(200, "Pages that a browser renders before it is ended, and another one started.")
    browser_memory: int = option(700, "Megabytes that a browser may have by then.")
    requisites: bool = option(
        False, "Fetch what relevant pages need to be shown, too: style sheets, scripts, pictures, fonts."
    )
    requisites_most: int = option(100, "Of these, for one page at most.")
    requisites_bytes: int = option(1_000_000_000, "Bytes of all of them together; 0: no limit.")
    archive: bool = option(True, "Keep what was fetched as WARC files.", flag="--with-archive")
    archive_to: str = option(
        "",
        "Move WARC files that are full to this address of fsspec, such as s3://bucket/reefs; they are kept here until "
        "they are safe there, and read from there.",
        flag="--archive",
        metavar="URL",
    )
    dedupe: list[str] = option(
        [],
        "Archive nothing that an earlier crawl has, but refer to it: the crawl's directory, or an index (CDXJ) of "
        "other WARC files; repeat it for more. What was crawled before is read from there.",
        metavar="DIR",
    )
    index: bool = option(
        True,
        "From 20,000 pages on, keep what searches and shows the crawl up to date, in a process of low priority beside "
        "it (see 'lycosa index').",
    )
    rotate: int = option(1_000_000_000, "Start a new WARC file when one has this many bytes.")
    warc_prefix: str = option(
        WARC_PREFIX, "What the names of WARC files begin with; date, number and host follow.", metavar="NAME"
    )
    operator: str = option(
        "", "Who crawls: a person or an institution, as the WARC files are to name it.", metavar="NAME"
    )
    log_file: str = option(
        "",
        "Where a line is written for each request; 'none': nowhere. Default: crawl.log in the crawl's directory.",
        metavar="FILE",
    )
    log_format: str = option(
        "text", "How: text, in the columns of Heritrix's crawl.log, or json, one object a line.", metavar="FORM"
    )
    log_rotate: int = option(
        100_000_000, "Rename that file and begin another when it would have more than this many bytes. 0: never."
    )
    per_hour: float = option(
        60.0, "Requests an hour, to all hosts together: what a watch sends at most, and what the schedule plans with."
    )
    explore: float = option(
        0.0,
        "Share of these requests that goes to new pages, by the crawl's strategy; the rest keeps the known ones fresh.",
        metavar="SHARE",
    )
    schedule: str = option(
        "automatic",
        "When pages are due: automatic, adaptive, fixed or proportional, with parameters, as in fixed,every=1d.",
        metavar="NAME",
    )
    detect: list[str] = option(
        [],
        "How changes are noticed: digest, paper, main-text, simhash, tree, links, relevance, images; repeat it for "
        "more. Default: main-text, tree, links, relevance.",
        metavar="NAME",
    )
    frequently: list[str] = option(
        [],
        "Addresses that match this pattern are looked at as often as they change, and once in --frequent at least.",
        metavar="PATTERN",
    )
    infrequently: list[str] = option(
        [],
        "Addresses that match this are looked at once in --infrequent, however relevant and however changeable.",
        metavar="PATTERN",
    )
    always: list[str] = option(
        [], "Addresses that match this are looked at in every refresh, and never taken from a cache.", metavar="PATTERN"
    )
    frequent: str = option("1d", "How often 'frequently' is at least.", metavar="TIME")
    infrequent: str = option("30d", "How often 'infrequently' is.", metavar="TIME")
    watch_all: bool = option(False, "Keep every page fresh, not only the finds, the seeds, and sitemaps and feeds.")
    webhooks: list[str] = option(
        [],
        "Tell this address of changes: JSON by POST, signed with the environment's LYCOSA_WEBHOOK_SECRET.",
        flag="--webhook",
        metavar="URL",
    )
    mail_to: list[str] = option([], "Send a digest of changes to this address; repeat it for more.", metavar="ADDRESS")
    mail_from: str = option("", "The sender of digests. Default: the first recipient.")
    smtp: str = option(
        "",
        "The mail server, as in smtp://user@mail.example.org:587; its password is the environment's "
        "LYCOSA_SMTP_PASSWORD.",
        metavar="URL",
    )
    digest_every: str = option("1d", "How often a digest is sent at most.", metavar="TIME")
    feeds: bool = option(True, "Write changes.atom and changes.json into the directory.")
    feed_url: str = option("", "Where the feeds will be published: their own address, for readers.", metavar="URL")
    tell_kinds: list[str] = option(
        [],
        "Tell only of changes of this kind: topic, text, structure, link; repeat it for more.",
        flag="--tell-kind",
        metavar="KIND",
    )
    tell_at_least: float = option(0.0, "Tell only of changes of this magnitude, from 0 to 1, or more.", metavar="SHARE")

    @property
    def subject(self) -> str:
        """What is hunted, in a few words."""
        if self.examples and not self.topic:
            return f"pages like {self.examples[0]}"
        if self.model and not self.topic:
            return ", ".join(self.targets) or f"what {Path(self.model).name} knows"
        told = self.topic or self.regex or (f"the terms in {self.terms}" if self.terms else "")
        return told or (self.space if self.space != "web" else self.judge)

    def files(self) -> dict[str, str]:
        """The files that a crawl goes by, each under the name of its option."""
        found = {name: str(getattr(self, name)) for name in ("model", "background") if getattr(self, name)}
        if self.ontology and not Path(self.ontology).is_dir():  # WordNet's files are no part of a crawl
            found["ontology"] = self.ontology
        _, given = parse(self.strategy)
        of_strategy = [given[key] for key in FILES if given.get(key)]
        return {**found, "strategy": of_strategy[0]} if of_strategy else found

    def with_files(self, names: Mapping[str, str]) -> Options:
        """The same with these files in their place."""
        changed: dict[str, Any] = dict(names)
        if "strategy" in changed:
            name, given = parse(self.strategy)
            key = next(key for key in FILES if given.get(key))
            changed["strategy"] = spell(name, {**given, key: changed["strategy"]})
        return replace(self, **changed)

    def check(self) -> None:
        """Refuse values that can't work, each with its remedy."""
        least: dict[str, float] = {
            "budget": 1, "max_requests": 0, "max_bytes": 0, "max_disk": 0, "max_time": 0, "host_budget": 0,
            "max_depth": 0,
            "concurrency": 1, "delay": 0, "per_host": 1, "address_delay": 0, "patience": 0, "attempts": 1,
            "timeout": 0.1, "min_rate": 0, "max_body": 1, "max_page": 0, "rotate": 1, "threshold": 0, "choosy": 0,
            "spread": 0,
            "per_hour": 1e-3, "explore": 0, "tell_at_least": 0, "search_results": 1,
            "readers": 0, "log_rotate": 0, "hot": 0,
            "render_time": 0.1, "render_requests": 0, "render_bytes": 0, "render_at_once": 1,
            "browser_pages": 1, "browser_memory": 100, "requisites_most": 1, "requisites_bytes": 0,
        }  # fmt: skip
        for name, low in least.items():
            value = getattr(self, name)
            if not low <= value < float("inf"):
                raise InputError(f"{flag_of(name)} is {value}: it has to be {low} or more")
        if self.respect_opt_outs not in ("", "training", "all"):
            raise InputError(f"--respect-opt-outs is {self.respect_opt_outs!r}: choose training or all")
        if self.choosy > 1:
            raise InputError(f"--choosy is {self.choosy}: it is a share, from 0 to 1")
        if self.explore > 1:
            raise InputError(f"--explore is {self.explore}: it is a share, from 0 to 1")
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,59}", self.warc_prefix, re.ASCII):
            raise InputError(
                f"--warc-prefix is {self.warc_prefix!r}: up to 60 letters, digits, dots, hyphens and underscores"
            )
        if self.log_format not in ("text", "json"):
            raise InputError(f"--log-format is {self.log_format!r}: choose text or json")
        if not self.operator.isprintable():
            raise InputError(f"--operator is {self.operator!r}: it has to be one line of text")
        self._check_choices()
        if self.feed_url and not self.feed_url.startswith(("http://", "https://")):
            raise InputError(f"--feed-url is {self.feed_url!r}: write it like https://example.org/reefs/")

    def _check_choices(self) -> None:
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{flag_of(name)} is {getattr(self, name)!r}: it has to be {', '.join(choices)}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], source: str) -> Options:
        """Options from a parsed TOML file; a wrong key or type is an error that names it."""
        kinds = typing.get_type_hints(cls)
        known = {f.name for f in fields(cls)}
        for key, value in values.items():
            if key not in known:
                near = get_close_matches(key, known, 1)
                meant = f"did you mean {near[0]!r}?" if near else f"the options are: {', '.join(sorted(known))}"
                raise InputError(f"{source}: unknown option {key!r}; {meant}")
            values = {**values, key: _typed(value, kinds[key], f"{source}: {key}")}
        return cls(**values)

    @classmethod
    def load(cls, path: Path) -> Options:
        """Read a configuration file."""
        try:
            with open(path, "rb") as file:
                text = file.read(LARGEST + 1)
            if len(text) > LARGEST:
                raise InputError(f"{path} has more than {LARGEST:,} bytes: it is no file of options")
            told = tomllib.loads(_flat(text.decode()))
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, brackets in brackets
            raise InputError(f"{path} is not valid TOML: {error}") from error
        return cls.from_mapping({key: value for key, value in told.items() if key not in RETIRED}, str(path))

    def to_toml(self) -> str:
        """The options as a file that explains itself: what is set, and, commented out, what could be."""
        lines = ["# A crawl by Lycosa. Change what you like, then go on with: lycosa resume <this directory>"]
        for item in fields(self):
            if group := GROUPS.get(item.name):
                lines += ["", f"# -- {group} --"]
            value = getattr(self, item.name)
            mark = "# " if value == default_of(item) else ""
            lines += [f"# {item.metadata['help']}", f"{mark}{item.name} = {toml_of(value)}"]
        return "\n".join(lines) + "\n"


def _flat(text: str) -> str:
    """TOML without keys of very many parts: a parser takes memory with the square of them.

    >>> _flat("a.b = 'c.d' # e.g. f.g")
    "a.b = 'c.d' # e.g. f.g"
    """
    bare = _QUOTED.sub("_", text)
    if any(part.count(".") > MOST_PARTS for part in re.split(r"[=,\n\[\]{}]", bare)):
        raise ValueError(f"a key has more than {MOST_PARTS} parts")
    return text


def describe() -> Iterator[tuple[str, str, type, Any, str, str]]:
    """Name, flag, type, default, group and help of each option."""
    kinds, group = typing.get_type_hints(Options), ""
    for item in fields(Options):
        group = GROUPS.get(item.name, group)
        yield item.name, flag_of(item.name), kinds[item.name], default_of(item), group, item.metadata["help"]


def flag_of(name: str) -> str:
    """The option's name on the command line.

    >>> flag_of("per_host"), flag_of("hosts"), flag_of("archive")
    ('--per-host', '--host', '--with-archive')
    """
    return Options.__dataclass_fields__[name].metadata["flag"] or "--" + name.replace("_", "-")


def default_of(item: Field[Any]) -> Any:
    """A field's default, made if it has to be."""
    return [] if isinstance(item.default_factory, types.FunctionType) else item.default


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == list[str]:
        if isinstance(value, str | PurePath):
            return [str(value)]
        if isinstance(value, Sequence) and all(isinstance(item, str | PurePath) for item in value):
            return list(map(str, value))
        raise InputError(f"{where} is {value!r}: it has to be a list of strings")
    if kind is str and isinstance(value, PurePath):
        return str(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError(f"{where} is {value!r}: it has to be of type {kind.__name__}")
    return value


def toml_of(value: Any) -> str:
    """A value as TOML has it.

    >>> toml_of(["a \\"b\\"", True, 0.5])
    '["a \\\\"b\\\\"", true, 0.5]'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + ", ".join(toml_of(item) for item in value) + "]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'
    return repr(value)
