"""The golden suite: recorded sessions with labelled facts, and how much of them hub keeps."""
