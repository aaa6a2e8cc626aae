"""The pipelines: their list, and the one run that goes on.

Tests: tests/hub/actors/pipelines/test_pipelines.py
"""
