"""Keep the docs of `lycosa serve` true: run the calls in docs/api.md, and take the screenshots of docs/serve.md.

    python tools/server_docs.py             run the calls, write their responses into docs/api.md; then screenshots
    python tools/server_docs.py --check     run the calls; fail if a response has another shape than the one shown
    python tools/server_docs.py --calls     the calls only
    python tools/server_docs.py --routes    only the table of all routes, for which no server is started
    python tools/server_docs.py --pictures  the screenshots only (needs Chromium: tools/chromium)

Everything runs on a real server with the embedded web, on this machine. A call is a line `$ curl ...` in a block
`console`; the text up to the next call is its response. Long lists and texts are abbreviated with `...`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lycosa.testweb import Web, serve
from lycosa.testweb.changing import ChangingWeb

ROOT = Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "api.md"
PUBLIC, WEB_PORT = "https://lycosa.example.org", 8123
"""The server's name in the docs, and the port of the crawled web."""

TOPIC = "marine biology/coral reefs"
PASSWORD = "an owl in the old barn"
WIDTH = 120
LONGEST_TEXT = 200
LONGEST_LINE = 320
NAMES = {
    "POST /interests": ("INTEREST", "id"),
    "POST /interests/$INTEREST/crawls": ("CRAWL", "id"),
}
"""Variables of later calls, taken from the responses to earlier ones."""

EVENT = re.compile(r"^event: (\w+)$", re.MULTILINE)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Call:
    """A call as typed, and its response as shown."""

    typed: str
    shown: str

    @property
    def method(self) -> str:
        """The HTTP method that curl chooses."""
        words = shlex.split(self.typed.replace("\\\n", " "))
        if "-X" in words:
            return words[words.index("-X") + 1]
        return "POST" if {"-d", "-F"} & set(words) and "--get" not in words else "GET"

    @property
    def path(self) -> str:
        """The path below /api/v1, with variables."""
        (found,) = re.findall(r"\$LYCOSA(/[^\s\"'?]*)", self.typed)
        return str(found)

    @property
    def route(self) -> str:
        """Method and path as in the schema."""
        return f"{self.method} /api/v1{re.sub(r'[$]([A-Z]+)', lambda name: '{' + name[1].lower() + '}', self.path)}"

    @property
    def response(self) -> Any:
        """The response as data, without abbreviations; None if it is not JSON."""
        plain = re.sub(r",\s*\.\.\.(?=\s*[\]}])", "", self.shown).strip()
        return json.loads(plain) if plain[:1] in ("{", "[") else None


def calls(text: str) -> list[Call]:
    """Return the calls in a page in order."""
    return [call for block in BLOCK.findall(text) for call in _calls(block) if "$LYCOSA" in call.typed]


def _calls(block: str) -> Iterator[Call]:
    for part in re.split(r"^(?=\$ )", block, flags=re.MULTILINE):
        if part.startswith("$ "):
            command = re.match(r"\$ ((?:.*\\\n)*.*)\n?", part)
            assert command is not None
            yield Call(command[1], part[command.end() :])


def misfits(schema: dict[str, Any], part: dict[str, Any], value: Any, where: str = "answer") -> list[str]:
    """Return the misfits between a value and a part of an OpenAPI schema: unknown or missing names, other types."""
    while "$ref" in part:
        part = schema["components"]["schemas"][part["$ref"].rpartition("/")[2]]
    if "anyOf" in part:
        several = [misfits(schema, option, value, where) for option in part["anyOf"]]
        return min(several, key=len)
    if isinstance(value, dict) and "properties" in part:
        known, needed = part["properties"], set(part.get("required", ()))
        wrong = [f"{where} has no {name!r} in the schema" for name in value.keys() - known.keys()]
        wrong += [f"{where} lacks {name!r}" for name in needed - value.keys()]
        return wrong + [
            problem
            for name in value.keys() & known.keys()
            for problem in misfits(schema, known[name], value[name], f"{where}.{name}")
        ]
    if isinstance(value, list) and part.get("type") == "array":
        items = part.get("items", {})
        return [p for at, item in enumerate(value) for p in misfits(schema, items, item, f"{where}[{at}]")]
    kinds: dict[str, Any] = {
        "string": str,
        "number": (int, float),
        "integer": int,
        "boolean": bool,
        "object": dict,
        "array": list,
    }
    kind = part.get("type")
    if kind == "null":
        return [] if value is None else [f"{where} is not null"]
    return [] if kind is None or isinstance(value, kinds[kind]) else [f"{where} is no {kind}"]


