"""The documentation site can be built strictly and offline."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_site_builds_with_valid_links_and_search(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("site_tool", ROOT / "tools" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    site = tmp_path / "site"
    tool.build(site)  # raises for any problem
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert all((site / page).is_file() for page in pages)
    index = json.loads((site / "search.json").read_text("utf-8"))
    found = {item["location"].partition("#")[0] for item in index["items"]}
    assert {str(page) for page in pages} <= found
    front = (site / "index.html").read_text("utf-8")
    for tab in ("Collect", "Archive", "Watch", "Research", "Run for a team", "Extend"):
        assert tab in front
    # `problems` reports inserted errors.
    (site / "wrong.html").write_text(
        '<a href="gone.html"></a><a href="index.html#nothing"></a><img src="none.png">'
        '<script src="//a.test/x.js"></script>'
    )
    assert sorted(tool.problems(site)) == [
        "wrong.html loads //a.test/x.js",
        "wrong.html: gone.html leads nowhere",
        "wrong.html: index.html#nothing names nothing on that page",
        "wrong.html: none.png leads nowhere",
    ]
