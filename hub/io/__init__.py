"""The only place that opens files, processes, sockets and databases."""
