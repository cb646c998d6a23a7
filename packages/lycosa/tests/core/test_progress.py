"""Tests of progress callbacks."""

from lycosa.core.progress import ProgressCallback, no_progress


def test_no_progress_accepts_any_progress() -> None:
    callback: ProgressCallback = no_progress
    callback("reading the log", 1, 0)
