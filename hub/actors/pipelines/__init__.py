"""The pipelines: their list, and the one run that goes on.

Tests: tests/hub/actors/test_pipelines.py
"""
