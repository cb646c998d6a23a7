"""OPIC as published, after Gouriten et al.: three steps by hand, on four nodes."""

from __future__ import annotations

import numpy as np
import pytest

from lycosa.core.table import Table
from lycosa.core.types import Links, Visit
from lycosa.strategies.opic_alpha import OpicOriginal


def visit(opic: OpicOriginal, table: Table, node: str, **link_relevances: float) -> list[list[float]]:
    """Visit a node with links of these relevances; return C, H and the estimate of the known nodes of a, b, c and d."""
    links = Links.to(*link_relevances)
    links.link_relevances = np.array(list(link_relevances.values()), np.float32)
    step = table.absorb(Visit(node, "page", "ok", 1, links=links))
    assert step is not None
    opic.learn(step, table)
    rows = np.array([table.row_of[name] for name in "abcd" if name in table.row_of], np.int32)
    return [opic.C_[rows].tolist(), opic.H_[rows].tolist(), opic.importance(rows, table).tolist()]


@pytest.mark.paper("gouriten-opic-original")
def test_opic_original_three_visits_by_hand() -> None:
    """a -> b, c; b -> a, c, d; c -> d. Link relevances are ignored."""
    opic, table = OpicOriginal(), Table()
    table.add_seed("a")
    # H(a) = 1; C(b) = C(c) = 1 + 1/2; G = 1
    C, H = [0, 1 + 1 / 2, 1 + 1 / 2], [1, 0, 0]
    assert visit(opic, table, "a", b=0.9, c=0.1) == [C, H, [1 / 2, 1.5 / 2, 1.5 / 2]]
    # H(b) = 1.5; C(a) = 0 + 1.5/3, C(c) = 1.5 + 1.5/3, C(d) = 1 + 1.5/3; G = 1 + 1.5
    C, H = [0.5, 0, 2, 1.5], [1, 1.5, 0, 0]
    assert visit(opic, table, "b", a=0.0, c=0.0, d=1.0) == [C, H, [1.5 / 3.5, 1.5 / 3.5, 2 / 3.5, 1.5 / 3.5]]
    # H(c) = 2; C(d) = 1.5 + 2/1; G = 2.5 + 2
    C, H = [0.5, 0, 0, 3.5], [1, 1.5, 2, 0]
    assert visit(opic, table, "c", d=0.0) == [C, H, [1.5 / 5.5, 1.5 / 5.5, 2 / 5.5, 3.5 / 5.5]]


def test_opic_original_cash_grows_with_nodes() -> None:
    """Unlike Guan's OPIC, where all cash comes from seeds: after two visits four nodes have C = 4 in total."""
    opic, table = OpicOriginal(), Table()
    table.add_seed("a")
    visit(opic, table, "a", b=0.0, c=0.0)
    assert float(opic.C_[: len(table)].sum()) == 3
    visit(opic, table, "b", d=0.0)
    assert float(opic.C_[: len(table)].sum()) == 4
