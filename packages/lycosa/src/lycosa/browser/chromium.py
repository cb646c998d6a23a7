"""A restricted Chromium. The only file that imports Playwright.

All connections go through our proxy; the browser resolves no names and gets no files, permissions or devices. Each page
has a context of its own that is deleted afterwards. The process is replaced after a number of pages; the watchdog
(`orphans.py`) kills it when it takes too much memory.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from lycosa.browser import orphans
from lycosa.browser.gate import PageSession, Slot
from lycosa.replay.proxy import USERNAME

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, CDPSession, Page, Playwright, ProxySettings

T = TypeVar("T")
START_TIMEOUT = 30.0  # seconds for the browser to start
CLOSE_TIMEOUT = 5.0  # seconds for a page or a browser to close before it is killed
MAX_MEGABYTES = 1000  # memory limit of browser and driver; they take 300 with an empty page
MAX_NAVIGATIONS = 5  # navigations while one script runs
# environment variable that disables Chromium's sandbox on systems without one; root never has one
NO_SANDBOX = "LYCOSA_NO_SANDBOX"
_DISABLED = (
    "gpu quic sync background-networking component-update domain-reliability breakpad notifications speech-api "
    "print-preview remote-playback-api"
)
FLAGS = (
    *(f"--disable-{name}" for name in _DISABLED.split()),
    "--dns-prefetch-disable",
    "--no-first-run",
    "--no-pings",
    "--mute-audio",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
# Flags for pages that are parsed, not displayed.
NO_MEDIA_FLAGS = ("--blink-settings=imagesEnabled=false", "--disable-remote-fonts")
# Runs before a page's first script: removes APIs that bypass the proxy, and suppresses error reports, whose messages
# may be of any length.
INIT_SCRIPT = """(() => {
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "WebTransport", "Notification",
                      "PushManager", "PresentationRequest", "SpeechRecognition", "webkitSpeechRecognition"])
    try { delete window[name] } catch {}
  const nothing = () => null;
  try { window.print = window.alert = nothing; window.open = nothing; window.confirm = () => false } catch {}
  for (const kind of ["error", "unhandledrejection"])
    window.addEventListener(kind, event => event.preventDefault(), true);
})()"""

# The page's scripts cannot change the prototypes of our isolated world, but named elements shadow properties of the
# document and of forms even there, so the getters are taken from the prototypes.
GETTERS = """
  const of = (thing, kind, name) => Object.getOwnPropertyDescriptor(kind.prototype, name).get.call(thing);
  const html = of(document, Document, "documentElement"), body = of(document, Document, "body");
  const root = of(document, Document, "scrollingElement") || html;
"""

MEASURE = f"""() => {{
  {GETTERS}
  const all = Document.prototype.getElementsByTagName.call(document, "*");
  let shadows = 0;
  for (let i = 0; i < Math.min(all.length, 20000); i++) {{
    const shadow = of(all[i], Element, "shadowRoot");
    if (shadow) shadows += shadow.querySelectorAll("*").length;
  }}
  return [all.length + shadows, of(document, Document, "links").length, root ? of(root, Element, "scrollHeight") : 0,
          body ? of(body, Node, "textContent").length : 0];
}}"""
SCROLL = f"""async () => {{
  // Up and down again, so that each call triggers scripts that load content when the end comes into view.
  {GETTERS}
  if (!root) return;
  const next = () => new Promise(done => {{ requestAnimationFrame(() => done()); setTimeout(done, 100) }});
  window.scrollTo({{top: 0, behavior: "instant"}});
  await next();
  window.scrollTo({{top: of(root, Element, "scrollHeight"), behavior: "instant"}});
  await next();
}}"""

# Returns the final DOM as text.
SERIALISE = f"""(maxChars) => {{
  {GETTERS}
  // The content of an open shadow root is written at the beginning of its element, where it is displayed.
  const inside = (all) => {{
    for (const host of all) {{
      const shadow = of(host, Element, "shadowRoot");
      if (!shadow) continue;
      inside(shadow.querySelectorAll("*"));
      const shown = Document.prototype.createElement.call(document, "div");
      shown.setAttribute("data-shadow-root", "");
      for (const child of shadow.childNodes) shown.appendChild(Node.prototype.cloneNode.call(child, true));
      Element.prototype.prepend.call(host, shown);
    }}
  }};
  try {{ inside(Document.prototype.querySelectorAll.call(document, "*")) }} catch {{}}
  const kind = of(document, Document, "doctype") ? "<!DOCTYPE html>\\n" : "";
  return html ? (kind + of(html, Element, "outerHTML")).slice(0, maxChars) : "";
}}"""


class BrowserFailed(Exception):
    """Raised if the browser does not start or has died."""


class PageFailed(Exception):
    """Raised if the browser can't show a page: a download, a password prompt, a crash."""


