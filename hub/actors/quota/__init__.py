"""The quota actor: what every account has left, and when its wall will come.

Tests: tests/hub/actors/test_quota.py
"""
