"""The pipeline routes: a list as a body, every field problem at once, and what is passed on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hub.api.convert import unstructure
from hub.api.pipelines import Pipelines
from hub.api.tables import read_pipelines
from hub.errors import HubError
from hub.messages.pipelines import ReplacePipelines, RunPipeline
from hub.web.codec import decode_body
from tests.hub.web.fake import NODE, PIPELINE, RUN, Server
from tests.hub.web.wire import ask


async def test_the_list_is_passed_on_with_every_key(server: Server):
    """Specification: the full array, the same shape as GET."""
    short = [{"name": "p", "nodes": [{"id": "a", "provider": "claude", "task": "x"}]}]
    reply = await ask(server.port, "POST", "/api/pipelines", short)
    assert (reply.status, reply.json) == (200, {"ok": True, "pipelines": [PIPELINE]})
    assert server.actors.calls == [ReplacePipelines(read_pipelines([PIPELINE]))]
    assert (await ask(server.port, "GET", "/api/pipelines")).json == [PIPELINE]
    assert (await ask(server.port, "POST", "/api/pipelines", [])).json == {"ok": True, "pipelines": []}


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        ({}, ["$"]),
        (None, ["$"]),
        ([5], ["$[0]"]),
        ([{"name": "p"}], ["$[0].nodes"]),
        ([{"name": "", "nodes": []}], ["$[0].name"]),
        (
            [{"name": "p", "nodes": [{**NODE, "id": "", "dependsOn": [1], "nope": 1}]}, {"nodes": {}}],
            ["$[0].nodes[0].nope", "$[0].nodes[0].id", "$[0].nodes[0].dependsOn[0]", "$[1].name", "$[1].nodes"],
        ),
        ([{"name": "p", "nodes": [{**NODE, "task": ""}, {**NODE, "verify": [""]}]}],
         ["$[0].nodes[0].task", "$[0].nodes[1].verify[0]"]),
    ],
)  # fmt: skip
async def test_fields_that_do_not_validate_are_told_all_at_once(server: Server, body: Any, paths: list[str]):
    """Decisions: 422, each problem listed with its JSON path."""
    data = b"null" if body is None else body
    reply = await ask(server.port, "POST", "/api/pipelines", data)
    assert (reply.status, reply.json["code"]) == (422, "invalid")
    assert [entry["path"] for entry in reply.json["errors"]] == paths
    assert server.actors.calls == []


async def test_an_empty_body_is_no_list(server: Server):
    """It would replace all pipelines by none."""
    reply = await ask(server.port, "POST", "/api/pipelines", b"")
    assert reply.status == 400
    assert server.actors.calls == []


async def test_a_run_is_ordered_by_name(server: Server):
    reply = await ask(server.port, "POST", "/api/pipelines/run", {"name": "p"})
    assert (reply.status, reply.json) == (202, {"ok": True, **unstructure(RUN)})
    await ask(server.port, "POST", "/api/pipelines/run", {"name": "p", "resume": True})
    assert server.actors.calls == [RunPipeline("p"), RunPipeline("p", resume=True)]


async def test_the_description_has_the_list_as_a_body(server: Server):
    document = (await ask(server.port, "GET", "/openapi.json")).json
    body = document["paths"]["/api/pipelines"]["post"]["requestBody"]
    assert body["required"] is True
    schema = body["content"]["application/json"]["schema"]
    assert (schema["type"], schema["items"]) == ("array", {"$ref": "#/components/schemas/Pipeline"})
    node = document["components"]["schemas"]["Node"]
    assert node["required"] == ["id", "provider", "task"]
    assert node["additionalProperties"] is False


def test_a_list_has_a_limit():
    many = [{"name": f"p{n}", "nodes": []} for n in range(201)]
    with pytest.raises(HubError, match=r"\$: Expected `array` of length <= 200"):
        decode_body(json.dumps(many).encode(), Pipelines, {})
