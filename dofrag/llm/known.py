"""Which mode a probe found for an endpoint, kept for later runs: no key, no user, no query."""

from __future__ import annotations

import json
import os
import re
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from dofrag.llm.interface import Mode

_SECRET_SEGMENT = re.compile(r"[A-Za-z0-9_-]{24,}")


def address(base_url: str) -> str:
    """An endpoint as it may be shown and kept: host and path, without user, query, or a part that may be a key."""
    try:
        parts = urlsplit(base_url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "…"  # no address: nothing of it is shown
    host = parts.hostname or ""
    return urlunsplit((parts.scheme, host + port, _SECRET_SEGMENT.sub("…", parts.path), "", ""))


def recall(path: Path, base_url: str, model: str, api: str) -> Mode | None:
    """The mode that was found, None where there is none or the file cannot be read: a cache is a courtesy."""
    found = _load(path).get(_key(base_url, model, api))
    mode = found.get("mode") if isinstance(found, dict) else None
    return Mode(mode) if mode in list(Mode) else None


def remember(path: Path, base_url: str, model: str, api: str, mode: Mode, day: date) -> None:
    """Keep what a probe found. Raises OSError where the cache cannot be written."""
    known = _load(path) | {_key(base_url, model, api): {"mode": str(mode), "on": day.isoformat()}}
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    fresh.replace(path)


def _key(base_url: str, model: str, api: str) -> str:
    return f"{address(base_url)} {model} {api}"


def _load(path: Path) -> dict[str, Any]:
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
