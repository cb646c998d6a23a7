"""An embedded web with hosts that render their pages by JavaScript, each kind in a different way:

- state: an empty element, the page as JSON in a script, and another script that renders it
- fetch: an empty element, and a script that fetches the page's data and renders it
- component: a custom element whose shadow root contains the page
- list: the text is static, links are loaded in batches while scrolling
- hash: one URL for all pages; the fragment selects the page
- shell404: like fetch, but every URL except the first returns status 404
- lazy: the text is static, the links are added last
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from lycosa.testweb import Web
from lycosa.testweb.addresses import AddressBook
from lycosa.testweb.mischief import Mischief
from lycosa.testweb.page_html import Composer
from lycosa.testweb.reply import ALLOW_ALL, ServedDocument
from lycosa.testweb.site_graph import SiteGraph
from lycosa.testweb.traps import TrapLinks

KINDS = ("state", "fetch", "component", "list", "hash", "shell404", "lazy")

_BODY = re.compile(r"<body>\n(.*)</body>", re.DOTALL)
_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_LIST = re.compile(r"<h2>(?:Related pages|Directory)</h2>\n<ul>\n(.*?)\n</ul>", re.DOTALL)
_LINK = re.compile(r"<a\b[^>]*>(.*?)</a>", re.DOTALL)

_DRAW = "document.title = page.title; document.getElementById('root').innerHTML = page.body;"
SCRIPTS = {
    "state": f"const page = JSON.parse(document.getElementById('state').textContent); {_DRAW}",
    "fetch": "fetch('/api?path=' + encodeURIComponent(location.pathname + location.search))"
    f".then(answer => answer.json()).then(page => {{ {_DRAW} }});",
    "component": "customElements.define('site-page', class extends HTMLElement { connectedCallback() {"
    "fetch('/api?path=' + encodeURIComponent(location.pathname + location.search)).then(answer => answer.json())"
    ".then(page => { document.title = page.title; const root = this.attachShadow({mode: 'open'});"
    "root.innerHTML = page.body; }); } });",
    "list": "let next = 0, busy = false; const list = document.querySelector('ul.endless');"
    "const more = () => { if (busy || next < 0) return; busy = true;"
    "fetch('/api?list=' + encodeURIComponent(location.pathname + location.search) + '&from=' + next)"
    ".then(answer => answer.json()).then(part => { busy = false; next = part.next;"
    "list.insertAdjacentHTML('beforeend', part.items + '<li style=\"height:2000px\"></li>'); }); };"
    "new IntersectionObserver(seen => { if (seen.some(one => one.isIntersecting)) more(); })"
    ".observe(document.getElementById('end'));",
    "hash": "const draw = () => fetch('/api?path=' + encodeURIComponent(location.hash.slice(1) || '/'))"
    f".then(answer => answer.json()).then(page => {{ {_DRAW} }}); addEventListener('hashchange', draw); draw();",
    "lazy": "setTimeout(() => fetch('/api?path=' + encodeURIComponent(location.pathname + location.search))"
    ".then(answer => answer.json()).then(page => { document.querySelector('main').innerHTML = page.body; }), 150);",
}
SCRIPTS["shell404"] = SCRIPTS["fetch"]
_STYLE = b"body { font: 16px/1.5 Georgia, serif; margin: 1em auto; max-width: 46em } h1 { color: #064 }"
_AT_ONCE = 4  # links that a list shows at a time


def shell(kind: str, html: str) -> str:
    """Return the HTML that a host of this kind serves for a page."""
    title, body = _parts(html)
    script = f'<script src="/app-{kind}.js" defer></script>'
    head = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<link rel="stylesheet" href="/app.css"><title>{"Loading" if kind not in ("list", "lazy") else title}</title>'
    )
    if kind == "list":
        links = '<ul class="endless"></ul><p id="end">&nbsp;</p>'
        return f"{head}</head><body>{_unlinked(_LIST.sub(links, body))}{script}</body></html>"
    if kind == "lazy":
        return f"{head}{script}</head><body>{_unlinked(body)}</body></html>"
    if kind == "component":
        return f"{head}</head><body><site-page></site-page>{script}</body></html>"
    note = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    state = ""
    if kind == "state":
        data = json.dumps({"title": title, "body": body}).replace("<", "\\u003c")
        state = f'<script type="application/json" id="state">{data}</script>'
    return f'{head}</head><body>{note}<div id="root"></div>{state}{script}</body></html>'


def script(path: str) -> ServedDocument | None:
    """Return the script, style sheet or robots.txt at a path, or None."""
    kind = path.removeprefix("/app-").removesuffix(".js")
    if path == f"/app-{kind}.js" and kind in SCRIPTS:
        return ServedDocument(SCRIPTS[kind].encode(), "text/javascript; charset=utf-8")
    if path == "/app.css":
        return ServedDocument(_STYLE, "text/css")
    return ALLOW_ALL if path == "/robots.txt" else None


def data(html: str) -> ServedDocument:
    """Return a page's title and body as JSON, for the script of the page."""
    title, body = _parts(html)
    return ServedDocument(json.dumps({"title": title, "body": body}).encode(), "application/json")


