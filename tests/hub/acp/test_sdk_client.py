"""The protocol's own Python SDK as the editor: an independent peer, whose types refuse what the schema does not have."""

from __future__ import annotations

import asyncio
import sys

import pytest

from tests.faults.harness import project
from tests.waiting import Gate


@pytest.fixture
def work(tmp_path):
    with project(tmp_path) as made:
        yield made


def test_a_whole_conversation_with_the_sdk(work, tmp_path):
    """A permission, the wall, the handoff, a cancel; and all of it again in another process."""
    import acp

    from tests.hub.acp.sdk import SdkClient

    gate = Gate(tmp_path / "gate")
    work.script(
        "demo-first",
        {"say": "I write."},
        {"write": {"path": "made.txt", "text": "made\n"}},
        {"approve": "rm -rf build"},
        {"limit": {"resetsIn": 3600}},
    )
    work.script("demo-second", {"say": "going on"}, {"done": "made it"})
    work.configure(session='verify = ["test -f made.txt"]\n')
    work.start()

    async def drive():
        client = SdkClient()
        command = (sys.executable, "-m", "hub", "acp")
        async with acp.spawn_agent_process(client, *command, cwd=str(work.root), env=work.environ()) as (
            conn,
            process,
        ):
            hello = await conn.initialize(protocol_version=acp.PROTOCOL_VERSION)
            assert hello.agent_capabilities.load_session
            made = await conn.new_session(cwd=str(work.root), mcp_servers=[])
            answer = await conn.prompt(session_id=made.session_id, prompt=[acp.text_block("make it")])
            assert answer.stop_reason == "end_turn"
            said = client.words()
            wall = said.index("handing the work over: the usage limit is reached")
            assert wall < said.index("demo-second goes on with the work.") < said.index("made it")
            assert "Done, and the acceptance commands say so." in said

            work.script("demo-second", {"run": gate.command}, {"done": "never"})
            client.began.clear()
            more = [acp.text_block("and more")]
            turn = asyncio.create_task(conn.prompt(session_id=made.session_id, prompt=more))
            await client.began.wait()
            await conn.cancel(session_id=made.session_id)
            assert (await turn).stop_reason == "cancelled"
            assert "Stopped; every byte is on its branch." in client.words()
        assert process.returncode == 0
        assert [asked.raw_input for asked in client.asked] == [{"command": "rm -rf build"}]
        assert {"agent_message_chunk", "tool_call", "tool_call_update"} <= set(client.kinds())
        again = SdkClient()
        async with acp.spawn_agent_process(again, *command, cwd=str(work.root), env=work.environ()) as (
            conn,
            process,
        ):
            await conn.initialize(protocol_version=acp.PROTOCOL_VERSION)
            rows = await conn.list_sessions(cwd=str(work.root))
            assert [row.session_id for row in rows.sessions] == [made.session_id]
            await conn.load_session(cwd=str(work.root), session_id=made.session_id, mcp_servers=[])
            with pytest.raises(acp.RequestError) as refused:
                await conn.load_session(cwd=str(work.root), session_id="s-1-none", mcp_servers=[])
            assert refused.value.code == -32002
        assert again.words() == client.words()
        assert again.kinds().count("user_message_chunk") == 2
        assert again.calls() == client.calls()

    with gate:
        asyncio.run(asyncio.wait_for(drive(), 90))
