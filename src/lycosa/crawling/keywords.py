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
    """The topic as a file of terms: one per line, optionally with a weight after a tab (default 1)."""
    examples: str | Path | Sequence[str | Path]
    """The topic as an example page: a URL, or an HTML or text file; repeatable."""
    regex: str
    """The topic as a regular expression: matching pages are relevant."""
    model: str | Path
    """The topic as a model made by 'lycosa train'; choose its classes with --target."""
    targets: str | Sequence[str]
    """The relevant class, or branch of the taxonomy; repeatable."""
    judge: str
    """How pages are judged: probability, vector, embedding, ..., with parameters as in vector,idf=learned (see
    'lycosa topics'), or your own Python class, module:Class."""
    background: str | Path
    """Word statistics to weight words by, made by 'lycosa train background'. Default: learned from the pages."""
    ontology: str | Path
    """Word meanings, for judges and strategies that use them: a directory of WordNet's files, or your own ontology
    (a TSV of relations). Default: WordNet, if installed (see 'lycosa wordnet')."""
    whole_text: bool
    """Judge the whole page, including menus, footers and comments, instead of its main content."""
    threshold: float
    """Lowest score that counts as relevant. 0 uses the judge's own threshold (words .1, examples up to .2, patterns
    and models .5; for others see 'lycosa topics NAME')."""
    seed_files: str | Path | Sequence[str | Path]
    """Seeds from a file (one URL per line, bookmarks, OPML, a saved sitemap or feed), or from the URL of a sitemap,
    feed or llms.txt, whose links are followed if they look promising."""
    search: str | Sequence[str]
    """Use the first results of a search engine for the topic's words as seeds: the address of its OpenSearch
    description, or of a query with {} in place of the words; repeatable."""
    search_results: int
    """Results of each search to use as seeds."""
    sitemaps: bool
    """Also read the sitemaps listed in the robots.txt of the seeds' hosts."""
    choosy: float
    """Wait for a busy host if every page that could be fetched now promises less than this share of that host's best
    page: more relevant pages, but slower. 0: never wait; 1: always take the best. For strategies whose scores
    allow it."""
    spread: float
    """Prefer new sites: a link's score is divided by (1 + pages fetched from its host) to this power. 0: no
    preference; .25 reaches more sites at the cost of a few relevant pages. For strategies with one estimator."""
    random_seed: int
    """Random seed: the same number gives the same crawl."""
    budget: int
    """Maximum number of pages to fetch; --max-requests limits all requests."""
    max_requests: int
    """Maximum number of requests of any kind, including dead links, redirects, robots.txt and retries. 0: ten per
    page of the budget, plus 100."""
    max_bytes: int
    """Stop after this many bytes, as transferred; requests in flight are discarded. 0: no limit."""
    max_disk: int
    """Stop when the crawl's directory reaches this many bytes. 0: stop when less than 100 MB of the disk are free."""
    max_time: float
    """Stop after this many seconds; requests in flight are completed. 0: no limit."""
    host_budget: int
    """Maximum number of pages per host. 0: no limit."""
    hot: int
    """Known addresses to keep in memory: the most promising ones, and some of each host. The others wait on disk
    until they are among the best left or a page links to them. 0: all."""
    hosts: str | Sequence[str]
    """Stay on this host; repeatable. Default: wherever the seeds lead."""
    domains: str | Sequence[str]
    """Stay in this domain and its subdomains; repeatable."""
    include: str | Sequence[str]
    """Only URLs that match this regular expression; repeatable."""
    exclude: str | Sequence[str]
    """Skip URLs that match this regular expression; repeatable."""
    max_depth: int
    """Maximum distance from a seed, in links. 0: no limit."""
    traps: bool
    """Recognise calendars, copies, soft 404s and other traps, and fetch likely traps last."""
    trust: str | Sequence[str]
    """Never treat this host, or addresses under this URL, as a trap; repeatable."""
    concurrency: int
    """Maximum concurrent requests, over all hosts."""
    delay: float
    """Seconds to wait after each response before the next request to the same host; more if the host is slow or asks
    for it."""
    per_host: int
    """Maximum concurrent requests to one host."""
    address_delay: float
    """Seconds between requests to one network address, whatever the host; at most the delay, and not in allowed
    networks."""
    patience: float
    """End the run when every remaining host would have to wait longer than this many seconds."""
    attempts: int
    """Number of attempts for a page whose host is busy or does not respond."""
    follow_nofollow: bool
    """Also follow links marked nofollow."""
    user_agent: str
    """User agent to send. Default: Lycosa and its version."""
    contact: str
    """A URL or email address for site owners to contact you; becomes part of the user agent."""
    identity: str | Path
    """Sign every request with the identity in this file, so that sites can verify it: see 'lycosa identity'."""
    respect_opt_outs: str
    """Leave out pages whose owners opted out of AI training (training) or of any other use (all). Default: opt-outs
    are only noted."""
    allow_network: str | Sequence[str]
    """A private network that may be crawled, such as 127.0.0.0/8; repeatable."""
    languages: str | Sequence[str]
    """Only pages in this language (en, de, ...) count as relevant; repeatable."""
    accept: str | Sequence[str]
    """Also archive this content type, even if its text can't be read; repeatable."""
    documents: str
    """Documents to read like pages: pdf, office (DOCX, ODT, EPUB, RTF), both separated by a comma, or none. Text and
    Markdown are always read."""
    timeout: float
    """Maximum duration of a request in seconds."""
    min_rate: float
    """Minimum bytes per second of a response after the first ten seconds."""
    max_body: int
    """Maximum bytes of a body, as transferred; the rest is cut off."""
    max_page: int
    """Skip pages with more bytes than this once unpacked. 0: read as much of them as --max-body allows."""
    readers: int
    """Additional processes that unpack and parse pages, to use more than one core; the results stay the same. 0:
    none."""
    proxy: str
    """Send every request through this HTTP proxy, such as http://127.0.0.1:8080. The proxy also resolves host names."""
    proxy_ca: str | Path
    """Trust the certificate authorities in this PEM file, such as the proxy's own."""
    headers: str | Sequence[str]
    """A header for requests to one host, as 'HOST NAME: VALUE'; $NAME in it is replaced by the environment variable.
    Never logged or archived, and saved in crawl.toml only if it uses a variable; repeatable."""
    cookies: str | Path
    """Cookies for the hosts they belong to: a cookies.txt file as exported by browsers and curl. Never logged or
    archived."""
    render: str
    """Whether to render pages in a browser: auto (where that yields more text or links), never or always. Needs
    Chromium and the extra 'browser'."""
    render_resources: str
    """What to archive of the resources that rendered pages fetch: none, needed (scripts, styles, data) or all (also
    fetches pictures, fonts and media)."""
    render_time: float
    """Maximum time to render a page in seconds, not counting politeness pauses."""
    render_requests: int
    """Maximum requests per rendered page."""
    render_bytes: int
    """Maximum bytes per rendered page."""
    render_at_once: int
    """Pages to render at the same time."""
    render_more: str
    """Click the element that matches this CSS selector, such as 'button.more', up to ten times. Default: click
    nothing."""
    render_trackers: bool
    """Let rendered pages fetch from well-known ad and tracking hosts."""
    browser: str | Path
    """The Chromium to render with. Default: the installed one."""
    browser_profile: str
    """Render with this browser profile (a directory); its cookies and storage are used and changed. Default: an
    empty profile for each page."""
    browser_pages: int
    """Pages to render before the browser is restarted."""
    requisites: bool
    """Also fetch what relevant pages need to be displayed: style sheets, scripts, pictures, fonts."""
    requisites_most: int
    """Maximum number of these per page."""
    requisites_bytes: int
    """Maximum bytes of all of these; 0: no limit."""
    archive: bool
    """Archive everything fetched as WARC files."""
    archive_to: str
    """Move full WARC files to this fsspec address, such as s3://bucket/reefs; they are kept locally until safely
    stored, and read from there afterwards."""
    dedupe: str | Sequence[str]
    """Refer to what an earlier crawl has already archived instead of archiving it again: the directory of that
    crawl, or an index (CDXJ) of other WARC files; repeatable. Such pages are read from there."""
    index: bool
    """From 20,000 pages on, keep the search index and caches up to date in a separate low-priority process (see
    'lycosa index')."""
    rotate: int
    """Start a new WARC file at this many bytes."""
    warc_prefix: str
    """Prefix of WARC file names; date, number and host follow."""
    operator: str
    """Who runs the crawl: a person or institution, recorded in the WARC files."""
    log_file: str | Path
    """Log file with one line per request; 'none' for no log. Default: crawl.log in the crawl's directory."""
    log_format: str
    """Format of the log file: text, in the columns of Heritrix's crawl.log, or json, one object per line."""
    log_rotate: int
    """Rename the log file and start a new one at this many bytes. 0: never."""
    per_hour: float
    """Requests per hour, over all hosts: the limit for watching, and the basis of the schedule."""
    explore: float
    """Share of these requests for new pages, chosen by the crawl's strategy; the rest keeps known pages fresh."""
    schedule: str
    """When pages are due for a revisit: automatic, adaptive, fixed or proportional, with parameters as in
    fixed,every=1d."""
    detect: str | Sequence[str]
    """How changes are detected: digest, paper, main-text, simhash, tree, links, relevance; repeatable. Default:
    main-text, tree, links, relevance."""
    frequently: str | Sequence[str]
    """Revisit matching addresses as often as they change, and at least once per --frequent."""
    infrequently: str | Sequence[str]
    """Revisit matching addresses once per --infrequent, however relevant they are or often they change."""
    always: str | Sequence[str]
    """Revisit matching addresses in every refresh, bypassing caches."""
    frequent: str
    """Longest interval for 'frequently'."""
    infrequent: str
    """Interval for 'infrequently'."""
    watch_all: bool
    """Keep every page fresh, not only relevant pages, seeds, sitemaps and feeds."""
    webhooks: str | Sequence[str]
    """Send changes to this address: JSON by POST, signed with the environment variable LYCOSA_WEBHOOK_SECRET."""
    mail_to: str | Sequence[str]
    """Send a digest of changes to this email address; repeatable."""
    mail_from: str
    """The sender of digests. Default: the first recipient."""
    smtp: str
    """The mail server, as in smtp://user@mail.example.org:587; the password is taken from the environment variable
    LYCOSA_SMTP_PASSWORD."""
    digest_every: str
    """Shortest interval between digests."""
    feeds: bool
    """Write changes.atom and changes.json to the crawl's directory."""
    feed_url: str
    """Public address of the feeds, for feed readers."""
    tell_kinds: str | Sequence[str]
    """Announce only changes of this kind: topic, text, structure, link; repeatable."""
    tell_at_least: float
    """Announce only changes of at least this magnitude, from 0 to 1."""
