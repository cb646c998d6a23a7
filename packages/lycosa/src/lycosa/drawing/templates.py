"""Pages of HTML that load nothing from anywhere: the one place that sets Jinja up.

What templates print is escaped; names and texts were written by strangers, so it is cleaned, too, of characters that
could rearrange or hide the text around it. Only our own style and scripts go into a page as they are, and a page's
policy names each script that may run by its digest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from lycosa.drawing.formats import FILTERS, clean
from lycosa.drawing.svg import inline, style


def environment(package: str, *filters: Callable[..., Any], cleaned: bool = True) -> Environment:
    """Return the templates of a package; `filters` come on top of ours, and `style` is the style sheet of figures."""
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
