"""Who may ask over HTTP: a file with a name and a token a line. Of tokens, only digests are kept in memory."""

from __future__ import annotations

import hmac
import re
import stat
from hashlib import sha256
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.core.files import read_input

SHORTEST = 24  # characters: 12 random bytes in hexadecimal
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")

_ADVICE = "write a name and a token per line, as in: ada $(openssl rand -hex 24)"


class Tokens:
    def __init__(self, tokens: dict[str, str]) -> None:
        self._digests = {name: sha256(token.encode()).digest() for name, token in tokens.items()}

    @classmethod
    def read(cls, path: Path) -> Tokens:
        """From a file that nobody else can read; # starts a comment."""
        text = read_input(path, 1_000_000, "the tokens in").decode("utf-8", "replace")  # bytes
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InputError(f"{path} can be read by others than its owner: chmod 600 {path}")
        tokens: dict[str, str] = {}
        for number, raw in enumerate(text.split("\n"), 1):
            words = raw.partition("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or not NAME.fullmatch(words[0]) or words[0] in tokens:
                raise InputError(f"{path}, line {number}: {_ADVICE}; a name has a-z, 0-9 and -, each once")
            if len(words[1]) < SHORTEST:
                raise InputError(f"{path}, line {number}: a token needs {SHORTEST} characters or more: {_ADVICE}")
            tokens[words[0]] = words[1]
        if not tokens:
            raise InputError(f"{path} has no tokens: {_ADVICE}")
        return cls(tokens)

    @property
    def names(self) -> list[str]:
        return list(self._digests)

    def name_of(self, token: str) -> str | None:
        """Whose token it is. All are compared, whichever fits: time tells nothing."""
        given, found = sha256(token.encode("utf-8", "replace")).digest(), None
        for name, digest in self._digests.items():
            if hmac.compare_digest(digest, given):
                found = name
        return found
