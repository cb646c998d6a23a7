"""The browser's proxy accepts only the browser, and its password is hidden from pages."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

from browser_helpers import Staged, answer, needs_browser, space_of
from lycosa.browser.finding import find_chromium
from lycosa.browser.gate import Cache, PageSession, RequestPolicy, Slot
from lycosa.browser.rendering import Rendering
from lycosa.core.options import Options
from lycosa.replay.certificates import Authority
from lycosa.web.browser_protocols import RenderedPage
from lycosa.web.fetch import Response
from replay_helpers import CLIENT, NOBODY, basic

PAGE = "http://app.example/"
ORIGINS = ("127.0.0.1", "127.0.0.2", "::ffff:127.0.0.1", "::ffff:127.0.0.2")


async def raw(address: str, user: int, port: int, sent: str) -> bytes:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CLIENT, address, str(port), "0", str(user), sent, stdout=asyncio.subprocess.PIPE
    )
    return (await process.communicate())[0]


async def without_password(home: Path) -> tuple[list[bytes], bytes, list[str]]:
    fetched: list[str] = []

    async def fetch(url: str, headers: dict[str, str], rendered: RenderedPage) -> tuple[Response, object]:
        fetched.append(url)
        return answer(b"as the crawl sees it"), None

    user = 0 if os.getuid() else NOBODY
    async with Slot(Authority(home)) as slot, Slot(Authority(home)) as other:
        for each in (slot, other):
            each.session = PageSession(PAGE, answer(b"the page"), fetch, RequestPolicy(), Cache())  # type: ignore[arg-type]
        given = [
            "",
            f"Proxy-Authorization: {basic('lycosa:guessed')}\r\n",
            f"Proxy-Authorization: {basic('lycosa:')}\r\n",
            f"Proxy-Authorization: {basic(other.login)}\r\n",  # each slot has its own password
            f"Authorization: {basic(slot.login)}\r\n",
        ]
        targets = (f"GET {PAGE}", "GET http://data.example/x", "CONNECT data.example:443", "CONNECT data.example:80")
        refused = [
            await raw(ORIGINS[0], user, slot.port, f"{target} HTTP/1.1\r\n{header}\r\n")
            for target in targets
            for header in given
        ]
        for origin in ORIGINS[1:]:
            refused.append(await raw(origin, user, slot.port, f"GET {PAGE} HTTP/1.1\r\n\r\n"))
        login = f"Proxy-Authorization: {basic(slot.login)}\r\n"
        sent = f"GET {PAGE} HTTP/1.1\r\n{login}Accept: text/html\r\nConnection: close\r\n\r\n"
        return refused, await raw("127.0.0.1", 0, slot.port, sent), fetched


def test_slot_refuses_clients_without_password(tmp_path: Path) -> None:
    refused, served, fetched = asyncio.run(without_password(tmp_path))
    assert [b"HTTP/1.1 407 "] * 23 == [received[:13] for received in refused]
    assert [] == fetched
    assert served.endswith(b"the page")


CORS = [(b"Content-Type", b"text/html"), (b"Access-Control-Allow-Origin", b"*")]
SCRIPT = [(b"Content-Type", b"text/javascript"), (b"Access-Control-Allow-Origin", b"*")]
CURIOUS = """<!DOCTYPE html><p id=said></p>
<script>
  const say = text => said.insertAdjacentHTML("beforeend", "<b>" + text + "</b>");
  const read = url => fetch(url).then(async r => [...r.headers].join() + await r.text()).catch(() => "nothing");
  onmessage = event => say(event.data);
  new Worker("/worker.js").onmessage = event => say("worker " + event.data);
  read("http://data.example/x").then(text => say("http " + text));
  read("https://data.example/x").then(text => say("https " + text));
  for (const url of ["http://127.0.0.1:PORT/", "http://greedy.example/401", "http://greedy.example/407",
                     "https://greedy.example/401", "https://greedy.example/407", "http://digest.example/407"])
    read(url).then(text => say(url + " " + text));
  fetch("http://data.example/h", {headers: {"Proxy-Authorization": "Basic x"}}).then(() => 0, () => 0);
  say("in script: " + performance.getEntries().map(e => e.name).join() + location.href + document.cookie);
</script>
<iframe src="https://frame.example/"></iframe>"""
FRAME = b"""<script>fetch("https://data.example/y").then(r => r.text()).then(t => parent.postMessage("frame " + t, "*"))
</script>"""
WORKER = b"""fetch("https://data.example/w").then(r => r.text()).then(postMessage)"""
GREEDY = [
    *CORS,
    (b"WWW-Authenticate", b'Basic realm="Lycosa"'),
    (b"Proxy-Authenticate", b'Basic realm="Lycosa"'),
]
DIGEST = [*CORS, (b"Proxy-Authenticate", b'Digest realm="Lycosa", nonce="abc", qop="auth"')]


class Noting(Staged):
    sent = ""

    async def fetch(self, url: str, headers: dict[str, str], wanted: frozenset[str] = frozenset()) -> Response:
        self.sent += f"{url} {headers}\n"
        return await super().fetch(url, headers, wanted)


SAID = ("worker data", "frame data", "greedy.example/401 ")


async def curious() -> tuple[str, str, list[str], list[bytes]]:
    transport = Noting(
        {
            "app.example": answer(b"", 404),
            "http://app.example/worker.js": answer(WORKER, 200, SCRIPT),
            "frame.example": answer(FRAME, 200, CORS),
            "data.example": answer(b"data", 200, CORS),
            **{
                f"{scheme}://{host}.example/{status}": answer(b"greedy", status, more)
                for scheme in ("http", "https")
                for host, status, more in (("greedy", 401, GREEDY), ("greedy", 407, GREEDY), ("digest", 407, DIGEST))
            },
            "greedy.example": answer(b"", 404),
            "digest.example": answer(b"", 404),
        }
    )
    space = space_of(transport)
    rendering = Rendering(Options(render="always", render_time=100.0), find_chromium())
    try:
        await rendering._open()
        body = CURIOUS.replace("PORT", str(rendering._slots[-1].port)).encode()
        dom = ""
        whole = 0
        for _ in range(10):  # on a busy machine a page may be reported as loaded before its frames are
            rendered = await rendering.render(PAGE, answer(body), space.resources.fetch)
            shown = rendered.failed + rendered.dom.decode()
            whole += all(f"<b>{said}" in shown or f"<b>http://{said}" in shown for said in SAID) and (
                "<b>http " in shown and "<b>https " in shown and shown.count("data</b>") >= 2
            )
            dom += shown
            if whole == 2:  # the second time the password is cached
                break
        lines: list[bytes] = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):  # the process has already ended
                lines.append(path.read_bytes())
        return dom, transport.sent, [word for slot in rendering._slots for word in (slot.password, slot.login)], lines
    finally:
        await rendering.close()
        await space.close()


@needs_browser
def test_slot_password_is_invisible_to_pages_and_sites() -> None:
    dom, sent, secrets, command_lines = asyncio.run(curious())
    for said in (*SAID, "http ", "https "):
        assert 2 <= dom.count(f"<b>{said}") + dom.count(f"<b>http://{said}"), said
    assert 4 <= dom.count("data</b>")
    assert "http://data.example/x {" in sent
    assert "https://data.example/w {" in sent
    for each in (*secrets, *(basic(word) for word in secrets), "roxy-"):
        assert each not in sent
    for each in (*secrets, *(basic(word) for word in secrets)):
        assert each not in dom
        assert not [line for line in command_lines if each.encode() in line]
