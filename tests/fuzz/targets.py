"""All fuzz targets: every parser of external input."""

from __future__ import annotations

from fuzz.harness import Target
from fuzz.targets_files import FILES
from fuzz.targets_web import WEB

TARGETS: dict[str, Target] = {target.name: target for target in (*WEB, *FILES)}
