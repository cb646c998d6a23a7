"""A complete site for tests: an application with a database, a manual clock, and signed-in users."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient

from lycosa_server.app import create_app
from lycosa_server.people import accounts, catalogue
from lycosa_server.people.credentials import Passwords
from lycosa_server.people.database import Database
from lycosa_server.people.migrating import migrate
from lycosa_server.settings import Settings

CHEAP = Passwords(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "correct horse battery"
API = "/api/v1"


@dataclass
class Clock:
    """Manual clock, advanced by `clock.now += 60`."""

    now: float = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class SiteUnderTest:
    """Site of which `sign_up` creates users and `client` is anonymous."""

    app: FastAPI
    database: Database
    clock: Clock
    settings: Settings
    clients: list[TestClient] = field(default_factory=list)

    def client(self, **given: Any) -> TestClient:
        """Return an anonymous client."""
        made = TestClient(self.app, base_url=self.settings.base, **given)
        self.clients.append(made)
        return made

    def sign_up(self, name: str, role: str = "member", password: str = PASSWORD) -> TestClient:
        """Create a user; return a signed-in client that sends the CSRF token."""
        _, code = accounts.invite(self.database, self.clock(), role)
        client = self.client()
        answer = client.post(f"{API}/invitations/accept", json={"code": code, "name": name, "password": password})
        assert 201 == answer.status_code, answer.text
        client.headers["X-CSRF-Token"] = answer.json()["csrf"]
        return client

    def sign_in(self, name: str, password: str = PASSWORD) -> TestClient:
        """Return another signed-in client of a user."""
        client = self.client()
        answer = client.post(f"{API}/session", json={"name": name, "password": password})
        assert 200 == answer.status_code, answer.text
        client.headers["X-CSRF-Token"] = answer.json()["csrf"]
        return client

    def token(self, client: TestClient, scopes: list[str], days: int | None = None) -> TestClient:
        """Return a client that uses an API token of the user of `client`."""
        answer = client.post(f"{API}/me/tokens", json={"name": "for a test", "scopes": scopes, "days": days})
        assert 201 == answer.status_code, answer.text
        made = self.client()
        made.headers["Authorization"] = f"Bearer {answer.json()['token']}"
        return made

    def id_of(self, client: TestClient) -> str:
        """Return the user id of `client`."""
        return str(client.get(f"{API}/me").json()["id"])

    def close(self) -> None:
        for client in self.clients:
            client.close()
        self.database.close()


def make_site(database_address: str | Path, tmp_path: Path, **settings: Any) -> SiteUnderTest:
    """Create a site on a database; `settings` are fields of `Settings`."""
    address = str(database_address)
    chosen = Settings(tmp_path, database=address if "://" in address else "", **settings)
    if "://" not in address and not Path(address).exists():
        Path(address).write_bytes(fresh_database())
    database = Database(address)
    clock = Clock()
    return SiteUnderTest(create_app(chosen, database, clock=clock, passwords=CHEAP), database, clock, chosen)


@cache
def fresh_database() -> bytes:
    """Return an SQLite file of the current schema, created once and copied for each site."""
    with TemporaryDirectory() as place:
        database = Database(f"{place}/lycosa.sqlite")
        migrate(database)
        catalogue.fill(database, Clock.now)
        database.close()
        return Path(place, "lycosa.sqlite").read_bytes()
