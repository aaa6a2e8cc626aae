"""Vision models worth pulling, and which agents Ollama starts.

Owns: both tables.
Must not: ask anybody.
"""

from __future__ import annotations

from hub.api.localmodel import CuratedModel

CURATED: tuple[CuratedModel, ...] = (
    CuratedModel(tag="qwen3-vl:8b", title="Qwen3-VL 8B: text in pictures, interfaces", gigabytes=6.1),
    CuratedModel(tag="gemma3:4b", title="Gemma 3 4B: small and quick", gigabytes=3.3),
    CuratedModel(tag="gemma3:12b", title="Gemma 3 12B", gigabytes=8.1),
    CuratedModel(tag="qwen2.5vl:7b", title="Qwen2.5-VL 7B: documents, charts", gigabytes=6.0),
    CuratedModel(tag="llama3.2-vision:11b", title="Llama 3.2 Vision 11B", gigabytes=7.8),
    CuratedModel(tag="minicpm-v:8b", title="MiniCPM-V 8B", gigabytes=5.5),
    CuratedModel(tag="granite3.2-vision:2b", title="Granite 3.2 Vision 2B: documents", gigabytes=2.4),
    CuratedModel(tag="moondream:1.8b", title="Moondream 2: the smallest", gigabytes=1.7),
)
"""Tags of Ollama's library; sizes as its pages tell them."""
TOOLS = {"claude": "claude", "codex": "codex", "opencode": "opencode"}
"""Provider -> the name `ollama launch` knows its agent by."""
