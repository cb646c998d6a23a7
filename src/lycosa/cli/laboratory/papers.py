"""`lycosa lab paper: the experiments of five papers`."""

from __future__ import annotations
