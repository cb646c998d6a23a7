"""A small loopback site whose pages try to act wherever they are shown; it records its requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar
from urllib.parse import unquote

ACT = "window.harmed=1;try{top.harmed=1}catch(e){}alert(1)"
"""Code that every script tries to run."""

UNSEEN = "\u202egnp.exe\u202c \u200b\u2066hidden\u2069\ufeff"
WORDS = "Coral reefs are built by polyps; bleaching of coral reefs is watched by divers and by satellites."

MARKUP = (
    f"<script>{ACT}</script>",
    f"<img src=x onerror='{ACT}'>",
    f"<svg onload='{ACT}'><script>{ACT}</script><use href='data:image/svg+xml,x'/></svg>",
    f'<a href="javascript:{ACT}">coral</a><a href="java\tscript:{ACT}">reef</a>',
    f"<a href='data:text/html,<script>{ACT}</script>'>coral</a>",
    "<style>@import url(BEACON/import.css);*{background:url(BEACON/style.png)!important;display:none}</style>",
    "<p style='background:url(BEACON/attribute.png);position:fixed;inset:0;width:expression(alert(1))'>over all</p>",
    "<meta http-equiv=refresh content='0;url=BEACON/refresh'>",
    "<base href='BEACON/base/' target=_top>",
    "<form action='BEACON/form'><input name=password autofocus><button>Sign in</button></form>",
    f'<iframe srcdoc="<script>{ACT}</script>" src="BEACON/frame"></iframe>',
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'></noscript>",
    f"<math><mtext><table><mglyph><style><img src=x onerror='{ACT}'></style></table></math>",
    f"<svg></p><style><a id='</style><img src=1 onerror={ACT}>'></svg>",
    f"<details open ontoggle='{ACT}'>coral</details><video onloadstart='{ACT}' src=BEACON/video.mp4></video>",
    f"]]><script>{ACT}</script><!--><img src=x onerror='{ACT}'>-->",
    f'"><script>{ACT}</script>',
    f"';{ACT}//",
    f"</title></textarea></script><script>{ACT}</script>",
    "{{7*7}} ${7*7} {% raw %} <%= 7*7 %> #{7*7}",
    UNSEEN,
    "W" * 10_000,
)
"""Markup that is used as title, heading, words and anchor of a page (as text), and in its body (as markup)."""


@dataclass
class HostileWeb:
    """The site, while it is served."""

    port: int = 0
    version: int = 1
    """Version of all pages; changing it changes their text."""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    """Requested paths, with their headers."""

    @property
    def base(self) -> str:
        """Return the base URL."""
        return f"http://hostile.localhost:{self.port}"

    def paths(self) -> list[str]:
        """Return the paths of its pages; some are as hostile as their content."""
        odd = [f"/{markup}" for markup in ("<script>harmed=1<script>", "<img src=x onerror=harmed=1>", "{{7*7}}")]
        return [*(f"/{n}" for n in range(len(MARKUP))), *odd, "/plain"]

    def body(self, path: str) -> str:
        """Return the body of a page."""
        paths = self.paths()
        if path == "/":
            links = "".join(
                f"<p>{WORDS} <a href='{escape(to)}'>{escape(MARKUP[n % len(MARKUP)][:300])} coral reefs</a></p>"
                for n, to in enumerate([*paths, "/gone", "/away"])
            )
            return self._page("Coral reefs: a hub", links)
        if path == "/plain":
            return self._page(
                "Plain coral reefs", f"<p>{WORDS} <a href='/plain'>itself</a>, version {self.version}</p>"
            )
        n = paths.index(path)
        markup = MARKUP[n % len(MARKUP)]
        text = escape(markup)
        changed = f"<p>Version {self.version} of coral reefs: {text if self.version > 1 else 'nothing yet'}</p>"
        own = " ".join(f"{word}{n}" for word in WORDS.split())  # so that no page is a copy of another
        links = "".join(f"<a href='/{n + step}'>{text[:300]}</a> " for step in (1, 2, 3) if n + step < len(MARKUP))
        told = f"<h1>{text}</h1><p>{WORDS} {own}</p>{changed}<p>{links}</p>{markup}<p>{text}</p>"
        return self._page(f"{text} {n}", told)

    def _page(self, title: str, body: str) -> str:
        page = f"<!doctype html><html lang='en\"><script>{ACT}</script>'><title>{title}</title><body>{body}"
        return page.replace("BEACON", f"{self.base}/beacon")

    def beacons(self) -> list[str]:
        """Return requests that only a page with running scripts can have sent."""
        return [path for path, headers in self.asked if path.startswith("/beacon") and not _crawler(headers)]

    def sent(self, path: str, name: str) -> list[str | None]:
        """Return the values of a header in all requests of browsers for a path."""
        return [headers.get(name) for at, headers in self.asked if at == path and not _crawler(headers)]


def _crawler(headers: dict[str, str]) -> bool:
    return "lycosa" in headers.get("user-agent", "")


class _Answers(BaseHTTPRequestHandler):
    web: ClassVar[HostileWeb]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        web = self.web
        web.asked.append((self.path, {name.lower(): value.lower() for name, value in self.headers.items()}))
        extra = {"X-Powered-By": MARKUP[0], "Set-Cookie": "lycosa=stolen", "ETag": f'W/"{web.version}"'}
        if self.path == "/robots.txt":
            text = f"# {MARKUP[1]}\nUser-agent: *\nDisallow: /{MARKUP[0]}\nSitemap: {web.base}/sitemap.xml\n"
            self._answer(200, "text/plain", f"{text}Sitemap: javascript:{ACT}\n", extra)
        elif self.path == "/sitemap.xml":
            places = [f"javascript:{ACT}", f"{web.base}/{escape(MARKUP[2])}", f"{web.base}/plain"]
            listed = "".join(f"<url><loc>{place}</loc><lastmod>{escape(MARKUP[0])}</lastmod></url>" for place in places)
            self._answer(200, "application/xml", f"<urlset>{listed}</urlset>", extra)
        elif self.path == "/away":
            self._answer(302, "text/html", MARKUP[0], {**extra, "Location": f"javascript:{ACT}"})
        elif self.path == "/" or unquote(self.path) in web.paths():
            refresh = {"Refresh": f"0;url={web.base}/beacon/header"} if self.path != "/plain" else {}
            self._answer(200, "text/html; charset=utf-8", web.body(unquote(self.path)), {**extra, **refresh})
        else:
            self._answer(404, "text/html", MARKUP[0], extra)

    def _answer(self, status: int, kind: str, text: str, extra: dict[str, str]) -> None:
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **extra}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing to standard error."""


@contextmanager
def hostile_web() -> Iterator[HostileWeb]:
    """Serve the site in a thread."""
    web = HostileWeb()
    answers = type("Answers", (_Answers,), {"web": web})
    with ThreadingHTTPServer(("127.0.0.1", 0), answers) as server:
        server.daemon_threads = True
        web.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        yield web
        server.shutdown()
        thread.join()
