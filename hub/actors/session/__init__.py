"""The session actor and its parts.

Inbox (`actor`), durable record (`store`), live facts and references (`context`), the loop over the handoff table (`driver`),
and what each state does: `work` while an agent works, `handoff_steps` while the work changes hands, `ending` at the end.
Beside these, each with one question: who is next (`routing`), the agent's process (`agent_control`) and its requests
(`permission_broker`), the user's commands (`commands`), what is handed over (`contract`), what the log proves (`chronicle`),
and what is told (`views`).
"""
