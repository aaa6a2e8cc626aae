"""The pictures of the documents, drawn from the running program; see `__main__`."""
