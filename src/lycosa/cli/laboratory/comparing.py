"""`lycosa lab compare: what two reports have in common`."""

from __future__ import annotations
