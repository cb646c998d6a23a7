"""The user's own headers and cookies, each sent only to the hosts it is meant for.

They are added when a request is sent, and appear in no log, archive or error message. A redirect is a new request: a
secret never follows it to another host.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.files import read_input
from lycosa.core.protocols import Clock
from lycosa.web.urls import host, host_key

_HEADER = re.compile(r"(\S+)\s+([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)")
_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")
_FIELD_VALUE = re.compile(r"[\x20-\x7e\t]*")
_OWN_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "user-agent", "accept-encoding"})


@dataclass(frozen=True, slots=True)
class Cookie:
    domain: str
    subdomains: bool  # also sent to subdomains
    path: str
    secure: bool
    expires: float
    pair: str

    def is_for(self, url: str, now: float) -> bool:
        name, path = host(url), url[url.index("/", 8) :].partition("?")[0]
        if name != self.domain and not (self.subdomains and name.endswith(f".{self.domain}")):
            return False
        if (self.secure and not url.startswith("https://")) or (self.expires and now >= self.expires):
            return False
        return path == self.path or path.startswith(self.path if self.path.endswith("/") else self.path + "/")


class Credentials:
    """Extra request headers per host."""

    def __init__(self, headers: Iterable[str] = (), cookies: str = "", clock: Clock = lambda: 0.0) -> None:
        self._headers: dict[str, dict[str, str]] = {}
        for text in headers:
            host_name, name, value = _parse_header(text)
            self._headers.setdefault(host_name, {})[name] = value
        self._cookies = _read_cookies(Path(cookies)) if cookies else []
        self._clock = clock

    def __bool__(self) -> bool:
        return bool(self._headers or self._cookies)

    def fields(self, url: str) -> dict[str, str]:
        if not self:
            return {}
        fields = {**self._headers.get(host(url), {}), **self._headers.get(host_key(url), {})}
        now = self._clock()
        pairs = [cookie.pair for cookie in self._cookies if cookie.is_for(url, now)]
        return {**fields, "Cookie": "; ".join(pairs)} if pairs else fields


def _parse_header(text: str) -> tuple[str, str, str]:
    match = _HEADER.fullmatch(text.strip())
    if match is None:
        raise InputError("bad-value", "--header must be 'HOST NAME: VALUE', as in 'example.org X-Key: $TOKEN'")
    host_name, name, value = match[1].lower(), match[2], _VARIABLE.sub(_variable_value, match[3])
    if name.lower() in _OWN_HEADERS or not _FIELD_VALUE.fullmatch(value):
        reason = "Lycosa sets it itself" if name.lower() in _OWN_HEADERS else "its value is not plain ASCII"
        raise InputError("bad-value", f"--header {name} for {host_name} can't be sent: {reason}")
    return host_name, name, value


def _variable_value(match: re.Match[str]) -> str:
    name = match[1] or match[2]
    if name not in os.environ:
        raise InputError("missing-variable", f"--header: the environment variable {name} is not set")
    return os.environ[name]


def _read_cookies(path: Path) -> list[Cookie]:
    cookies = []
    text = read_input(path, 10_000_000, "the cookies").decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        line = line.removeprefix("#HttpOnly_")
        if not line.strip() or line.startswith("#"):
            continue
        columns = line.split("\t")
        if len(columns) != 7 or not re.fullmatch(r"-?\d{1,15}(\.\d*)?", columns[4]) or not _FIELD_VALUE.fullmatch(line):
            raise InputError("bad-file", f"{path}, line {number}: not a cookie in Netscape format (7 columns, tabs)")
        domain, subdomains, path_prefix, secure, expires, name, value = columns
        cookies.append(
            Cookie(
                domain.lower().lstrip("."), subdomains.upper() == "TRUE" or domain.startswith("."), path_prefix or "/",
                secure.upper() == "TRUE", float(expires), f"{name}={value}",
            )
        )  # fmt: skip
    return cookies
