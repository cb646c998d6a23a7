"""What `X-Robots-Tag` says of a page, to whom."""

from __future__ import annotations

_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


def tag_directives(value: str, agent: str) -> frozenset[str]:
    """The directives of X-Robots-Tag that concern us: unnamed ones, and those for our name."""
    directives: set[str] = set()
    for line in value.lower().split("\n"):
        directives |= _line_directives(line, agent.lower())
    return frozenset(directives | {"noindex", "nofollow"} if "none" in directives else directives)


def _line_directives(line: str, agent: str) -> set[str]:
    """Those of one header line; an agent's name stands before the directives that are for it alone."""
    directives: set[str] = set()
    applies = True
    for part in line.split(","):
        name, colon, rest = part.partition(":")
        name = name.strip()
        # `name: value` is a directive with a value or a user agent; a piece of a date (unavailable_after) is neither.
        if colon and name.replace("-", "").replace("_", "").isalpha() and name not in _VALUED:
            applies = name == agent
            part = rest
        if applies:
            directives.add(part.strip())
    return directives
