"""All options of a crawl; the command line, `crawl.toml`, the Python API and the reference are generated from them."""

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
from lycosa.core.spec import format_spec, parse_spec

FILES = ("file", "scores", "documents", "traits")  # parameters of a strategy or a space that name a file
DEFAULT_MEMORY_ROWS = 500_000  # known URLs kept in memory

# Title of each group, by its first option
GROUPS = {
    "topic": "Topic", "space": "Where to start", "strategy": "What to fetch next", "budget": "How much",
    "hosts": "Where to go", "concurrency": "Politeness", "allow_network": "Fetching", "render": "Browser",
    "archive": "Output", "per_hour": "Freshness", "notify": "Notifications",
}  # fmt: skip


def option(
    default: Any, help: str, *, flag: str = "", metavar: str = "", typed: bool = True, common: bool = False
) -> Any:
    """Return a dataclass field with its help; `flag` is its command-line name where that differs.

    Options that are not `typed` have no flag; they are set in `crawl.toml` and from Python. `lycosa crawl --help` lists
    the `common` ones, `--help-all` all.
    """
    metadata = {"help": help, "flag": flag, "metavar": metavar, "typed": typed, "common": common}
    if isinstance(default, list):
        return field(default_factory=lambda: list(default), metadata=metadata)
    return field(default=default, metadata=metadata)


DEFAULT_STRATEGY = "scent"  # if neither the user nor the space names a strategy
WARC_PREFIX = "lycosa"
MAX_FILE_BYTES = 1_000_000  # maximum bytes of a configuration file
MAX_KEY_PARTS = 16  # maximum parts of a dotted key in a configuration file; options have a single part

_QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*")

# Options with a fixed set of values.
CHOICES = {
    "render": ("auto", "never", "always"), "render_resources": ("none", "needed", "all"),
    "respect_opt_outs": ("", "training", "all"),
}  # fmt: skip


