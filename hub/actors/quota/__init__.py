"""The quota actor: what every account has left, and when its wall will come.

Tests: tests/hub/actors/quota/test_quota.py
"""
