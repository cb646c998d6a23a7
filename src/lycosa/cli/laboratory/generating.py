"""`lycosa lab generate: graphs of any size`."""

from __future__ import annotations
