"""`lycosa lab leaderboard, lycosa lab gate`."""

from __future__ import annotations
