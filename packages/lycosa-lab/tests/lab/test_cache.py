from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from lycosa_lab.cache import code_digest, load


def test_load_npy_file_returns_none(tmp_path: Path) -> None:
    with open(tmp_path / "a.npz", "wb") as file:
        np.save(file, np.arange(3))
    assert load(tmp_path / "a.npz") is None


def test_code_digest_depends_on_user_code_and_files(tmp_path: Path, own: Callable[[str], str]) -> None:
    file = tmp_path / "a.tsv"
    file.write_text("one")
    first = code_digest(f"rules,file={file}")
    assert first == code_digest(f"rules,file={file}")
    file.write_text("two")
    assert first != code_digest(f"rules,file={file}")
    text = own("pass")
    module = tmp_path / f"{text.partition(':')[0]}.py"
    for named in (text, f"mab_var,arms={text}+fl_n"):  # as an arm, too
        first = code_digest(named)
        module.write_text(module.read_text() + "# changed\n")
        assert first != code_digest(named)
