"""Generated files are what the code says now."""

from __future__ import annotations

import subprocess
import sys

import generated


def test_generated_files_are_up_to_date() -> None:
    """In a process of its own: what other tests left behind in this one must not reach the pages."""
    maker = [sys.executable, str(generated.ROOT / "tests/generated.py"), "--check"]
    done = subprocess.run(maker, capture_output=True, text=True, timeout=300, cwd=generated.ROOT)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