def unlike(shown: Any, real: Any, where: str = "answer") -> list[str]:
    """Return the differences in shape between two responses; null and empty lists match anything."""
    if shown is None or real is None:
        return []
    if isinstance(shown, dict) and isinstance(real, dict):
        wrong = [f"{where}.{name}: only in one of them" for name in shown.keys() ^ real.keys()]
        both = shown.keys() & real.keys()
        return wrong + [p for name in both for p in unlike(shown[name], real[name], f"{where}.{name}")]
    if isinstance(shown, list) and isinstance(real, list):
        return unlike(shown[0], real[0], f"{where}[0]") if shown and real else []
    numbers = (int, float)
    same = type(shown) is type(real) or (isinstance(shown, numbers) and isinstance(real, numbers))
    return [] if same else [f"{where}: {type(shown).__name__} is shown, {type(real).__name__} was answered"]


def pretty(value: Any, indent: int = 0, first: int = 0) -> str:
    """Format JSON: on one line where it fits, with long lists and texts abbreviated."""
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        value = value[: LONGEST_TEXT - 3].rstrip() + "..."
    if isinstance(value, list) and len(value) > _most(value):
        begin = [pretty(item, indent + 1) for item in value[: _most(value)]]
        return _listed([*begin, "..."], "[]", indent, first)
    if isinstance(value, list):
        return _listed([pretty(item, indent + 1) for item in value], "[]", indent, first)
    if isinstance(value, dict):
        items = []
        for name, item in value.items():
            begin_of = f"{json.dumps(name)}: "
            items.append(begin_of + pretty(item, indent + 1, len(begin_of)))
        return _listed(items, "{}", indent, first)
    return json.dumps(round(value, 4) if isinstance(value, float) and value < 1e6 else value, ensure_ascii=False)


def _most(value: list[Any]) -> int:
    return 8 if all(isinstance(item, int | float) for item in value) else 2


def _listed(items: list[str], ends: str, indent: int, first: int) -> str:
    line = f"{ends[0]}{', '.join(items)}{ends[1]}"
    if len(line) + indent + first <= WIDTH - 2 and "\n" not in line:
        return line
    lines, line = [], ""
    for item in items:  # as many items as fit on a line
        if line and ("\n" in item or "\n" in line or len(line) + len(item) + indent + 4 > WIDTH):
            lines.append(line)
            line = ""
        line += f"{', ' if line else ''}{item}"
    lines.append(line)
    pad = " " * (indent + 1)
    return f"{ends[0]}\n" + ",\n".join(pad + line for line in lines) + f"\n{' ' * indent}{ends[1]}"


@dataclass(slots=True)
class Running:
    """A running server and a signed-in user."""

    base: str
    web: ChangingWeb
    port: int
    clock_offset: list[float]
    """Seconds by which the web's clock is ahead."""
    token: str = ""

    def request_json(self, method: str, path: str, body: Any = None, token: str = "") -> Any:
        """Send a request to the API and return its response."""
        data = None if body is None else json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        if token or self.token:
            head["Authorization"] = f"Bearer {token or self.token}"
        request = urllib.request.Request(f"{self.base}/api/v1{path}", data, head, method=method)
        with _direct().open(request, timeout=60) as response:
            text = response.read()
        return json.loads(text) if text else None

    def wait(self, crawl: str) -> None:
        """Wait until a crawl has ended."""
        for _ in range(600):
            state = self.request_json("GET", f"/crawls/{crawl}")["state"]
            if state in ("finished", "stopped"):
                return
            if state == "failed":
                raise SystemExit(self.request_json("GET", f"/crawls/{crawl}")["reason"])
            time.sleep(0.2)
        raise SystemExit("the crawl did not end")


