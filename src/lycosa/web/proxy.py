"""A proxy between us and the web.

The user named it, so its own address needs no guard. What it dials for us nobody here can see: the guard still refuses
addresses and localhost names that a link spells out, but what a name leads to is the proxy's business.
"""

from __future__ import annotations

import os
import re
import socket
import ssl

from yarl import URL

from lycosa.core.errors import InputError

LOGIN = "LYCOSA_PROXY_AUTH"
"""The environment variable with the proxy's name:password."""

PATIENCE = 5.0
"""Seconds in which a proxy has to take a connection."""


class Proxy:
    """Where a proxy is, and whose certificates to trust behind it."""

    def __init__(self, address: str, authority: str = "", login: str = "") -> None:
        if not address:
            raise InputError("--proxy-ca is for requests through a proxy: name that, too, with --proxy URL")
        if "@" in address:  # it would end up in crawl.toml, and in reports that people pass on
            raise InputError(
                f"--proxy: no name and password in the address, please: set {LOGIN}=name:password in the environment"
            )
        try:
            self.url = URL(address if re.match(r"[\w.+-]+://", address) else f"http://{address}")
            host, port = self.url.host, self.url.port
        except ValueError as error:
            raise InputError(f"--proxy {address}: {error}; write it like http://127.0.0.1:8080") from error
        if self.url.scheme not in ("http", "https"):
            raise InputError(f"--proxy {address}: only HTTP proxies are spoken to; write it like http://127.0.0.1:8080")
        if not host or not port or self.url.path != "/" or self.url.query_string or self.url.fragment:
            raise InputError(f"--proxy {address}: not the address of a proxy; write it like http://127.0.0.1:8080")
        if login:
            name, _, password = login.partition(":")
            self.url = self.url.with_user(name).with_password(password)
        self.host, self.port = host, port
        self.tls = ssl.create_default_context()
        try:
            if authority:
                self.tls.load_verify_locations(authority)
        except ssl.SSLError as error:
            raise InputError(f"--proxy-ca {authority}: no certificate in PEM form ({error.reason})") from error
        except OSError as error:
            raise InputError(f"--proxy-ca {authority}: cannot be read: {error.strerror}") from error

    def __str__(self) -> str:
        """Its address without a password."""
        return f"{self.url.scheme}://{self.host}:{self.port}"

    def check(self) -> None:
        """Knock once, before anything is written: a proxy that is not there would close every host."""
        try:
            socket.create_connection((self.host, self.port), PATIENCE).close()
        except OSError as error:
            raise InputError(f"{self.silent(error)}; start it, or leave out --proxy") from error

    def silent(self, error: OSError) -> str:
        """What to say when it does not answer."""
        # HTTP clients put words of their own into strerror; those of a failed look-up are fine.
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        return f"the proxy {self} does not answer ({why})"
