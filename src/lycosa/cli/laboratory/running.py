"""`lycosa lab run: an experiment`."""

from __future__ import annotations
