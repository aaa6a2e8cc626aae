"""A part of the graph as a picture."""

import xml.etree.ElementTree as ET

from hub.api.graph import Detail, GraphEdge, GraphNode
from hub.web.page.graph import label, net
from tests.sample import sample


def test_nodes_edges_and_their_names():
    detail = Detail(
        nodes=[
            sample(GraphNode, id="file:a.py", node_type="file", payload={"path": "a.py"}),
            sample(GraphNode, id="task:s-1", node_type="task", payload={"title": 7}),
        ],
        edges=[sample(GraphEdge, from_id="task:s-1", to_id=to) for to in ("file:a.py", "file:none")],
    )
    assert [label(node) for node in detail.nodes] == ["a.py", "s-1"]
    drawn = ET.fromstring(net(detail))
    assert drawn.get("aria-label") == "2 nodes in 2 types, 1 edges between them"
    assert len(list(drawn.iter("path"))) == 1
    ET.fromstring(net(Detail(nodes=[], edges=[])))
