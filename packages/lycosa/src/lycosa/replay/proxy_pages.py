"""The proxy's own pages: a start page and error pages. URLs are untrusted text."""

from __future__ import annotations

from html import escape
from shlex import quote
from typing import TYPE_CHECKING

from lycosa.web.urls import host

if TYPE_CHECKING:
    from lycosa.replay.live import RecordingProxy
    from lycosa.replay.proxy import LocalProxy, ReplayProxy

SHOWN = 100  # maximum hosts on the start page, and visits on that of a recording proxy
NOWHERE = "http://example.org/"  # example URL in commands if no page is recorded
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;"
    "color:#222;background:#fff}"
    "code,pre{background:#f3f3f3;padding:.1em .3em;overflow-wrap:anywhere;white-space:pre-wrap}"
    "td,th{padding:.1rem .8rem .1rem 0;text-align:left;vertical-align:top;overflow-wrap:anywhere}"
    "td:first-child{text-align:right}form{display:inline}@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
    "code,pre{background:#2a2a2a}a{color:#8bf}}"
)


def page(title: str, content: str) -> bytes:
    """Return a page; the title is text, the content HTML."""
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="robots" content="noindex"><style>{_STYLE}</style></head>\n'
        f"<body><h1>{escape(title)}</h1>\n{content}\n</body></html>\n"
    ).encode("utf-8", "replace")


def not_recorded(url: str) -> bytes:
    return page(
        "Not recorded",
        f"<p>The recording has no response for <code>{escape(url)}</code>.</p>"
        "<p>This proxy serves recorded pages only; no request was sent to the web.</p>",
    )


def damaged(url: str, why: str) -> bytes:
    return page(
        "Recorded, but damaged",
        f"<p>The recorded response of <code>{escape(url)}</code> cannot be read: {escape(why)}.</p>"
        "<p>Restore the file from a backup. All other pages are not affected.</p>",
    )


def only_get(method: str) -> bytes:
    return page(
        "Only GET and HEAD",
        f"<p>This proxy cannot respond to <code>{escape(method[:20])}</code>: it serves a recording.</p>",
    )


def out_of_reach(url: str, why: str) -> bytes:
    return page("Out of reach", f"<p>Cannot fetch <code>{escape(url)}</code>: {escape(why)}.</p>")


def browsing(proxy: RecordingProxy) -> bytes:
    """Return the list of opened pages, newest first, with label buttons."""
    record, opened, certificate = str(proxy.recorder.path), proxy.recorder.opened, str(proxy.authority.path)
    rows = "\n".join(
        f"<tr><td>{_label_buttons(number, proxy.token, each.relevant)}</td>"
        f'<td><a href="{escape(each.url)}">{escape(each.title or each.url)}</a><br>'
        f"<small>{escape(each.url)}</small></td></tr>"
        for number, each in list(enumerate(opened))[-SHOWN:][::-1]
    )
    return page(
        "Your browsing is recorded",
        f"<p>{len(opened):,} pages were opened through the proxy <code>{escape(proxy.server)}</code> and recorded in "
        f"<code>{escape(record)}</code>. Mark which of them are relevant.</p>\n"
        f"<table><tr><th>relevant?</th><th>page</th></tr>\n{rows}\n</table>\n"
        f"<h2>Train on it</h2>\n<pre>{escape(f'lycosa train browse {quote(record)} --out my.browsing')}</pre>\n"
        f"<h2>A browser that uses the proxy</h2>\n<pre>{escape(how_to(proxy, NOWHERE)['Chromium'])}</pre>\n"
        f'<p>Other browsers: set it as the proxy for http and https, and trust <a href="/ca.pem">this certificate</a> '
        f"(<code>{escape(certificate)}</code>), which was created on this machine, for as long as you record.</p>",
    )


def _label_buttons(number: int, token: str, relevant: bool | None) -> str:
    """Return two buttons; the current label is marked."""
    return "".join(
        f'<form method="post" action="/label/{token}/{number}/{word}"><button{" disabled" if relevant is means else ""}'
        f">{word}{' ✓' if relevant is means else ''}</button></form>"
        for word, means in (("yes", True), ("no", False))
    )


def start(proxy: ReplayProxy) -> bytes:
    recording, certificate = proxy.recording, str(proxy.authority.path)
    hosts = recording.hosts()
    rows = "\n".join(
        f"<tr><td>{each.pages:,}</td><td>{escape(each.name)}</td>"
        f'<td><a href="{escape(each.start)}">{escape(each.start)}</a></td></tr>'
        for each in hosts[:SHOWN]
    )
    more = f"<p>and {len(hosts) - SHOWN:,} more hosts</p>" if len(hosts) > SHOWN else ""
    first = hosts[0].start if hosts else NOWHERE
    ways = "\n".join(
        f"<dt>{name}</dt><dd><pre>{escape(command)}</pre></dd>" for name, command in how_to(proxy, first).items()
    )
    return page(
        "A recorded web",
        f"<p>{len(recording):,} responses, {sum(each.pages for each in hosts):,} pages of {len(hosts):,} hosts. "
        f"They can be seen through the proxy <code>{escape(proxy.server)}</code>; without it, these links lead to "
        f"the live web.</p>\n<table><tr><th>pages</th><th>host</th><th>start at</th></tr>\n{rows}\n</table>\n"
        f"{more}\n"
        f'<h2>How to open it</h2>\n<dl>{ways}</dl>\n<p>For https, trust <a href="/ca.pem">this certificate</a> '
        f"(<code>{escape(certificate)}</code>), which was created on this machine.</p>",
    )


def how_to(proxy: LocalProxy, url: str) -> dict[str, str]:
    """Return commands that open a page through the proxy, by program."""
    # Lycosa refuses local IP addresses unless they are allowed.
    local = " --allow-network 127.0.0.0/8" if host(url).endswith("localhost") else ""
    server, address, trusted, page = proxy.server, proxy.address, quote(str(proxy.authority.path)), quote(url)
    curl, own = "curl", "lycosa"
    if proxy.login:  # curl hides the password in the process list by overwriting it
        curl, own = f"curl --proxy-user {proxy.login}", f"LYCOSA_PROXY_AUTH={proxy.login} lycosa"
    return {
        "Chromium": f'chromium --user-data-dir="$(mktemp -d)" --proxy-server={server} '
        f'"--proxy-bypass-list=<-loopback>" --ignore-certificate-errors-spki-list={proxy.authority.pin} {page}',
        "curl": f"{curl} --proxy {server} --cacert {trusted} --compressed {page}",
        "Scrapy": f"http_proxy={address} https_proxy={address} scrapy fetch {page}",
        "Lycosa": f"{own} crawl 'your topic' --seed {page} --proxy {server} --proxy-ca {trusted}{local}",
    }
