"""Files that come to be at once: what stands there in the end, and who may read it."""

import os

import pytest

import pandas_tba as tba


@pytest.fixture(scope="module")
def report():
    return tba.load_income().tba(y_pred="logit").report()


@pytest.mark.parametrize("kind", ["html", "markdown"])
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
def test_a_file_that_is_written_anew_keeps_its_mode(report, tmp_path, kind, mode):
    path, link = tmp_path / "x", tmp_path / "link"
    path.write_text("old", encoding="utf-8")
    path.chmod(mode)
    link.symlink_to(path)
    for place in (path, link):
        getattr(report, f"to_{kind}")(place)
        assert path.stat().st_mode & 0o7777 == mode
        assert path.read_text(encoding="utf-8") == getattr(report, f"to_{kind}")()
    assert link.is_symlink()


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_has_the_mode_of_other_new_files(report, tmp_path, mask):
    before = os.umask(mask)
    try:
        report.to_markdown(tmp_path / "x.md")
    finally:
        os.umask(before)
    assert (tmp_path / "x.md").stat().st_mode & 0o7777 == 0o666 & ~mask
