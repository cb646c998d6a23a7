"""The options of a crawl as keyword arguments: what editors complete, and type checkers check.

Made from core/options.py by tools/reference.py. Do not edit: change the options, then run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict


class CrawlOptions(TypedDict, total=False):
    """All options that have no parameter of their own."""

    terms: str | Path
    """The topic as a file of terms: one a line, a weight after a tab if it matters more or less than 1."""
    examples: str | Path | Sequence[str | Path]
    """The topic by an example page, a URL or an HTML or text file; repeat it for more."""
    regex: str
    """The topic as a regular expression: pages that match are wanted."""
    model: str | Path
    """The topic by a model that 'lycosa train' made; --target says which of its classes."""
    targets: str | Sequence[str]
    """The class, or the branch of the taxonomy, that is wanted; repeat it for more."""
    judge: str
    """How pages are judged: vector, embedding, ... with parameters, as in vector,idf=learned (see 'lycosa topics'),
    or a Python class of your own, module:Class."""
    background: str | Path
    """Word statistics to weigh words by, made by 'lycosa train background'. Default: learned from the pages."""
    ontology: str | Path
    """What words mean, for judges and strategies that go by meaning: a directory of WordNet's files, or an ontology
    of yours (SKOS, or a TSV of relations). Default: WordNet, where it is found (see 'lycosa wordnet')."""
    whole_text: bool
    """Read all that a page says, with menus, footers and comments, rather than its main part."""
    threshold: float
    """Pages that score at least this count as found. 0: the judge's own (words .1, examples to .2, patterns and
    models .5; for others see 'lycosa topics NAME')."""
    seed_files: str | Path | Sequence[str | Path]
    """Pages to start from: a file (URLs one a line, bookmarks, OPML, a saved sitemap or feed), or the URL of a
    sitemap, feed or llms.txt, whose links are followed as the topic finds them promising."""
    search: str | Sequence[str]
    """A search engine to ask for the topic's words, whose first results are seeds: the address of its OpenSearch
    description, or of a query with {} where the words go; repeat it for more."""
    search_results: int
    """Results of each search to start from."""
    sitemaps: bool
    """Read the sitemaps that the robots.txt of the seeds' hosts name, too."""
    choosy: float
    """Let a slot wait when all that could be fetched now promises less than this share of the best page whose host
    rests: finds more, takes longer. 0: never wait, 1: always the best. For strategies whose scores allow it."""
    spread: float
    """Prefer new sites: what a link promises is divided by (1 + pages fetched from its host) to this power. 0: any
    pages, wherever they are; .25 finds more sites for a few pages less. For strategies of one estimator."""
    random_seed: int
    """Chance is drawn from this number: the same number, the same crawl."""
    budget: int
    """Pages to fetch at most; what else is asked for, --max-requests bounds."""
    max_requests: int
    """Requests to send at most, for whatever: dead links, redirects, robots.txt and retries count as well. 0: in
    proportion to the budget, ten a page and 100 more."""
    max_bytes: int
    """Stop after so many bytes, as sent; what is in flight by then is not kept. 0: no limit."""
    max_disk: int
    """Stop when the crawl's directory takes so many bytes. 0: no limit but the disk's, of which 100 MB stay free."""
    max_time: float
    """Stop a run after so many seconds; what is in flight still arrives. 0: no limit."""
    host_budget: int
    """Pages to fetch from any one host at most. 0: no limit."""
    hot: int
    """Known addresses to keep in memory: those that promise most, and of each host some. The others wait on disk
    until they are among the best left, or a page links to them. 0: all."""
    hosts: str | Sequence[str]
    """Stay on this host; repeat it for more. Default: anywhere the seeds lead."""
    domains: str | Sequence[str]
    """Stay in this domain and below it; repeat it for more."""
    include: str | Sequence[str]
    """Only URLs that match this regular expression; repeat it for more."""
    exclude: str | Sequence[str]
    """No URLs that match this regular expression; repeat it for more."""
    max_depth: int
    """Links to follow from a seed at most. 0: no limit."""
    traps: bool
    """Recognise calendars, copies, soft 404s and other traps, and fetch what looks like one last."""
    trust: str | Sequence[str]
    """Hold nothing back on this host, or under this address; repeat it for more."""
    concurrency: int
    """Requests in flight at once, over all hosts."""
    delay: float
    """Seconds to leave a host alone after each answer; more if it is slow or asks for more."""
    per_host: int
    """Requests at once to one host."""
    address_delay: float
    """Seconds between requests to one address, whatever the host; at most the delay, and not in allowed networks."""
    patience: float
    """End the run when every host left wants to be left alone for more than so many seconds."""
    attempts: int
    """Times to try a page whose host is busy or does not answer."""
    follow_nofollow: bool
    """Follow links marked nofollow, too."""
    user_agent: str
    """How to introduce ourselves. Default: Lycosa and its version."""
    contact: str
    """A URL or mail address that hosts can turn to; becomes part of the user agent."""
    identity: str | Path
    """Sign every request as the identity in this file, so that hosts can tell it is you: see 'lycosa identity'."""
    respect_opt_outs: str
    """Leave out pages whose owners don't want models trained on them (training), or any use that they speak against
    (all). Default: such opt-outs are only noted."""
    allow_network: str | Sequence[str]
    """A network that may be crawled although it is not public, such as 127.0.0.0/8; repeat it for more."""
    languages: str | Sequence[str]
    """Only pages in this language (en, de, ...) count as found; repeat it for more."""
    accept: str | Sequence[str]
    """Archive this content type, too, even if its text can't be read; repeat it for more."""
    documents: str
    """Documents that are fetched and read like pages: pdf, office (DOCX, ODT, EPUB, RTF), both with a comma between
    them, or none. Text and Markdown always are."""
    timeout: float
    """Seconds that one request may take."""
    min_rate: float
    """Bytes a second that an answer must keep up after ten seconds."""
    max_body: int
    """Bytes of a body at most, as sent; the rest is cut off."""
    max_page: int
    """Leave pages alone that have more bytes than this once unpacked. 0: read as much of them as --max-body allows."""
    readers: int
    """Processes that unpack and read pages beside the one that judges and picks, for more than one core; what is
    found stays the same. 0: none, one process does it all."""
    proxy: str
    """Send every request through this HTTP proxy, such as http://127.0.0.1:8080. It looks up the host names, too."""
    proxy_ca: str | Path
    """Trust the certificates that this file vouches for (PEM): the proxy's own."""
    headers: str | Sequence[str]
    """A header for the requests to one host, as 'HOST NAME: VALUE'; $WORD in it is a word of the environment. Never
    logged or archived, and kept in crawl.toml only with such a word; repeat it for more."""
    cookies: str | Path
    """Cookies for the hosts that they belong to: a file as browsers and curl export it (cookies.txt). Never logged
    or archived."""
    render: str
    """Whether pages are rendered by a browser, too: auto (where that brings more text or links), never, always.
    Takes Chromium, and the extra 'browser'."""
    render_resources: str
    """What is archived of what rendered pages fetch: none, needed (scripts, styles, data), or all (pictures, fonts
    and media are then fetched, too)."""
    render_time: float
    """Seconds that a page may take to render; what it waits for the pauses of hosts is not counted."""
    render_requests: int
    """Requests that a page may send while it is rendered."""
    render_bytes: int
    """Bytes that a page may fetch while it is rendered."""
    render_at_once: int
    """Pages that are rendered at the same time."""
    render_more: str
    """Click what this CSS selector finds, such as 'button.more', up to ten times. Default: nothing is clicked."""
    render_trackers: bool
    """Let rendered pages fetch from well-known hosts of ads and trackers, too."""
    browser: str | Path
    """The Chromium to render with. Default: the one that is installed."""
    browser_profile: str
    """Render with this profile of yours, a directory; its cookies and storage are used and changed. Default: an
    empty one for each page."""
    browser_pages: int
    """Pages that a browser renders before it is ended, and another one started."""
    browser_memory: int
    """Megabytes that a browser may have by then."""
    requisites: bool
    """Fetch what relevant pages need to be shown, too: style sheets, scripts, pictures, fonts."""
    requisites_most: int
    """Of these, for one page at most."""
    requisites_bytes: int
    """Bytes of all of them together; 0: no limit."""
    archive: bool
    """Keep what was fetched as WARC files."""
    archive_to: str
    """Move WARC files that are full to this address of fsspec, such as s3://bucket/reefs; they are kept here until
    they are safe there, and read from there."""
    dedupe: str | Sequence[str]
    """Archive nothing that an earlier crawl has, but refer to it: the crawl's directory, or an index (CDXJ) of other
    WARC files; repeat it for more. What was crawled before is read from there."""
    index: bool
    """From 20,000 pages on, keep what searches and shows the crawl up to date, in a process of low priority beside
    it (see 'lycosa index')."""
    rotate: int
    """Start a new WARC file when one has this many bytes."""
    warc_prefix: str
    """What the names of WARC files begin with; date, number and host follow."""
    operator: str
    """Who crawls: a person or an institution, as the WARC files are to name it."""
    log_file: str | Path
    """Where a line is written for each request; 'none': nowhere. Default: crawl.log in the crawl's directory."""
    log_format: str
    """How: text, in the columns of Heritrix's crawl.log, or json, one object a line."""
    log_rotate: int
    """Rename that file and begin another when it would have more than this many bytes. 0: never."""
    per_hour: float
    """Requests an hour, to all hosts together: what a watch sends at most, and what the schedule plans with."""
    explore: float
    """Share of these requests that goes to new pages, by the crawl's strategy; the rest keeps the known ones fresh."""
    schedule: str
    """When pages are due: automatic, adaptive, fixed or proportional, with parameters, as in fixed,every=1d."""
    detect: str | Sequence[str]
    """How changes are noticed: digest, paper, main-text, simhash, tree, links, relevance, images; repeat it for
    more. Default: main-text, tree, links, relevance."""
    frequently: str | Sequence[str]
    """Addresses that match this pattern are looked at as often as they change, and once in --frequent at least."""
    infrequently: str | Sequence[str]
    """Addresses that match this are looked at once in --infrequent, however relevant and however changeable."""
    always: str | Sequence[str]
    """Addresses that match this are looked at in every refresh, and never taken from a cache."""
    frequent: str
    """How often 'frequently' is at least."""
    infrequent: str
    """How often 'infrequently' is."""
    watch_all: bool
    """Keep every page fresh, not only the finds, the seeds, and sitemaps and feeds."""
    webhooks: str | Sequence[str]
    """Tell this address of changes: JSON by POST, signed with the environment's LYCOSA_WEBHOOK_SECRET."""
    mail_to: str | Sequence[str]
    """Send a digest of changes to this address; repeat it for more."""
    mail_from: str
    """The sender of digests. Default: the first recipient."""
    smtp: str
    """The mail server, as in smtp://user@mail.example.org:587; its password is the environment's
    LYCOSA_SMTP_PASSWORD."""
    digest_every: str
    """How often a digest is sent at most."""
    feeds: bool
    """Write changes.atom and changes.json into the directory."""
    feed_url: str
    """Where the feeds will be published: their own address, for readers."""
    tell_kinds: str | Sequence[str]
    """Tell only of changes of this kind: topic, text, structure, link; repeat it for more."""
    tell_at_least: float
    """Tell only of changes of this magnitude, from 0 to 1, or more."""
