"""The digest that shows that a document was made with the key of this ledger."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

SCHEME = "hmac-sha256:"


def digest_of(content: Mapping[str, Any], key: bytes) -> str:
    """The digest of a document in canonical form; nobody makes it without the key."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return SCHEME + hmac.new(key, canonical.encode(), hashlib.sha256).hexdigest()


def is_digest_of(content: Mapping[str, Any], key: bytes, digest: str) -> bool:
    """Whether a digest belongs to a document; the comparison tells nothing by how long it takes."""
    return hmac.compare_digest(digest_of(content, key).encode(), digest.encode("utf-8", "replace"))
