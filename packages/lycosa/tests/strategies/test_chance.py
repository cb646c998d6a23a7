"""Random order."""

import numpy as np

from lycosa.core.table import Table
from lycosa.strategies.baselines import Random

ROWS = np.arange(20_000, dtype=np.int32)


def test_random_is_uniform() -> None:
    """Each tenth of [0, 1) gets about a tenth of the rows; neighbouring rows are independent."""
    for seed in (0, 1, 2, 12345, -1, 2**40, 2**64):
        scores = Random(seed).priority(ROWS, Table())
        assert ((scores >= 0) & (scores < 1)).all()
        counts = np.histogram(scores, bins=10, range=(0, 1))[0]
        assert (abs(counts - 2000) < 250).all()
        assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.05


def test_random_depends_on_seed() -> None:
    one, same, other = (Random(seed).priority(ROWS, Table()) for seed in (1, 1, 2))
    assert (one == same).all()
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.05


def test_random_priority_is_independent_of_other_rows() -> None:
    assert Random(3).priority(ROWS, Table())[7] == Random(3).priority(np.array([7], np.int32), Table())[0]
