"""Jinja environment for self-contained HTML pages.

Names and texts are untrusted: output is escaped and stripped of characters that could hide or rearrange text. Only our
own style and scripts are inserted as they are; a page's content security policy names each script by digest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lycosa.drawing.formats import FILTERS, clean
from lycosa.drawing.svg import inline, style


def environment(package: str, *filters: Callable[..., Any], cleaned: bool = True) -> Environment:
    """Return the template environment of a package, with extra `filters`; `style` is the style sheet of figures."""
    own = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_cleaned if cleaned else None,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    own.filters |= FILTERS | {"count": "{:,}".format} | {shown.__name__: shown for shown in (inline, *filters)}
    own.globals["style"] = style()
    return own


def _cleaned(value: Any) -> Any:
    return clean(value) if type(value) is str else value
