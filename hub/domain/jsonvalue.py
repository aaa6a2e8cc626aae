"""JSON that is built by hand.

Owns: what such a document is called. Must not: describe one; a class does.
Tests: tests/hub/domain/text/test_patterns.py
"""

from typing import Any

JsonObject = dict[str, Any]