def part(html: str, start: int) -> ServedDocument:
    """Return a batch of a page's links and the start of the next one, -1 if there are no more."""
    listed = _LIST.search(html)
    items = listed[1].split("\n") if listed is not None else []
    # The list contains the links of text and navigation, too.
    rest = html.replace(listed[0], "") if listed is not None else html
    items += [f"<li>{link[0]}</li>" for link in _LINK.finditer(rest)]
    some, beyond = items[start : start + _AT_ONCE], start + _AT_ONCE
    told = {"items": "\n".join(some), "next": beyond if beyond < len(items) else -1}
    return ServedDocument(json.dumps(told).encode(), "application/json")


def route(path: str) -> str:
    """Return the URL of a page on a host of the kind `hash`.

    >>> route("/"), route("/a?b=1")
    ('/', '/#/a?b=1')
    """
    return path if path == "/" else f"/#{path}"


def asked(path: str) -> tuple[str, str, int]:
    """Parse a request for data into its kind (`path` or `list`), page and first link.

    >>> asked("/api?list=%2Fa&from=4")
    ('list', '/a', 4)
    """
    query = {name: values[0] for name, values in parse_qs(path.partition("?")[2]).items()}
    start = query.get("from", "0")
    what = "list" if "list" in query else "path"
    return what, query.get(what, ""), int(start) if start.isdigit() else 0


def _unlinked(body: str) -> str:
    return _LINK.sub(r"\1", body)


def _parts(html: str) -> tuple[str, str]:
    title, body = _TITLE.search(html), _BODY.search(html)
    assert title is not None
    assert body is not None
    return title[1], body[1]


class AppBook(AddressBook):
    """Address book in which some hosts use fragments."""

    def __init__(self, graph: SiteGraph, port: int, apps: dict[int, str]) -> None:
        super().__init__(graph, port)
        self.apps = apps

    def name(self, page: int) -> tuple[str, str]:
        """Return a page's path and title."""
        path, head = super().name(page)
        return (route(path) if self.apps.get(self.graph.section(page).host) == "hash" else path), head


class AppWeb(Web):
    """Embedded web in which `apps` hosts need a browser."""

    def __init__(
        self, seed: int = 7, pages: int = 3000, hosts: int = 40, apps: int = 7, port: int = 0, **more: Any
    ) -> None:
        super().__init__(seed, pages, hosts, port=port, **more)
        step = max(1, (hosts - 1) // max(1, apps))  # the first host is a portal
        self._apps = {1 + step * n: KINDS[n % len(KINDS)] for n in range(apps) if 1 + step * n < hosts}
        self._book = AppBook(self._graph, port, self._apps)
        self._composer = Composer(self._book)
        self._trap_links = TrapLinks(self._book, self.traps)
        self._mischief = Mischief(self._book, self.traps, 0.5)

    def app(self, url: str) -> str:
        """Return the kind of host that serves a URL; empty for plain pages and unknown URLs."""
        name, path = self._book.split(url)
        host = self._book.host(name)
        return self._apps.get(host, "") if host is not None and self._book.find(name, path) is not None else ""

    def _document(self, name: str, path: str, version: int) -> ServedDocument:
        kind = self._apps.get(self._book.host(name) or 0, "")
        return (self._app(kind, name, path) if kind else None) or super()._document(name, path, version)

    def _app(self, kind: str, name: str, path: str) -> ServedDocument | None:
        """Return the document that a JavaScript host serves for a path."""
        if (document := script(path)) is not None:
            return document
        what, about, start = asked(path) if path.startswith("/api?") else ("", path, 0)
        page = self._book.find(name, about)
        if page is None or (kind == "hash" and not what and path != "/"):
            return None
        html = self._composer.html(page, self._asides(page))
        if what:
            return part(html, start) if what == "list" else data(html)
        document = replace(self._manners(page), body=shell(kind, html).encode())
        return replace(document, status=404, codec="", tag="") if kind == "shell404" and path != "/" else document
