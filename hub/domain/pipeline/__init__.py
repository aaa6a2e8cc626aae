"""Pipelines: which are valid, in which order their nodes run, and how one run goes on."""
