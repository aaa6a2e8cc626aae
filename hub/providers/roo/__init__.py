"""The roo agent.

Tests: tests/hub/providers/test_detected_stores.py, tests/hub/providers/test_stores.py
"""
