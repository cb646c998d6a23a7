"""URLs: parsing, the canonical form that identifies a page, and the scope of a crawl.

Three forms, each built upon the one before:

1. `parse` applies the WHATWG URL standard by ada: default ports, dot segments, host case, IDNA.
2. `canonical` also drops the fragment, tracking parameters and session ids. It is idempotent, keeps the order and the
   bytes of all other parameters, and keeps an empty query (`/a?` and `/a` may be two pages). A URL with credentials is
   refused: a crawler must not log in with a password from a page, and without it the URL means another page. Empty
   credentials (`http://@host/`) are dropped.
3. `resolve` does the same for all the links of a page.

`host`, `host_key`, `origin` and `site` cut strings: they expect a canonical URL and do not parse it again.

>>> canonical("HTTP://Example.com:80/a/../b?utm_source=x&q=1#top")
'http://example.com/b?q=1'
>>> resolve("http://example.com/dir/", ["page", "mailto:a@example.com"])
['http://example.com/dir/page', None]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ada_url import join_url, normalize_url
from publicsuffixlist import PublicSuffixList

from lycosa.core.errors import InputError
from lycosa.core.options import Options

MAX_LENGTH = 2_000  # characters; longer URLs are nearly always traps or data
_MAX_INPUT = 4 * MAX_LENGTH  # characters; longer hrefs are not parsed: tracking parameters are never that long
_SEED = re.compile(r"(?P<name>[\w-]+(?:\.[\w-]+)+\.?|localhost)(?::(?P<port>\d+))?(?:[/?#]|$)")
_MAX_FOLDERS, _MAX_HREFS, _MAX_CACHED_HREF = 500, 1_000, 200
_folders: dict[str, dict[str, str | None]] = {}
_BLANK = "".join(map(chr, range(33)))  # characters that the standard strips from both ends

# Added by advertisers and mailers to links of any site, read by scripts and logs, never by the page itself.
_TRACKING = frozenset(
    """
    gclid gclsrc dclid gbraid wbraid gad_source gad_campaignid srsltid _ga _gl _gac
    fbclid fb_action_ids fb_action_types igshid igsh
    msclkid twclid ttclid li_fat_id epik rdt_cid sccid
    yclid ysclid _openstat
    mc_cid mc_eid mkt_tok _hsenc _hsmi __hstc __hssc __hsfp hsctatracking
    vero_id vero_conv oly_anon_id oly_enc_id ml_subscriber ml_subscriber_hash _bta_tid _bta_c _kx
    _branch_match_id wickedid irclickid rb_clickid
    guccounter guce_referrer guce_referrer_sig
    pk_campaign pk_kwd pk_keyword pk_source pk_medium pk_content pk_cid
    piwik_campaign piwik_kwd piwik_keyword
    mtm_campaign mtm_keyword mtm_source mtm_medium mtm_content mtm_cid mtm_group mtm_placement
    """.split()
)

# Always session ids; ColdFusion's short `cfid` only next to `cftoken`.
_SESSION = frozenset({"phpsessid", "jsessionid", "cftoken"})
# Names that also carry content elsewhere: session ids only if the value looks random.
_POSSIBLE_SESSION = frozenset({"sid", "sessid", "sessionid", "session_id", "oscsid", "zenid"})
_TOKEN = re.compile(r"[0-9a-fA-F]{32,}|(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[0-9A-Za-z,_-]{26,}")
_PATH_SESSION = re.compile(r";jsessionid=[^;/]*", re.IGNORECASE)
# Links that depend only on the folder of their base, not on its file or query; `http:page` is relative.
_BY_FOLDER = re.compile(r"(?!https?:(?!//))[^?#]", re.ASCII | re.IGNORECASE)


def parse(href: str, base: str | None = None) -> str | None:
    """Return the WHATWG serialisation of an http(s) URL; None for other schemes and invalid URLs."""
    try:
        url = normalize_url(href) if base is None else join_url(base, href)
    except ValueError:
        # The standard reads a lone surrogate as U+FFFD; ada's binding refuses to encode it.
        scalar, scalar_base = _scalar(href), None if base is None else _scalar(base)
        if scalar == href and scalar_base == base:
            return None
        return parse(scalar, scalar_base)
    return url if url.startswith(("http://", "https://")) else None


def canonical(url: str) -> str | None:
    """Return the canonical form of an absolute URL, or None for one the crawler does not follow."""
    if len(url) > _MAX_INPUT:
        return None
    parsed = parse(url)
    return None if parsed is None else _strip(parsed)


def resolve(base: str, hrefs: Sequence[str]) -> list[str | None]:
    """Return the canonical form of each href on the page at `base`, None for those that are not followed.

    Unless it is empty or begins with `?` or `#`, an href depends only on the folder of the base. Pages of a folder
    share most of their links (navigation), so results are cached by folder.
    """
    end = base.find("?")
    folder = base[: base.rfind("/", 8, end if end >= 0 else len(base)) + 1]
    cached = _folders.get(folder)
    if cached is None:
        if len(_folders) >= _MAX_FOLDERS:
            _folders.clear()
        cached = _folders[folder] = {}
    elif len(cached) > _MAX_HREFS:
        cached.clear()
    urls: list[str | None] = []
    for href in hrefs:
        try:
            urls.append(cached[href])
        except KeyError:
            url = parse(href, base) if len(href) <= _MAX_INPUT else None
            url = None if url is None else _strip(url)
            if url is not None and len(href) <= _MAX_CACHED_HREF and _BY_FOLDER.match(href.strip(_BLANK)):
                cached[href] = url
            urls.append(url)
    return urls


def resolve_routes(base: str, hrefs: Sequence[str]) -> list[str | None]:
    """Resolve links of a rendered page: a fragment that is a route of its scripts (`#/b`, `#!b`) is kept.

    >>> resolve_routes("http://example.com/a", ["#/reefs", "/b#top", "#!x"])
    ['http://example.com/a#/reefs', 'http://example.com/b', 'http://example.com/a#!x']
    """
    urls = resolve(base, hrefs)
    for number, href in enumerate(hrefs):
        if ("#/" in href or "#!" in href) and (url := urls[number]) is not None:
            route = (parse(href, base) or "").partition("#")[2]
            if route.startswith(("/", "!")) and len(url) + len(route) < MAX_LENGTH and route not in ("/", "!"):
                urls[number] = f"{url}#{route}"
    return urls


def check_seed(url: str) -> str | None:
    """Return the canonical form of a seed; a bare host name gets https, a local one or one with a port http."""
    url = url.strip()
    if "://" not in url and (match := _SEED.match(url)):
        is_local = match["port"] or match["name"].rstrip(".").endswith("localhost") or match["name"].isdigit()
        url = ("http://" if is_local else "https://") + url
    return canonical(url)


def is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def origin(url: str) -> str:
    """Return `scheme://host[:port]` of a canonical URL."""
    end = url.find("/", 8)  # past "https://", and past the first letter of the host after "http://"
    return url if end < 0 else url[:end]


def host(url: str) -> str:
    """Return the host name of a canonical URL, without the port; an IPv6 address keeps its brackets."""
    authority = host_key(url)
    return authority if authority.endswith("]") else authority.rpartition(":")[0] or authority


def host_key(url: str) -> str:
    """Return the host of a canonical URL with its port, unless that is the default one: the unit of politeness."""
    start = url.index("//") + 2
    end = url.find("/", start)
    return url[start:] if end < 0 else url[start:end]


def site(url_or_host: str) -> str:
    """Return the registered domain of a canonical URL or host name; an IP address is its own site."""
    return _site(host(url_or_host) if "//" in url_or_host else url_or_host)


@lru_cache(maxsize=2)
def _suffixes(encoded: bool) -> PublicSuffixList:
    # Loaded on first use: 50 ms with encoded names (xn--), 15 ms without.
    return PublicSuffixList(accept_encoded_idn=encoded)


@lru_cache(maxsize=65_536)
def _site(name: str) -> str:
    if name.endswith("]") or ":" in name:
        return name
    name = name.rstrip(".") or name
    # The URL standard makes an IPv4 address of every host that ends in a number.
    if name.rpartition(".")[2].isdigit():
        return name
    # A public suffix itself (`github.io`, `localhost`) has no registered domain and is its own site.
    return _suffixes("xn--" in name).privatesuffix(name) or name


def _strip(url: str) -> str | None:
    if "#" in url:
        url = url[: url.index("#")]
    if "@" in url and "@" in url[: url.index("/", 8)]:
        return None
    if ";" in url or "?" in url:
        path, mark, query = url.partition("?")
        if mark:
            rest = _strip_query(query)
            url = path if rest is None else path + "?" + rest
        if ";" in path:
            start = path.index("/", 8)  # a host may contain `;` as well
            cleaned = path[:start] + _PATH_SESSION.sub("", path[start:])
            if cleaned != path:
                # `/a/..;jsessionid=1` leaves a dot segment behind: parse again.
                parsed = parse(cleaned + url[len(path) :])
                if parsed is None:
                    return None
                url = parsed
    return url if len(url) <= MAX_LENGTH else None


def _strip_query(query: str) -> str | None:
    parameters = query.split("&")
    rest = [parameter for parameter in parameters if not _is_noise(parameter)]
    if len(rest) == len(parameters):
        return query
    if any(parameter[:8].lower() == "cftoken=" for parameter in parameters):
        rest = [parameter for parameter in rest if parameter[:5].lower() != "cfid="]
    return "&".join(rest) if rest else None


def _is_noise(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    return (
        name in _TRACKING
        or name.startswith(("utm_", "hsa_", "aspsessionid"))
        or name in _SESSION
        or (name in _POSSIBLE_SESSION and _TOKEN.fullmatch(value) is not None)
    )


def _scalar(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Scope:
    """Limits of a crawl by host, domain, URL pattern and depth; unlimited by default."""

    def __init__(
        self,
        hosts: Iterable[str] = (),
        domains: Iterable[str] = (),
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        max_depth: int = 0,
    ) -> None:
        self.hosts = frozenset(parse_host(name) for name in hosts)
        self.domains = tuple(parse_host(name.lstrip(".*")) for name in domains)
        self.include = compile_patterns(include)
        self.exclude = compile_patterns(exclude)
        self.max_depth = max_depth
        self._anywhere = not self.hosts and not self.domains
        self._known: dict[str, bool] = {}

    @classmethod
    def of(cls, options: Options) -> Scope:
        return cls(options.hosts, options.domains, options.include, options.exclude, options.max_depth)

    def __call__(self, url: str, depth: int) -> bool:
        if self.max_depth and depth > self.max_depth:
            return False
        if not self._anywhere and not self._has(host(url)):
            return False
        if self.include and not any(pattern.search(url) for pattern in self.include):
            return False
        return not any(pattern.search(url) for pattern in self.exclude)

    def _has(self, name: str) -> bool:
        inside = self._known.get(name)
        if inside is None:
            inside = name in self.hosts or any(name == domain or name.endswith("." + domain) for domain in self.domains)
            if len(self._known) > 100_000:
                self._known.clear()
            self._known[name] = inside
        return inside


def parse_host(name: str) -> str:
    """Return a host name in canonical form; a scheme, port, path and capitals are accepted."""
    name = name.strip().split("://")[-1].split("/")[0].rstrip(".")
    if name.count(":") > 1 and not name.startswith("["):
        name = f"[{name}]"
    url = canonical(f"http://{name}/")
    if url is None:
        raise InputError("bad-host", f"{name!r} is not a host name: write it like www.example.org")
    return host(url)


def compile_patterns(patterns: Iterable[str]) -> list[re.Pattern[str]]:
    expressions = []
    for pattern in patterns:
        try:
            expressions.append(re.compile(pattern))
        except re.error as error:
            raise InputError("bad-pattern", f"URL pattern {pattern!r} is not a regular expression: {error}") from error
    return expressions
