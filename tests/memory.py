"""How much memory a process has, as the kernel counts it."""

from __future__ import annotations

from pathlib import Path


def resident(pid: int | str = "self", *, peak: bool = False) -> int:
    """Bytes that are in memory; with `peak` the most that ever were, exec and all."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:" if peak else "VmRSS:")[2].split()[0]) * 1024
