"""`lycosa lab index, lycosa lab fetch: corpora`."""

from __future__ import annotations