class BrowserTooLarge(Exception):
    """Raised if the browser was killed because its pages took too much memory."""


class IsolatedWorld:
    """An isolated JavaScript world, which the page's scripts cannot change."""

    def __init__(self, session: CDPSession) -> None:
        self._session, self._context = session, 0

    async def run(self, function: str, *arguments: object) -> Any:
        """Call a function and return its result; retried in the new document after a navigation."""
        for attempt in range(MAX_NAVIGATIONS):
            try:
                if not self._context:
                    tree = await self._session.send("Page.getFrameTree")
                    world = await self._session.send(
                        "Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"], "worldName": "lycosa"}
                    )
                    self._context = world["executionContextId"]
                result = await self._session.send(
                    "Runtime.callFunctionOn",
                    {
                        "functionDeclaration": function,
                        "executionContextId": self._context,
                        "arguments": [{"value": value} for value in arguments],
                        "awaitPromise": True,
                        "returnByValue": True,
                    },
                )
                break
            except Exception as error:
                if not _is_playwright_error(error) or "context" not in str(error) or attempt == MAX_NAVIGATIONS - 1:
                    raise
                self._context = 0
        if "exceptionDetails" in result:
            raise PageFailed(str(result["exceptionDetails"].get("text", "a script failed"))[:200])
        return result["result"].get("value")


