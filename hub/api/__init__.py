"""What goes over the wire: one module a resource, with its bodies and its answers.

Owns: these classes, and the one converter between them and JSON (`hub.api.convert`).
Must not: know a route, an actor, or how a byte gets here.
"""
