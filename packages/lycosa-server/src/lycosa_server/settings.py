"""Settings of a server: the options of `lycosa serve`."""

from __future__ import annotations

import ipaddress
import json
import math
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lycosa.browser.finding import missing_requirements
from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.revisit.notify import channels_of
from lycosa.web.signing import Identity
from lycosa_server.people.ids import is_id

# An environment variable, because the database address may contain a password and command lines are public.
VARIABLE = "LYCOSA_SETTINGS"


def setting(default: Any, *texts: str, variable: str = "") -> Any:
    """Declare a field with a `lycosa serve` option: optional flag and metavar, then the help text."""
    return field(default=default, metadata={"texts": texts, "variable": variable})


@dataclass(frozen=True, slots=True)
class Settings:
    data: Path  # directory of all data: crawls, models, and the database if it is SQLite
    database: str = setting(
        "",
        "ADDRESS",
        "postgresql://user:pass@host/name instead of SQLite in DATA. Prefer the environment variable "
        "LYCOSA_DATABASE: other users of this machine can read command lines.",
        variable="LYCOSA_DATABASE",
    )
    host: str = setting("127.0.0.1", "ADDRESS", "The address to listen on; 0.0.0.0 for all addresses of this machine.")
    port: int = setting(8000, "The port to listen on; 0 takes a free one.")
    url: str = setting(
        "",
        "URL",
        "The public address, such as https://lycosa.example.org, if it differs from host and port; used "
        "for links and cookies.",
    )
    crawls: int = setting(8, "Maximum concurrent crawls; others wait in a queue.")
    crawls_per_person: int = setting(2, "Maximum concurrent crawls per person.")
    max_budget: int = setting(10_000, "Maximum pages per crawl.")
    max_interests: int = 100  # per person
    max_models: int = 20
    concurrency: int = 8  # requests in flight per crawl
    delay: float = setting(1.0, "Seconds to wait after each response before the next request to the same host.")
    # For the operator only, never set by members.
    allow_network: tuple[str, ...] = setting((), "CIDR", "A private network that requests may go to; repeatable.")
    contact: str = setting("", "A URL or email address for site owners to contact you; sent with every request.")
    operator: str = setting("", "NAME", "Who runs this server, as recorded in WARC files.")
    identity: str = setting(
        "",
        "FILE",
        "Sign every request with the identity in this file, so that sites can verify it: see 'lycosa identity'.",
    )
    respect_opt_outs: str = setting(
        "",
        "WHICH",
        "Skip pages whose owners opted out of AI training (training) or of any use (all); members may only be "
        "stricter.",
    )
    render: str = setting(
        "never",
        "WHEN",
        "Whether crawls render pages that need JavaScript: auto or never. Takes Chromium, the extra 'browser', and "
        "some 400 MB for each crawl that meets such pages.",
    )
    cluster: str = setting(
        "",
        "WHERE",
        "Run crawls on Ray: local:4 (four shards on this machine), auto, or the address of a cluster; ,shards=N "
        "says how many.",
    )
    notify: tuple[str, ...] = setting(
        (),
        "URL",
        "Send the endings of all crawls to this address of apprise, such as mailto://...; repeatable. Prefer the "
        "environment variable LYCOSA_NOTIFY, as addresses hold passwords.",
        variable="LYCOSA_NOTIFY",
    )
    random_seed: int = 0
    trusted_proxies: tuple[str, ...] = setting(
        (), "--trusted-proxy", "ADDRESS", "A reverse proxy whose X-Forwarded-For header is trusted; repeatable."
    )

    def check(self) -> None:
        for option, names in {"allow-network": self.allow_network, "trusted-proxy": self.trusted_proxies}.items():
            for name in names:
                try:
                    ipaddress.ip_network(name, strict=False)  # host names are refused: their addresses can change
                except ValueError as error:
                    raise InputError("bad-value", f"--{option} {name!r}: use a network like 192.168.0.0/16") from error
        self._check_numbers()
        try:
            parts = urlsplit(self.url)
            wrong = bool(self.url) and (parts.scheme not in ("http", "https") or not parts.hostname or parts.query)
        except ValueError:
            wrong = True
        if wrong:
            raise InputError("bad-url", f"--url {self.url} is not a base URL; example: https://lycosa.example.org")
        Options(
            contact=self.contact, operator=self.operator, respect_opt_outs=self.respect_opt_outs, identity=self.identity
        ).check()
        if not self.contact.isprintable():
            raise InputError("bad-value", "--contact contains control characters: remove them")
        if self.identity:
            Identity.load(Path(self.identity))
        self._check_browser()
        channels_of(self.notify)
        if self.cluster:
            from lycosa.crawling.runners import runner  # imports the crawl's dependencies

            runner(self.cluster).check()

    def _check_numbers(self) -> None:
        for name in ("crawls", "crawls_per_person", "max_budget"):
            if getattr(self, name) < 1:
                raise InputError("out-of-range", f"--{name.replace('_', '-')} must be at least 1")
        if not (math.isfinite(self.delay) and self.delay >= 0):
            raise InputError("out-of-range", f"--delay ({self.delay}) must be at least 0 seconds")

    def _check_browser(self) -> None:
        if self.render not in ("auto", "never"):
            raise InputError("bad-value", f"unknown value of --render, {self.render!r}: choose auto or never")
        if self.render == "auto" and (missing := missing_requirements("")):
            raise InputError("missing-package", f"--render auto needs a browser: {missing}")

    @property
    def base(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def secure(self) -> bool:
        return self.base.startswith("https://")

    @property
    def proxies(self) -> list[str]:
        """Networks of trusted proxies, IPv4 ones also in the mapped form that dual-stack sockets report."""
        networks = [ipaddress.ip_network(name, strict=False) for name in self.trusted_proxies]
        mapped = [f"::ffff:{one.network_address}/{96 + one.prefixlen}" for one in networks if one.version == 4]
        return [*map(str, networks), *mapped]

    @property
    def database_address(self) -> str:
        return self.database or str(self.data / "lycosa.sqlite")

    def crawl_directory(self, crawl: str) -> Path:
        return self._inside("crawls", crawl)

    def model_file(self, model: str) -> Path:
        return self._inside("models", model)

    def _inside(self, folder: str, name: str) -> Path:
        if not is_id(name):  # other names could lead outside the directory
            raise InputError("bad-id", f"{name[:60]!a} is not an id")
        return self.data / folder / name

    def environment(self) -> dict[str, str]:
        return {VARIABLE: json.dumps(asdict(self) | {"data": str(self.data.absolute())})}

    @staticmethod
    def from_environment() -> Settings:
        given = json.loads(os.environ[VARIABLE])
        for name in ("allow_network", "trusted_proxies", "notify"):
            given[name] = tuple(given[name])
        return Settings(**given | {"data": Path(given["data"])})


def hide_data_directory(settings: Settings, text: str) -> str:
    """Replace the data directory in a message: clients should not learn its path.

    >>> hide_data_directory(Settings(Path("/srv/lycosa")), "cannot read /srv/lycosa/crawls/1/crawl.sqlite")
    'cannot read DATA/crawls/1/crawl.sqlite'
    """
    for place in {str(settings.data.absolute()), str(settings.data.resolve())}:
        text = text.replace(place, "DATA")
    return text
