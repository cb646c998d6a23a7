"""`lycosa lab evaluate: the thesis's evaluator for any crawl`."""

from __future__ import annotations
