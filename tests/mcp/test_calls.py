"""Calls under way: cancelled, told about, stuck."""

import threading
import time

import anyio
import pytest

from localdb_core.domain import JobCancelled
from localdb_core.mcp.calls import MAX_STUCK, Calls, current_call
from localdb_core.plugin import ToolContext, ToolFailure


async def silent(done, total):
    pass


def run(main):
    return anyio.run(main)


def test_outside_of_a_call_a_context_is_silent_and_never_cancelled():
    context = ToolContext("acme")

    context.progress(1, 2)
    context.cancel.check()

    assert not context.cancel.cancelled
    assert not current_call().cancel.cancelled


def test_progress_arrives_in_order_before_the_answer():
    told = []

    def work():
        for done in range(1, 1001):
            current_call().progress(done, 1000)
        return "done"

    async def report(done, total):
        told.append((done, total))

    async def main():
        return await Calls().run("count", work, report)

    assert run(main) == "done"
    assert told[0] == (1.0, 1000.0)
    assert told[-1] == (1000.0, 1000.0)
    assert told == sorted(told)
    assert len(told) < 1000  # nobody can read that many


@pytest.mark.parametrize("steps", [[2, 1, 2], [float("nan"), float("inf"), 2]])
def test_progress_that_does_not_rise_is_not_told(steps):
    told = []

    def work():
        for done in steps:
            current_call().progress(done, 2)

    async def report(done, total):
        told.append(done)

    run(lambda: Calls().run("count", work, report))

    assert told == [2.0]


def test_nonsense_as_progress_is_the_tools_own_fault():
    def work():
        current_call().progress("half")

    with pytest.raises(TypeError):
        run(lambda: Calls().run("count", work, silent))


def test_each_call_has_a_token_of_its_own_and_threads_may_carry_it():
    meet = threading.Barrier(2)

    def work():
        cancel = current_call().cancel
        meet.wait(30)
        seen = []
        helper = threading.Thread(target=lambda: seen.append(cancel))
        helper.start()
        helper.join()
        assert seen == [current_call().cancel]
        return cancel

    async def main():
        calls, tokens = Calls(), []

        async def one():
            tokens.append(await calls.run("meet", work, silent))

        async with anyio.create_task_group() as group:
            group.start_soon(one)
            group.start_soon(one)
        return tokens

    first, second = run(main)

    assert first is not second


@pytest.mark.parametrize("way", ["check", "progress", "wait"])
def test_a_cancelled_call_ends_where_the_tool_looks(way):
    started, ended = threading.Event(), threading.Event()

    def work():
        call = current_call()
        started.set()
        try:
            while True:
                if way == "check":
                    call.cancel.check()
                elif way == "progress":
                    call.progress(1)
                elif call.cancel.wait(30):
                    return
                time.sleep(0.001)
        except JobCancelled:
            pass
        finally:
            ended.set()

    async def main():
        calls = Calls()
        async with anyio.create_task_group() as group:
            group.start_soon(calls.run, "long", work, silent)
            await anyio.to_thread.run_sync(started.wait)
            group.cancel_scope.cancel()
        await calls.drain()

    run(main)

    assert ended.is_set()


def test_tools_that_hang_when_cancelled_hold_up_no_other_and_are_asked_no_more():
    release = threading.Event()

    async def main():
        calls = Calls()
        for _ in range(MAX_STUCK):
            started = threading.Event()

            def hang(started=started):
                started.set()
                release.wait(60)

            async with anyio.create_task_group() as group:
                group.start_soon(calls.run, "hang", hang, silent)
                await anyio.to_thread.run_sync(started.wait)
                group.cancel_scope.cancel()
        assert await calls.run("other", lambda: "fine", silent) == "fine"
        with pytest.raises(ToolFailure, match="have not ended"):
            await calls.run("hang", lambda: "never", silent)
        release.set()
        await calls.drain()
        assert await calls.run("hang", lambda: "again", silent) == "again"

    run(main)


def test_a_client_that_cancels_gets_the_next_answer(talk, fakes, era):
    """Over the SDK: the cancelled tool is told, and the connection lives on."""
    seen = fakes.Linger.seen
    seen.clear()

    async def conversation(client):
        with anyio.move_on_after(60) as scope:

            async def cancel():
                await anyio.to_thread.run_sync(fakes.Linger.started.wait)
                scope.cancel()

            async with anyio.create_task_group() as group:
                group.start_soon(cancel)
                await client.call_tool("linger", {})
        await anyio.to_thread.run_sync(seen.wait)
        return await client.call_tool("wait", {"seconds": 0})

    owned = fakes.extra_tools()
    result = talk(conversation, "extra", mode=era, owned=owned)

    assert result.content[0].text == "waited"


def test_a_client_that_asks_for_progress_hears_it(talk, fakes, era):
    heard = []

    async def hear(done, total, message):
        heard.append((done, total))

    async def conversation(client):
        return await client.call_tool("count", {}, progress_callback=hear)

    result = talk(conversation, "extra", mode=era, owned=[fakes.extra("count", fakes.Count)])

    assert result.content[0].text == "counted"
    assert heard[-1] == (3.0, 3.0)
