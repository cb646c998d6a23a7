"""The numbers that the paper gives, to be held against ours. Its three figures are drawn, and give none."""

from __future__ import annotations

STEPS = (100, 1_000, 10_000, 100_000)
"""The steps at which tables 2, 5, 6 and 7 are read."""

SIZES: dict[str, tuple[float, float, float, float]] = {
    "BRETAGNE": (2.2, 2.0, 35.6, 0.5),
    "FRANCE": (2.2, 19.2, 35.6, 6.8),
    "HAPPY": (16.9, 11.0, 78.0, 2.4),
    "JAZZ": (16.9, 0.6, 78.0, 0.1),
    "WEIRD": (16.9, 3.2, 78.0, 0.4),
}
"""Table 1: nodes in millions, non-zero nodes in %, edges in millions, non-zero edges in %."""

DEGRADATION: dict[int, tuple[float, float, float, float]] = {
    2: (0.4, 2.2, 3.9, 6.4),
    8: (1.3, 6.5, 12.8, 18.3),
    32: (6.6, 6.5, 17.5, 24.3),
    128: (38.8, 10.7, 19.9, 29.5),
    1024: (38.8, 74.3, 25.8, 35.9),
}
"""Table 2: what a batch size costs, in % of the score with a batch size of 1."""

FEATURES = ("fl_deg", "fl_n", "fl_e", "fl_ne", "sl_n", "sl_e", "sl_ne")

PEARSON: dict[str, tuple[float, ...]] = {
    "original": (0.063, 0.127, 0.073, 0.090, 0.170, 0.199, 0.203),
    "log": (0.269, 0.373, 0.402, 0.412, 0.273, 0.360, 0.356),
}
"""Table 3: correlation of each of FEATURES with the score, geometric mean over five graphs."""

R_SQUARED: dict[str, tuple[float, float]] = {"original": (0.030, 0.075), "log": (0.221, 0.230)}
"""Table 4: fit of lr_fl and lr_sl."""

TIMES: dict[str, dict[str, tuple[float | None, ...]]] = {
    "FRANCE": {
        "nr": (2832.1, 19720.5, None, None),
        "opic-alpha": (1.9, 2.5, 4.6, 4.7),
        "fl_ne": (0.2, 0.1, 0.1, 0.1),
        "lr_fl": (0.2, 0.2, 0.1, 0.1),
        "mab_var": (0.6, 0.3, 0.2, 0.2),
        "sl_ne": (8.5, 27.1, 2.0, 6.1),
        "lr_sl": (8.5, 27.2, 2.0, 6.1),
    },
    "HAPPY": {
        "nr": (45965.7, 105209.3, None, None),
        "opic-alpha": (1.8, 1.6, 1.9, 2.5),
        "fl_ne": (0.3, 0.1, 0.2, 2.1),
        "lr_fl": (0.5, 0.1, 0.2, 2.1),
        "mab_var": (1.1, 0.3, 0.5, 3.9),
        "sl_ne": (111.1, 24.5, 63.3, 240.5),
        "lr_sl": (111.4, 24.5, 63.3, 241.0),
    },
}
"""Table 5: milliseconds of one estimation."""

BANDITS: dict[str, tuple[float, float, float, float]] = {
    "mab_epsilon": (0.450, 0.481, 0.477, 0.495),
    "mab_first": (0.409, 0.501, 0.484, 0.490),
    "mab_var-0.1-1000": (0.383, 0.439, 0.420, 0.494),
    "mab_var-0.2-200": (0.427, 0.413, 0.461, 0.458),
}
"""Table 6: global scores."""

GLOBAL: dict[str, tuple[float, float, float, float]] = {
    "bfs": (0.147, 0.132, 0.130, 0.207),
    "opic": (0.283, 0.184, 0.205, 0.287),
    "n": (0.358, 0.280, 0.362, 0.467),
    "e": (0.594, 0.560, 0.457, 0.377),
    "ne": (0.583, 0.570, 0.466, 0.378),
    "lr_fl": (0.325, 0.382, 0.466, 0.504),
    "mab_var-0.2-200": (0.427, 0.413, 0.461, 0.458),
}
"""Table 7: global scores, relative to greedy with the oracle."""


def at(numbers: tuple[float | None, ...], step: int) -> float | None:
    """The number that the paper gives for a step, if it has that step.

    >>> at(GLOBAL["e"], 1_000), at(GLOBAL["e"], 300)
    (0.56, None)
    """
    return numbers[STEPS.index(step)] if step in STEPS else None
