"""The values of Kubernetes Secrets, as people and `kubectl` write them."""

from __future__ import annotations

import pytest

from hub.domain.redaction.manifest import LIMIT, Manifests
from hub.domain.redaction.redactor import KnownSecrets, Redactor

WRITTEN = """apiVersion: v1
kind: Secret
metadata:
  name: shop
  labels: {app: shop}
type: Opaque
# made by hand
data:
  url: cG9zdGdyZXM6Ly9h

  extra: 'YmFyCg=='
stringData:
  note.txt: |
    first line of it
    second: of a file
  templated: {{ .Values.password }}
  no: off
---
kind: ConfigMap
data:
  name: YmFyCg==YmFyCg==
"""
TOLD = """items:
- apiVersion: v1
  data:
    url: cG9zdGdyZXM6Ly9h
    note.txt: >-
      second line
  immutable: true
  kind: Secret
  metadata:
    name: shop
- apiVersion: v1
  data:
    url: aHR0cDovL2xvY2Fs
  kind: ConfigMap
"""
SECRETS = {
    WRITTEN: ("cG9zdGdyZXM6Ly9h", "YmFyCg==", "first line of it", "of a file"),
    TOLD: ("cG9zdGdyZXM6Ly9h", "second line"),
}


def found(text: str) -> list[str]:
    return [text[span.start : span.end] for span in Manifests().scan(text, 0, final=True)[0]]


def redactor() -> Redactor:
    made = Redactor(KnownSecrets(), b"key")
    made._layers = (Manifests(),)
    return made


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("text", SECRETS, ids=["by hand", "by kubectl"])
def test_all_values_of_a_secret_are_hidden_whatever_they_are_called(text, end):
    """Security R1 c."""
    told = found(text.replace("\n", end))
    hidden = [part for part in SECRETS[text] if any(part in value for value in told)]
    assert hidden == list(SECRETS[text])
    assert not any("Values" in value or "YmFyCg==YmFyCg==" in value or "aHR0" in value for value in told)


@pytest.mark.parametrize("text", SECRETS, ids=["by hand", "by kubectl"])
def test_it_is_hidden_alike_at_every_cut(text):
    """The redactor's first law, and its second."""
    whole = redactor().text(text)
    assert redactor().text(whole) == whole
    for cut in range(len(text)):
        stream = redactor().stream()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == whole, cut
    stream = redactor().stream()
    assert "".join(map(stream.feed, text)) + stream.flush() == whole


@pytest.mark.parametrize(
    "text",
    [
        "data:\n  url: cG9zdGdyZXM6Ly9h\nother: x\nkind: Secret\n",
        "data:\n  url: cG9zdGdyZXM6Ly9h\nkind: SecretStore\n",
        "kind: Secret\nspec:\n  data:\n    url: cG9zdGdyZXM6Ly9h\n",
        "  kind: Secret\ndata:\n  url: cG9zdGdyZXM6Ly9h\n",
        "a kind: Secret\ndata:\n  url: cG9zdGdyZXM6Ly9h\n",
        "kind: Secret\nno more YAML\ndata:\n  url: cG9zdGdyZXM6Ly9h\n",
    ],
)
def test_no_other_document_is_touched(text):
    assert found(text) == []


def test_no_more_is_held_back_than_a_document_may_have():
    """The redactor's fourth law."""
    line = "  url: cG9zdGdyZXM6Ly9h\n"
    begun = "data:\n" + line * (LIMIT // len(line))
    layer = Manifests()
    assert layer.scan(begun, 0, final=False) == ([], 0)
    spans, hold = layer.scan(begun + line * LIMIT, 0, final=False)
    assert (spans, hold) == ([], len(begun + line * LIMIT))
    assert layer.scan("data: x\nki", 0, final=False) == ([], len("data: x\n"))
    assert layer.scan("data: x\nkin d", 0, final=False) == ([], len("data: x\nkin d"))


def test_a_line_without_an_end_is_read_up_to_a_bound():
    text = "kind: Secret\ndata:\n  url: " + "aB3x9Qz1" * LIMIT
    assert len(found(text)[0]) == 2 * LIMIT - text.index("aB3")


@pytest.mark.parametrize("letter", [" ", "-", '"', "' "])
def test_a_long_line_of_blanks_is_not_held_back(letter):
    """Bug: a line that might still become `kind: Secret` was held to its end, and read again with each piece."""
    stream = Redactor(KnownSecrets(), b"key").stream()
    out = "".join(stream.feed(letter * 100) for _ in range(20))
    assert len(letter * 2000) - len(out) <= 256