@dataclass
class Options:
    """Options of a crawl, one field per option with its help text."""

    topic: str = option("", "The topic in words, for example 'coral reef bleaching'.", common=True)
    terms: str = option(
        "",
        "The topic as a file of terms: one per line, optionally with a weight after a tab (default 1).",
        metavar="FILE",
    )
    examples: list[str] = option(
        [],
        "The topic as an example page: a URL, or an HTML or text file; repeatable.",
        flag="--example",
        metavar="PAGE",
        common=True,
    )
    regex: str = option("", "The topic as a regular expression: matching pages are relevant.", metavar="PATTERN")
    model: str = option(
        "",
        "The topic as a model made by 'lycosa train'; choose its classes with --target.",
        metavar="FILE",
        common=True,
    )
    targets: list[str] = option(
        [], "The relevant class, or branch of the taxonomy; repeatable.", flag="--target", metavar="CLASS", common=True
    )
    judge: str = option(
        "",
        "How pages are judged: probability, vector, embedding, ..., with parameters as in "
        "vector,idf=learned (see 'lycosa list judges'), or your own Python class, module:Class.",
        metavar="NAME",
        common=True,
    )
    background: str = option(
        "",
        "Word statistics to weight words by, a file of lycosa.training.count_words. Default: learned from the pages.",
        metavar="FILE",
    )
    ontology: str = option(
        "",
        "Word meanings, for judges and strategies that use them: a directory of WordNet's files, or your "
        "own ontology (a TSV of relations). Default: WordNet, if installed (see 'lycosa doctor').",
        metavar="FILE",
    )
    whole_text: bool = option(
        False, "Judge the whole page, including menus, footers and comments, instead of its main content."
    )
    threshold: float = option(
        0.0,
        "Minimum relevance of relevant pages. 0 uses the judge's own threshold (words .1, examples up to "
        ".2, patterns and models .5; for others see 'lycosa list judges NAME').",
        common=True,
    )
    languages: list[str] = option(
        [],
        "Only pages in this language (en, de, ...) count as relevant; repeatable.",
        flag="--language",
        metavar="CODE",
        common=True,
    )
    space: str = option(
        "web",
        "Where to crawl: web, or social, search-form, graph, ..., with parameters as in social,server=URL "
        "(see 'lycosa list spaces'), or your own Python class, module:Class.",
        metavar="NAME",
        common=True,
    )
    seeds: list[str] = option(
        [],
        "A seed: a page on the topic to start from, or another start node of the space (see 'lycosa list spaces'); "
        "repeatable.",
        flag="--seed",
        metavar="URL",
        common=True,
    )
    portals: list[str] = option(
        [],
        "A page to start from that only leads on: not an example of what is wanted; repeatable.",
        flag="--portal",
        metavar="URL",
    )
    seed_files: list[str] = option(
        [],
        "Seeds from a file (one URL per line, bookmarks, OPML, a saved sitemap or feed), or from the URL "
        "of a sitemap, feed or llms.txt, whose links are followed if they look promising.",
        flag="--seeds",
        metavar="FILE",
        common=True,
    )
    search: list[str] = option(
        [],
        "Use the first results of a search engine for the topic's words as seeds: the URL of a "
        "query with {} in place of the words; repeatable.",
        metavar="URL",
    )
    search_results: int = option(10, "Results of each search to use as seeds.", typed=False)
    sitemaps: bool = option(False, "Also read the sitemaps listed in the robots.txt of the seeds' hosts.")
    strategy: str = option(
        "",
        "How to choose the next page: scent, best-first, breadth-first, ..., with parameters as in "
        "best-first,merge=sum (see 'lycosa list strategies'), or your own Python class, module:Class. Default: "
        "the one that suits the space; scent on the web.",
        metavar="NAME",
        common=True,
    )
    choosy: float = option(
        0.7,
        "Wait for a busy host if every page that could be fetched now promises less than this share of "
        "that host's best page: more relevant pages, but slower. 0: never wait; 1: always take the best. "
        "For strategies whose priorities allow it.",
        typed=False,
    )
    spread: float = option(
        0.0,
        "Prefer new sites: a link's priority is divided by (1 + pages fetched from its host) to this power. "
        "0: no preference; .25 reaches more sites at the cost of a few relevant pages. For strategies with "
        "one estimator.",
    )
    random_seed: int = option(0, "Random seed: the same number gives the same crawl.")
    budget: int = option(1000, "Maximum number of pages to fetch; --max-requests limits all requests.", common=True)
    max_requests: int = option(
        0,
        "Maximum number of requests of any kind, including dead links, redirects, robots.txt and retries. "
        "0: ten per page of the budget, plus 100.",
    )
    max_bytes: int = option(
        0, "Stop after this many bytes, as transferred; requests in flight are discarded. 0: no limit."
    )
    max_disk: int = option(
        0,
        "Stop when the crawl's directory reaches this many bytes. 0: stop when less than 100 MB of the disk are free.",
    )
    max_time: float = option(
        0.0, "Stop after this many seconds; requests in flight are completed. 0: no limit.", common=True
    )
    until: list[str] = option(
        [],
        "Stop early when there is enough: exhausted (none of the last 200 pages is relevant), relevant=N pages, "
        "harvest=.02 (less than this share of the last 200 pages is relevant), or your own rule, module:Class; "
        "repeatable. Default: only remark on it.",
        metavar="RULE",
        common=True,
    )
    host_budget: int = option(0, "Maximum number of pages per host. 0: no limit.", common=True)
    memory_rows: int = option(
        DEFAULT_MEMORY_ROWS,
        "Known URLs to keep in memory: the most promising ones, and some of each host. The others "
        "wait on disk until they are among the best left or a page links to them. 0: all.",
        typed=False,
    )
    hosts: list[str] = option(
        [],
        "Stay on this host; repeatable. Default: wherever the seeds lead.",
        flag="--host",
        metavar="HOST",
        common=True,
    )
    domains: list[str] = option(
        [], "Stay in this domain and its subdomains; repeatable.", flag="--domain", metavar="DOMAIN", common=True
    )
    include: list[str] = option(
        [], "Only URLs that match this regular expression; repeatable.", metavar="PATTERN", common=True
    )
    exclude: list[str] = option(
        [], "Skip URLs that match this regular expression; repeatable.", metavar="PATTERN", common=True
    )
    max_depth: int = option(0, "Maximum distance from a seed, in links. 0: no limit.", common=True)
    traps: bool = option(True, "Recognise calendars, copies, soft 404s and other traps, and fetch likely traps last.")
    trust: list[str] = option(
        [], "Never treat this host, or URLs that start with this URL, as a trap; repeatable.", metavar="HOST"
    )
    concurrency: int = option(16, "Maximum concurrent requests, over all hosts.")
    delay: float = option(
        1.0,
        "Seconds to wait after each response before the next request to the same host; more if the host is "
        "slow or requests it.",
        common=True,
    )
    per_host: int = option(1, "Maximum concurrent requests to one host.")
    address_delay: float = option(
        0.25,
        "Seconds between requests to one IP address, whatever the host; at most the delay, and not in "
        "allowed networks.",
        typed=False,
    )
    patience: float = option(
        300.0, "End the run when every remaining host would have to wait longer than this many seconds.", typed=False
    )
    attempts: int = option(3, "Number of attempts for a page whose host is busy or does not respond.", typed=False)
    follow_nofollow: bool = option(False, "Also follow links marked nofollow.")
    user_agent: str = option("", "User agent to send. Default: Lycosa and its version.")
    contact: str = option(
        "", "A URL or email address for site owners to contact you; becomes part of the user agent.", common=True
    )
    identity: str = option(
        "",
        "Sign every request with the identity in this file, so that sites can verify it: see 'lycosa identity'.",
        metavar="FILE",
    )
    respect_opt_outs: str = option(
        "",
        "Leave out pages whose owners opted out of AI training (training) or of any other use (all). "
        "Default: opt-outs are only noted.",
        metavar="WHICH",
    )
    allow_network: list[str] = option(
        [], "A private network that may be crawled, such as 127.0.0.0/8; repeatable.", metavar="CIDR"
    )
    accept: list[str] = option(
        [], "Also archive this content type, even if its text can't be read; repeatable.", metavar="TYPE"
    )
    documents: str = option(
        "pdf,office",
        "Documents to read like pages: pdf, office (DOCX, ODT, EPUB, RTF), both separated by a comma, or "
        "none. Text and Markdown are always read.",
        metavar="KINDS",
    )
    timeout: float = option(60.0, "Maximum duration of a request in seconds.", typed=False)
    min_rate: float = option(500.0, "Minimum bytes per second of a response after the first ten seconds.", typed=False)
    max_body: int = option(10_000_000, "Maximum bytes of a body, as transferred; the rest is cut off.")
    max_page: int = option(
        0,
        "Skip pages with more bytes than this once unpacked. 0: read as much of them as --max-body allows.",
        typed=False,
    )
    readers: int = option(
        0,
        "Additional processes that unpack and parse pages, to use more than one core; the results stay the "
        "same. 0: none.",
    )
    proxy: str = option(
        "",
        "Send every request through this HTTP proxy, such as http://127.0.0.1:8080. The proxy also "
        "resolves host names.",
        metavar="URL",
    )
    proxy_ca: str = option(
        "", "Trust the certificate authorities in this PEM file, such as the proxy's own.", metavar="FILE"
    )
    headers: list[str] = option(
        [],
        "A header for requests to one host, as 'HOST NAME: VALUE'; $NAME in it is replaced by the "
        "environment variable. Never logged or archived, and saved in crawl.toml only if it uses a "
        "variable; repeatable.",
        flag="--header",
        metavar="HEADER",
    )
    cookies: str = option(
        "",
        "Cookies for the hosts they belong to: a cookies.txt file as exported by browsers and curl. Never "
        "logged or archived.",
        metavar="FILE",
    )
    render: str = option(
        "auto",
        "Whether to render pages in a browser: auto (where that yields more text or links), never or "
        "always. Needs Chromium and the extra 'browser'.",
        metavar="WHEN",
        common=True,
    )
    render_resources: str = option(
        "needed",
        "What to archive of the resources that rendered pages fetch: none, needed (scripts, styles, data) "
        "or all (also fetches images, fonts and media).",
        metavar="WHICH",
    )
    render_time: float = option(
        20.0, "Maximum time to render a page in seconds, not counting politeness pauses.", typed=False
    )
    render_requests: int = option(60, "Maximum requests per rendered page.", typed=False)
    render_bytes: int = option(10_000_000, "Maximum bytes per rendered page.", typed=False)
    render_at_once: int = option(2, "Pages to render at the same time.", typed=False)
    render_trackers: bool = option(
        False, "Let rendered pages fetch from well-known ad and tracking hosts.", typed=False
    )
    browser: str = option("", "The Chromium to render with. Default: the installed one.", metavar="FILE")
    browser_pages: int = option(200, "Pages to render before the browser is restarted.", typed=False)
    page_assets: bool = option(
        False, "Also fetch what relevant pages need to be displayed: style sheets, scripts, images, fonts."
    )
    max_page_assets: int = option(100, "Maximum number of these per page.", typed=False)
    max_asset_bytes: int = option(1_000_000_000, "Maximum bytes of all of these; 0: no limit.", typed=False)
    archive: bool = option(True, "Archive everything fetched as WARC files.")
    index: bool = option(
        True,
        "From 20,000 pages on, keep the search index and caches up to date in a separate low-priority process.",
        typed=False,
    )
    rotate: int = option(1_000_000_000, "Start a new WARC file at this many bytes.")
    warc_prefix: str = option(WARC_PREFIX, "Prefix of WARC file names; date, number and host follow.", metavar="NAME")
    operator: str = option(
        "", "Who runs the crawl: a person or institution, recorded in the WARC files.", metavar="NAME"
    )
    log_file: str = option(
        "",
        "Log file with one line per request; 'none' for no log. Default: crawl.log in the crawl's directory.",
        metavar="FILE",
    )
    per_hour: float = option(
        60.0, "Requests per hour, over all hosts: the limit for watching, and the basis of the schedule."
    )
    explore: float = option(
        0.0,
        "Share of these requests for new pages, chosen by the crawl's strategy; the rest keeps known pages fresh.",
        metavar="SHARE",
    )
    schedule: str = option(
        "automatic",
        "When pages are due for a revisit: automatic or fixed, with parameters as in fixed,every=1d.",
        metavar="NAME",
    )
    detect: list[str] = option(
        [],
        "How changes are detected: digest, paper, main-text, simhash, tree, links, relevance; "
        "repeatable. Default: main-text, tree, links, relevance.",
        metavar="NAME",
    )
    frequently: list[str] = option(
        [], "Revisit matching URLs as often as they change, and at least once a day.", metavar="PATTERN"
    )
    infrequently: list[str] = option(
        [],
        "Revisit matching URLs once a month, however relevant they are or often they change.",
        metavar="PATTERN",
    )
    always: list[str] = option([], "Revisit matching URLs in every refresh, bypassing caches.", metavar="PATTERN")
    frequent: str = option("1d", "Longest interval for 'frequently'.", metavar="TIME", typed=False)
    infrequent: str = option("30d", "Interval for 'infrequently'.", metavar="TIME", typed=False)
    watch_all: bool = option(False, "Keep every page fresh, not only relevant pages, seeds, sitemaps and feeds.")
    notify: list[str] = option(
        [],
        "Send changes to this apprise URL, such as mailto://... or tgram://...; repeatable. Not saved "
        "in crawl.toml, as it may hold a password, unless it is an environment variable, as in '$MY_MAIL'.",
        metavar="URL",
    )
    notify_every: str = option("1h", "Shortest interval between messages of a watch.", metavar="TIME")
    feeds: bool = option(True, "Write changes.atom to the crawl's directory.")
    feed_url: str = option("", "Public URL of the feeds, for feed readers.", metavar="URL")
    tell_kinds: list[str] = option(
        [],
        "Announce only changes of this kind: topic, text, structure, link; repeatable.",
        flag="--tell-kind",
        metavar="KIND",
    )
    tell_at_least: float = option(
        0.0, "Announce only changes of at least this magnitude, from 0 to 1.", metavar="SHARE", typed=False
    )

    @property
    def subject(self) -> str:
        """Short description of the topic, for titles and lists."""
        if self.examples and not self.topic:
            return f"pages like {self.examples[0]}"
        if self.model and not self.topic:
            return ", ".join(self.targets) or f"the topics of {Path(self.model).name}"
        table = self.topic or self.regex or (f"the terms in {self.terms}" if self.terms else "")
        return table or (self.space if self.space != "web" else self.judge)

    def files(self) -> dict[str, str]:
        """Return the files that a crawl depends on, by option name."""
        files = {name: str(getattr(self, name)) for name in ("model", "background") if getattr(self, name)}
        if self.ontology and not Path(self.ontology).is_dir():  # WordNet's files are not copied into a crawl
            files["ontology"] = self.ontology
        _, given = parse_spec(self.strategy)
        strategy_files = [given[key] for key in FILES if given.get(key)]
        return {**files, "strategy": strategy_files[0]} if strategy_files else files

    def with_files(self, names: Mapping[str, str]) -> Options:
        """Return a copy with other paths of these files."""
        changed: dict[str, Any] = dict(names)
        if "strategy" in changed:
            name, given = parse_spec(self.strategy)
            key = next(key for key in FILES if given.get(key))
            changed["strategy"] = format_spec(name, {**given, key: changed["strategy"]})
        return replace(self, **changed)

    def check(self) -> None:
        """Raise InputError for invalid values."""
        minimum: dict[str, float] = {
            "budget": 1, "max_requests": 0, "max_bytes": 0, "max_disk": 0, "max_time": 0, "host_budget": 0,
            "max_depth": 0, "concurrency": 1, "delay": 0, "per_host": 1, "address_delay": 0, "patience": 0,
            "attempts": 1, "timeout": 0.1, "min_rate": 0, "max_body": 1, "max_page": 0, "rotate": 1, "threshold": 0,
            "choosy": 0, "spread": 0, "per_hour": 1e-3, "explore": 0, "tell_at_least": 0, "search_results": 1,
            "readers": 0, "memory_rows": 0,
            "render_time": 0.1, "render_requests": 0, "render_bytes": 0, "render_at_once": 1,
            "browser_pages": 1, "max_page_assets": 1, "max_asset_bytes": 0,
        }  # fmt: skip
        for name, lower in minimum.items():
            value = getattr(self, name)
            if not lower <= value < float("inf"):
                raise InputError("out-of-range", f"{flag_of(name)} is {value}: it must be {lower} or more")
        for name in ("choosy", "explore"):
            if getattr(self, name) > 1:
                raise InputError("out-of-range", f"{flag_of(name)} is {getattr(self, name)}: write a share from 0 to 1")
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]{0,59}", self.warc_prefix, re.ASCII):
            raise InputError("bad-value", f"--warc-prefix is {self.warc_prefix!r}: use up to 60 letters, digits, ._-")
        if not self.operator.isprintable():
            raise InputError("bad-value", f"--operator is {self.operator!r}: it must be one line of text")
        self._check_choices()
        if self.feed_url and not self.feed_url.startswith(("http://", "https://")):
            raise InputError("bad-url", f"--feed-url is {self.feed_url!r}: write it like https://example.org/reefs/")

    def _check_choices(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                wanted = " or ".join(filter(None, choices))
                raise InputError("bad-value", f"{flag_of(name)} is {value!r}: choose {wanted}")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any], source: str) -> Options:
        """Create options from parsed TOML; raise InputError for unknown keys and wrong types."""
        kinds = typing.get_type_hints(cls)
        known = {f.name for f in fields(cls)}
        for key, value in values.items():
            if key not in known:
                near = get_close_matches(key, known, 1)
                meant = f"did you mean {near[0]!r}?" if near else f"the options are: {', '.join(sorted(known))}"
                raise InputError("unknown-option", f"{source}: unknown option {key!r}; {meant}")
            values = {**values, key: _typed(value, kinds[key], f"{source}: {key}")}
        return cls(**values)

    @classmethod
    def load(cls, path: Path) -> Options:
        try:
            with open(path, "rb") as file:
                text = file.read(MAX_FILE_BYTES + 1)
            if len(text) > MAX_FILE_BYTES:
                raise InputError("too-large", f"{path} has more than {MAX_FILE_BYTES:,} bytes: is it a crawl.toml?")
            table = tomllib.loads(_flat(text.decode()))
        except OSError as error:
            raise InputError("unreadable-file", f"cannot read {path}: {error.strerror}") from error
        except (ValueError, RecursionError) as error:  # also for huge numbers and deep nesting
            raise InputError("bad-file", f"{path} is not valid TOML: {error}") from error
        return cls.from_mapping(table, str(path))

    def to_toml(self) -> str:
        """Return a commented TOML file; options with their default value are commented out."""
        lines = ["# A crawl by Lycosa. Edit the options, then continue with: lycosa resume <this directory>"]
        for item in fields(self):
            if group := GROUPS.get(item.name):
                lines += ["", f"# -- {group} --"]
            value = getattr(self, item.name)
            mark = "# " if value == default_of(item) else ""
            lines += [f"# {item.metadata['help']}", f"{mark}{item.name} = {toml_of(value)}"]
        return "\n".join(lines) + "\n"


