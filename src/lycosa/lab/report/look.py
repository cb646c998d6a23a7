"""How curves look: colours that people tell apart whatever their eyes, and line styles for where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.lab.findings import Curve

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B8860B", "#56B4E9", "#737373")
"""After Okabe and Ito; their yellow and black are replaced by what is seen on white and on black paper alike."""

STYLES = ("solid", "dash", "dot", "dashdot")
"""As plotly names them."""


@dataclass(frozen=True)
class Look:
    """A curve's colour, and its line style as plotly names it."""

    colour: str
    style: str

    @property
    def band(self) -> str:
        """The colour of the confidence band."""
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},0.16)"


def looks(curves: Sequence[Curve]) -> list[Look]:
    """The looks of curves by their place; a curve set against another has that one's colour, dashed.

    >>> a, b = Curve("a", [0], [1]), Curve("b", [0], [1], twin_of=0)
    >>> [(look.colour, look.style) for look in looks([a, b])]
    [('#0072B2', 'solid'), ('#0072B2', 'dash')]
    """
    paired = any(curve.twin_of is not None for curve in curves)
    found: list[Look] = []
    place = 0
    for curve in curves:
        if curve.twin_of is not None and 0 <= curve.twin_of < len(found):
            found.append(Look(found[curve.twin_of].colour, "dash"))
            continue
        style = "solid" if paired else STYLES[place % len(STYLES)]  # 7 x 4: the 29th looks like the first
        found.append(Look(PALETTE[place % len(PALETTE)], style))
        place += 1
    return found
