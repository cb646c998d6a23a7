"""Distribution of the budget."""

from __future__ import annotations

from typing import Any

from lycosa.core.budget import Budget
from lycosa_cluster.coordinator import Coordinator
from lycosa_cluster.messages import ShardReport


def test_report_grants_pages_to_best_rows() -> None:
    def granted_pages(
        coordinator: Coordinator, shard: int, *promises: float, pages: int = 0, granted: int = 0, **more: Any
    ) -> int:
        report = ShardReport(
            shard, more.pop("epoch", 1), pages, pages, 0, granted, 10**6, list(promises), busy=True, **more
        )
        return coordinator.report(report).pages - max(granted, pages)

    coordinator = Coordinator(2, Budget(pages=10), lambda: 0.0, slots=3)
    assert granted_pages(coordinator, 0, 0.9, 0.8, 0.1) == 0, "before all shards have reported"
    assert granted_pages(coordinator, 1, 0.5, 0.4) == 1
    assert granted_pages(coordinator, 0, 0.9, 0.8, 0.1) == 2
    assert granted_pages(coordinator, 1, 0.5, 0.4, granted=1) == 0, "no slot is free"
    assert granted_pages(coordinator, 1, 0.5, 0.4, pages=1, granted=1) == 1
    assert granted_pages(coordinator, 0, 0.9, 0.9, pages=2, granted=2) == 2
    assert granted_pages(coordinator, 0, *[0.9] * 9, pages=7, granted=7) == 1, (
        "two pages are granted to the other shard"
    )
    assert granted_pages(coordinator, 1, pages=1, epoch=2) == 0
    assert granted_pages(coordinator, 0, 0.9, 0.9, pages=8, granted=8) == 1
    choosy = Coordinator(2, Budget(), lambda: 0.0, choosy=0.7)
    granted_pages(choosy, 0, soon=1.0)
    assert granted_pages(choosy, 1, 0.8, 0.6) == 1
    # By hand: the best priority is -.1 + .6 = .5 and the margin .3 * .5 = .15, so the threshold is -.25.
    for soon, level, proportional, claims, granted in (
        (-0.1, 0.6, True, (-0.2, -0.24, -0.26), 2),
        (0.0, 0.5, True, (-0.1, -0.14, -0.16), 2),
        (0.8, -0.3, True, (0.66, 0.64), 1),
        (0.2, -0.3, True, (0.18, 0.16), 1),  # own priority -.1: margin .03
        (-100.0, 0.0, False, (-150.0, -160.0), 2),
    ):
        choosy = Coordinator(2, Budget(), lambda: 0.0, choosy=0.7)
        granted_pages(choosy, 0, soon=soon, level=level, proportional=proportional)
        assert granted_pages(choosy, 1, *claims, level=9.9, proportional=proportional) == granted, (soon, level)
    plain = Coordinator(2, Budget(), lambda: 0.0, slots=1, grants=False)
    granted_pages(plain, 0, 0.9)
    assert granted_pages(plain, 1, 0.1) == 1
    now = [0.0]
    coordinator = Coordinator(2, Budget(pages=10), lambda: now[0], slots=5, choosy=0.7)
    granted_pages(coordinator, 1, 0.1, 0.1)
    assert granted_pages(coordinator, 0, 0.9, 0.9, 0.9, soon=0.9) == 3
    for now[0], before, granted in ((2.9, 0, 0), (3.0, 0, 2), (9.9, 2, 0), (10.0, 2, 2)):
        assert granted_pages(coordinator, 1, 0.1, 0.1, granted=before) == granted, "claims of a silent shard expire"
    large = Coordinator(1, Budget(), lambda: 0.0, slots=2)
    assert [granted_pages(large, 0, *[0.5] * 20, pages=pages) for pages in (1_999, 2_199, 2_350, 11_000)] == [
        2,
        3,
        5,
        8,
    ]