def _flat(text: str) -> str:
    """Return TOML text unchanged; raise ValueError if a key has so many parts that parsing takes too much memory.

    >>> _flat("a.b = 'c.d' # e.g. f.g")
    "a.b = 'c.d' # e.g. f.g"
    """
    bare = _QUOTED.sub("_", text)
    if any(part.count(".") > MAX_KEY_PARTS for part in re.split(r"[=,\n\[\]{}]", bare)):
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    return text


def describe() -> Iterator[tuple[str, str, type, Any, str, str]]:
    """Yield name, flag, type, default, group and help of each option."""
    kinds, group = typing.get_type_hints(Options), ""
    for item in fields(Options):
        group = GROUPS.get(item.name, group)
        yield item.name, flag_of(item.name), kinds[item.name], default_of(item), group, item.metadata["help"]


def flag_of(name: str) -> str:
    """Return an option's flag, or its name if it has no flag.

    >>> flag_of("per_host"), flag_of("hosts"), flag_of("archive"), flag_of("min_rate")
    ('--per-host', '--host', '--archive', 'min_rate')
    """
    metadata = Options.__dataclass_fields__[name].metadata
    return (metadata["flag"] or "--" + name.replace("_", "-")) if metadata["typed"] else name


def default_of(item: Field[Any]) -> Any:
    return [] if isinstance(item.default_factory, types.FunctionType) else item.default


def _typed(value: Any, kind: Any, where: str) -> Any:
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == list[str]:
        if isinstance(value, str | PurePath):
            return [str(value)]
        if isinstance(value, Sequence) and all(isinstance(item, str | PurePath) for item in value):
            return list(map(str, value))
        raise InputError("bad-value", f"{where} is {value!r}: it must be a list of strings")
    if kind is str and isinstance(value, PurePath):
        return str(value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InputError("bad-value", f"{where} is {value!r}: it must be of type {kind.__name__}")
    return value


def toml_of(value: Any) -> str:
    """Format a value as TOML.

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
