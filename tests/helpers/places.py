"""Directories that tests read."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPORA = ROOT.parent / "shared" / "corpora"  # recorded crawls; tests that need them are skipped if they are missing
