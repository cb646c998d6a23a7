"""The site's own style sheets and scripts, and plotly's from its wheel: what lies in a list, nothing else.

Pages link to them under the name of the build (/static/BUILD/site.css), a digest of all of them together: so they may
be kept for ever, modules that import each other are always of one build, and a new version is fetched at once.
Without a build, or with an old one, the answer is the same file, to be asked for again each time (ETag).
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
PLOTLY = "plotly.min.js"
FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


@dataclass(frozen=True)
class Asset:
    """One file, as it is sent."""

    content: bytes
    type: str

    @cached_property
    def tag(self) -> str:
        """Its entity tag."""
        return f'"{sha256(self.content).hexdigest()[:20]}"'

    @cached_property
    def packed(self) -> bytes:
        """The same, compressed: made once, when somebody first asks."""
        return gzip.compress(self.content, 6, mtime=0)


class Assets:
    """All files that may be asked for, by name."""

    def __init__(self) -> None:
        self._assets: dict[str, Asset] = {}
        for file in files("lycosa.server").joinpath("static").iterdir():
            kind = TYPES.get(Path(file.name).suffix)
            if kind is not None:
                self._assets[file.name] = Asset(file.read_bytes(), kind)
        digest = sha256(version("plotly").encode() if find_spec("plotly") else b"")
        for name in sorted(self._assets):
            digest.update(name.encode() + self._assets[name].content)
        self.build = digest.hexdigest()[:12]

    def get(self, name: str) -> Asset | None:
        """A file, if it is one of them. Plotly's is large: read when it is first asked for."""
        if name == PLOTLY and name not in self._assets and find_spec("plotly"):
            content = files("plotly").joinpath("package_data", PLOTLY).read_bytes()
            self._assets[name] = Asset(content, TYPES[".js"])
        return self._assets.get(name)

    def link(self, name: str) -> str:
        """Where a page finds a file."""
        return f"/static/{self.build}/{name}"


@cache
def assets() -> Assets:
    """Those of this installation."""
    return Assets()
