"""A part of the graph as a picture."""

import xml.etree.ElementTree as ET

from hub.api.convert import structure
from hub.api.graph import Detail
from hub.web.page.graph import label, net
from tests.hub.web.fake import DETAIL


def test_nodes_edges_and_their_names():
    detail = structure(
        {
            "nodes": [
                *DETAIL["nodes"],
                {**DETAIL["nodes"][0], "id": "task:s-1", "node_type": "task", "payload": {"title": 7}},
            ],
            "edges": [*DETAIL["edges"], {**DETAIL["edges"][0], "to_id": "file:none"}],
        },
        Detail,
    )
    assert [label(node) for node in detail.nodes] == ["a.py", "s-1"]
    drawn = ET.fromstring(net(detail))
    assert drawn.get("aria-label") == "2 nodes in 2 types, 1 edges between them"
    assert len(list(drawn.iter("path"))) == 1
    ET.fromstring(net(structure({"nodes": [], "edges": []}, Detail)))