class Chromium:
    """One browser process, started on demand and restarted after a number of pages."""

    def __init__(
        self, program: str, slots: list[Slot], *, pages: int = 200, megabytes: int = MAX_MEGABYTES, images: bool = False
    ) -> None:
        self.program, self.slots, self.images = program, slots, images
        self.max_pages, self.max_megabytes = pages, megabytes
        self.started = 0
        self.directory: Path | None = None
        self._pages = self._busy = 0
        self._needs_restart = False
        self._lock = asyncio.Lock()
        self._idle = asyncio.Condition()
        self._playwright: Playwright | None = None
        self._default_context: BrowserContext | None = None
        self._browser: Browser | None = None
        self._watchdog: subprocess.Popen[bytes] | None = None

    @asynccontextmanager
    async def page(self, slot: Slot) -> AsyncIterator[Page]:
        await self._ensure_started()
        self._busy += 1
        context: BrowserContext | None = None
        showing = False
        try:
            context = await self._in_time(self._context(slot))
            page = await self._in_time(context.new_page())
            showing = True
            yield page
        except Exception as error:
            if self.directory is not None and (self.directory / orphans.TOO_LARGE).exists():
                self._needs_restart = True
                raise BrowserTooLarge(f"the browser was killed: it took more than {self.max_megabytes} MB") from error
            if showing and (isinstance(error, PageFailed) or _is_playwright_error(error)):
                self._needs_restart = self._needs_restart or self._browser is None or not self._browser.is_connected()
                raise PageFailed(brief(error)) from error
            if _is_playwright_error(error) or isinstance(error, BrowserFailed):
                self._needs_restart = True
                raise BrowserFailed(brief(error)) from error
            raise
        finally:
            await slot.close_connections()
            await self._close_context(context)
            self._pages += 1
            self._needs_restart = self._needs_restart or self._pages >= self.max_pages
            async with self._idle:
                self._busy -= 1
                self._idle.notify_all()

    async def _context(self, slot: Slot) -> BrowserContext:
        assert self._browser is not None
        context = await self._browser.new_context(
            proxy=_proxy_settings(slot),
            ignore_https_errors=True,  # the certificates are ours: the proxy checks those of the host
            service_workers="block",
            accept_downloads=False,
            viewport={"width": 1280, "height": 1600},
            permissions=[],
        )
        await context.add_init_script(INIT_SCRIPT)
        return context

    async def _close_context(self, context: BrowserContext | None) -> None:
        if context is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                await context.close()
        except Exception:
            self._needs_restart = True

    async def _in_time(self, awaitable: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(START_TIMEOUT):
                return await awaitable
        except TimeoutError as error:
            raise BrowserFailed(f"the browser did not respond within {START_TIMEOUT:.0f} s") from error

    async def _ensure_started(self) -> None:
        async with self._lock:
            if self._browser is not None and (self._needs_restart or not self._browser.is_connected()):
                async with self._idle:
                    await self._idle.wait_for(lambda: not self._busy)
                await self.stop()
            if self._browser is None:
                await self._start()

    async def _start(self) -> None:
        try:
            from playwright.async_api import async_playwright
        except ImportError as error:
            raise BrowserFailed("the extra 'browser' is not installed") from error
        await asyncio.to_thread(orphans.sweep)
        self.directory = orphans.create_directory()
        self._watchdog = orphans.start_watchdog(self.directory, self.max_megabytes)
        sandbox = os.geteuid() != 0 and not os.environ.get(NO_SANDBOX)
        flags = [*FLAGS, *(() if self.images else NO_MEDIA_FLAGS), f"--lycosa-browser={self.directory}"]
        try:
            self._playwright = await self._in_time(async_playwright().start())
            self._default_context = await self._in_time(
                self._playwright.chromium.launch_persistent_context(
                    self.directory / "profile",
                    executable_path=self.program,
                    headless=True,
                    chromium_sandbox=sandbox,
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                    proxy=_proxy_settings(self.slots[0]),
                    ignore_https_errors=True,
                    service_workers="block",
                    accept_downloads=False,
                    args=flags,
                    env={**os.environ, "HOME": str(self.directory)},
                    timeout=1000 * START_TIMEOUT,
                )
            )
            self._browser = self._default_context.browser
            if self._browser is None:
                raise BrowserFailed("this version of playwright is too old: pip install --upgrade playwright")
            session = await self._browser.new_browser_cdp_session()
            await session.send("Browser.setDownloadBehavior", {"behavior": "deny"})
        except Exception as error:
            await self.stop()
            if isinstance(error, BrowserFailed):
                raise
            hint = "" if not sandbox else f" (set {NO_SANDBOX}=1 on systems without a sandbox)"
            raise BrowserFailed(f"Chromium does not start: {brief(error)}{hint}") from error
        self.started += 1
        self._pages, self._needs_restart = 0, False

    async def stop(self) -> None:
        for closing in (self._default_context, self._playwright):
            if closing is not None:
                with suppress(Exception):
                    async with asyncio.timeout(CLOSE_TIMEOUT):
                        await (closing.stop() if closing is self._playwright else closing.close())  # type: ignore[union-attr]
        self._default_context = self._browser = self._playwright = None
        watchdog, self._watchdog = self._watchdog, None
        if watchdog is not None:
            assert watchdog.stdin is not None
            watchdog.stdin.close()  # the watchdog kills all remaining processes and removes the directory
            await asyncio.to_thread(watchdog.wait)
        self.directory = None


def _proxy_settings(slot: Slot) -> ProxySettings:
    # Playwright sends the password through its pipe, not on a command line.
    return {"server": slot.server, "bypass": "<-loopback>", "username": USERNAME, "password": slot.password}


def watch_page(page: Page, session: PageSession) -> None:
    """Report documents opened in frames to the gate (not every request says so), and close dialogs and popups."""

    def note(request: Any) -> None:
        with suppress(Exception):
            if request.is_navigation_request():
                session.frames[request.url.partition("#")[0]] = request.frame.parent_frame is not None

    def run(awaitable: Awaitable[object]) -> None:
        session.tasks.append(asyncio.ensure_future(_quietly(awaitable)))

    page.on("request", note)
    page.on("dialog", lambda dialog: run(dialog.dismiss()))
    page.on("popup", lambda popup: run(popup.close()))


async def _quietly(awaitable: Awaitable[object]) -> None:
    with suppress(Exception):
        await awaitable


def brief(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


def _is_playwright_error(error: BaseException) -> bool:
    return type(error).__module__.startswith("playwright.")
