"""JSON-RPC on standard input and output: what the tool server and the editors' agent have in common."""