def _direct(*handlers: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    """Return an opener without proxy, because everything is local."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)


@contextmanager
def running(delay: float = 0.05) -> Iterator[Running]:
    """Start a changing web, a server that may crawl it, and an admin."""
    clock_offset = [0.0]
    web = ChangingWeb(Web(traps=()), lambda: time.time() + clock_offset[0], seed=1, start=time.time())
    with TemporaryDirectory() as directory, serve(web, port=_port(), record=False) as serving:
        command = [sys.executable, "-m", "lycosa", "serve", f"{directory}/data", "--port", "0", "--quiet"]
        command += ["--allow-network", "127.0.0.0/8", "--delay", str(delay), "--contact", "crawl@example.org"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                link = next(line for line in process.stdout if "/join#" in line).strip()
                base, _, code = link.partition("/join#")
                yield Running(base, web, serving.port, clock_offset, _admin(base, code))
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(30)


def _port() -> int:
    """Return the port shown in the docs if it is free."""
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", WEB_PORT))
        except OSError:
            return 0
    return WEB_PORT


def _admin(base: str, code: str) -> str:
    """Create the first account through its link; return a token for it."""
    opener = _direct(urllib.request.HTTPCookieProcessor())

    def post(path: str, body: Any, csrf: str = "") -> Any:
        head = {"Content-Type": "application/json", "X-CSRF-Token": csrf}
        request = urllib.request.Request(f"{base}/api/v1{path}", json.dumps(body).encode(), head)
        with opener.open(request, timeout=60) as response:
            return json.load(response)

    csrf = post("/invitations/accept", {"code": code, "name": "Ada", "password": PASSWORD})["csrf"]
    scopes = ["read", "feedback", "write", "run", "account", "admin", "metrics"]
    return str(post("/me/tokens", {"name": "docs", "scopes": scopes, "days": 1}, csrf)["token"])


def run_calls(server: Running, text: str, *, check: bool) -> tuple[str, list[str]]:
    """Run the calls in a page; return the page with their responses, and the errors in the ones it showed."""
    known = {"LYCOSA": f"{server.base}/api/v1", "AUTH": f"Authorization: Bearer {server.token}"}
    wrong: list[str] = []

    def run(call: Call) -> str:
        typed = call.typed.replace(f":{WEB_PORT}", f":{server.port}")
        if "refresh" in call.path:
            server.clock_offset[0] += 4 * 86_400.0
        before = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        environment = {**before, **known}
        result = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, env=environment, check=True)
        answered = result.stdout.replace(f":{server.port}", f":{WEB_PORT}").replace(server.base, PUBLIC)
        if not answered.lstrip().startswith(("{", "[")):
            lacking = set(EVENT.findall(call.shown)) - set(EVENT.findall(answered))
            wrong.extend(f"{call.method} {call.path}: no event {name!r}" for name in lacking)
            return _shortened(answered)
        real = json.loads(answered)
        found = unlike(call.response, real)
        name = NAMES.get(f"{call.method} {call.path}")
        if name and name[1] in real:
            known[name[0]] = real[name[1]]
        wrong.extend(f"{call.method} {call.path}: {problem}" for problem in found)
        _settle(server, call, known)
        return pretty(real) + "\n"

    def block(found: re.Match[str]) -> str:
        lines = "".join(
            f"$ {call.typed}\n" + (run(call) if "$LYCOSA" in call.typed else call.shown) for call in _calls(found[1])
        )
        return f"```console\n{lines}```"

    return BLOCK.sub(block, text), wrong if check else []


def _settle(server: Running, call: Call, known: dict[str, str]) -> None:
    """Wait for the crawl that a call started, because later calls show its result."""
    if re.search(r"/(crawls|refresh|more)$", call.path) and call.method == "POST":
        server.wait(known["CRAWL"])


def _shortened(text: str) -> str:
    """Truncate the lines of a response that is not JSON."""
    lines = [
        line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 3] + "..." for line in text.strip().split("\n")
    ]
    return "\n".join(lines) + "\n" if text.strip() else ""


ROUTES = re.compile(r"(?<=<!-- routes -->\n).*?(?=<!-- end of routes -->)", re.DOTALL)


def routes() -> str:
    """Return a table of all routes for each tag, from the application itself."""
    from fastapi.routing import APIRoute

    from lycosa_server.api import routers

    found: dict[str, list[str]] = {}
    for route in [route for router in routers() for route in router.routes]:
        assert isinstance(route, APIRoute)
        guards = [part.call for part in route.dependant.dependencies if hasattr(part.call, "access")]
        ((_, mode, scope),) = [guard.access for guard in guards if guard is not None]
        (method,) = sorted(route.methods or ["none"])
        summary = (route.description.split("\n\n")[0]).replace("\n", " ").replace("|", "\\|")
        may = f"`{scope}`{f', {mode}' if mode in ('edit', 'own') else ''}" if scope else ""
        found.setdefault(str(route.tags[0]), []).append(f"| `{method} {route.path}` | {summary} | {may} |")
    head = "| {} | what it does | scope |\n|---|---|---|\n"
    return "\n".join(head.format(f"**{tag}**") + "\n".join(rows) + "\n" for tag, rows in found.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--check", action="store_true")
    kind.add_argument("--calls", action="store_true")
    kind.add_argument("--routes", action="store_true")
    kind.add_argument("--pictures", action="store_true")
    given = parser.parse_args()
    if given.routes:
        GUIDE.write_text(ROUTES.sub(lambda _: routes(), GUIDE.read_text("utf-8")), "utf-8")
        return
    if not given.pictures:
        text = GUIDE.read_text("utf-8")
        with running() as server:
            text, wrong = run_calls(server, text, check=given.check)
        if wrong:
            raise SystemExit("\n".join(["docs/api.md differs from the responses of the server:", *wrong]))
        if not given.check:
            GUIDE.write_text(ROUTES.sub(lambda _: routes(), text), "utf-8")
    if not (given.check or given.calls):
        from server_pictures import take

        with running(delay=0.3) as server:
            take(server, ROOT / "docs")


if __name__ == "__main__":
    main()
