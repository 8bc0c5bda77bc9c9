"""What the pages show runs, and prints what stands below it."""

import contextlib
import io
import pathlib
import re

import pytest

PYTHON = pathlib.Path(__file__).parents[1]


@pytest.mark.parametrize("page", [PYTHON / "README.md", PYTHON.parent / "docs" / "python.md"], ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    blocks = re.findall(r"```python\n(.*?)```(?:\s+```text\n(.*?)```)?", page.read_text(encoding="utf-8"), re.DOTALL)
    assert blocks
    names = {"__name__": "page"}
    for code, shown in blocks:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, page.name, "exec"), names)
        assert not shown or out.getvalue() == shown
    if page.name == "python.md":
        picture = (tmp_path / "drive.png").read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
