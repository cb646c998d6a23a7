"""How a server is run: what `lycosa serve` was told."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.people.database import is_id

VARIABLE = "LYCOSA_SETTINGS"
"""How the processes of a server are told: by their environment, as the database's address may hold a password, and
anyone may read the command lines of a machine.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Where things lie, who may reach them, and how much is done at once."""

    data: Path
    """The directory of everything that is kept: database (if it is SQLite) and crawls."""
    database: str = ""
    """`postgresql://...`; empty: SQLite in the directory."""
    host: str = "127.0.0.1"
    port: int = 8000
    url: str = ""
    """The address under which people reach it, as in https://lycosa.example.org; empty: that of host and port."""
    crawls: int = 8
    """Crawls that run at once."""
    crawls_per_person: int = 2
    max_budget: int = 10_000
    """Pages that a person may ask for in one crawl."""
    max_interests: int = 100
    """Interests that a person may have."""
    max_models: int = 20
    """Models that a person may have."""
    concurrency: int = 8
    """Requests that one crawl has in flight."""
    delay: float = 1.0
    """Seconds that a host is left alone after each answer."""
    allow_network: tuple[str, ...] = ()
    """Networks that may be crawled although they are not public: the operator's word, never a member's."""
    contact: str = ""
    random_seed: int = 0
    trusted_proxies: tuple[str, ...] = field(default_factory=tuple)
    """Addresses of reverse proxies whose X-Forwarded-For is believed."""

    @property
    def base(self) -> str:
        """The address people use, without a slash at its end."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (self.url or f"http://{host}:{self.port}").rstrip("/")

    @property
    def secure(self) -> bool:
        """Whether people come by https: cookies are then for https only."""
        return self.base.startswith("https://")

    @property
    def database_address(self) -> str:
        """What `Database.open` takes."""
        return self.database or str(self.data / "lycosa.sqlite")

    def crawl_directory(self, crawl: str) -> Path:
        """Where a crawl lies: in the crawls' directory, and nowhere else."""
        if not is_id(crawl):
            raise InputError(f"{crawl[:60]!a} is no crawl")
        return self.data / "crawls" / crawl

    def model_file(self, model: str) -> Path:
        """Where a model lies: among the models, and nowhere else."""
        if not is_id(model):
            raise InputError(f"{model[:60]!a} is no model")
        return self.data / "models" / model

    def environment(self) -> dict[str, str]:
        """What tells a process these settings."""
        return {VARIABLE: json.dumps(asdict(self) | {"data": str(self.data.absolute())})}

    @staticmethod
    def from_environment() -> Settings:
        """The settings that this process was started with."""
        told = json.loads(os.environ[VARIABLE])
        for name in ("allow_network", "trusted_proxies"):
            told[name] = tuple(told[name])
        return Settings(**told | {"data": Path(told["data"])})


def without_place(settings: Settings, text: str) -> str:
    """A message without the directory that the server keeps things in: that is nobody's business who asks by the web.

    >>> without_place(Settings(Path("/srv/lycosa")), "cannot read /srv/lycosa/crawls/1/log.sqlite")
    'cannot read DATA/crawls/1/log.sqlite'
    """
    for place in {str(settings.data.absolute()), str(settings.data.resolve())}:
        text = text.replace(place, "DATA")
    return text
