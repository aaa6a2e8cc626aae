"""Every message an actor's inbox takes, one module an actor.

Must not: do anything. Messages are frozen values without behaviour. Who may send what to whom is in `hub.message_map`.
Tests: tests/hub/test_messages.py
"""
