"""The pipelines: their list, and the one run that goes on."""
