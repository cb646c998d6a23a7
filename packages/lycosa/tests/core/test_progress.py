"""Tests of progress callbacks."""

from lycosa.core.progress import ProgressCallback, no_progress


def test_progress_can_be_ignored() -> None:
    callback: ProgressCallback = no_progress
    callback("reading the log", 1, 0)
