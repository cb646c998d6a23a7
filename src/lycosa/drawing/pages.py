"""Pages of HTML that load nothing from anywhere: the one place that sets Jinja up.

What templates print is escaped; names and texts were written by strangers, so it is cleaned, too, of characters that
could rearrange or hide the text around it. Only our own style and scripts go into a page as they are, and a page's
policy names each script that may run by its digest.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lycosa.drawing.formats import FILTERS, clean
from lycosa.drawing.svg import inline


def environment(package: str, *filters: Callable[..., Any], cleaned: bool = True) -> Environment:
    """The templates of a package; `filters` come on top of ours."""
    own = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned if cleaned else None,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own.filters |= FILTERS | {shown.__name__: shown for shown in (inline, *filters)}
    return own


def _cleaned(value: Any) -> Any:
    return clean(value) if type(value) is str else value


def source(of: Environment, name: str) -> Markup:
    """A file of ours that goes into a page as it is."""
    assert of.loader is not None
    return Markup(of.loader.get_source(of, name)[0])


@cache
def digest(script: str) -> str:
    """How a page's policy names a script that may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
