"""Planted bugs of the Router: order of record and word, cancellation, numbering, the way to Agents."""

from collections.abc import Sequence

from tests.mutants.mutant import Mutant

_EXECUTION = "src/aop/router/invocation/execution.py"
_RECORDED = "        terminal = terminal_fact(place, new_hex_id(), self._clock(), outcome.terminal)\n"

ROUTER: Sequence[Mutant] = (
    Mutant(
        "told before it is committed",
        _EXECUTION,
        _RECORDED,
        _RECORDED + "        if running.stream is not None:\n            running.stream.end(outcome.terminal)\n",
        "A crash in between would leave a caller with a success that the Ledger calls a failure.",
    ),
    Mutant(
        "a stop is swallowed",
        "src/aop/router/invocation/running.py",
        "                self._worker.cancel()\n",
        "                self._worker = None\n",
        "Work would go on, and cost, after its caller is gone.",
    ),
    Mutant(
        "leaving stops nothing",
        _EXECUTION,
        "        running.stop(StopReason.CALLER_LEFT)\n",
        "",
        "Callers could fill a Router with work nobody waits for.",
    ),
    Mutant(
        "frames numbered with a gap",
        "src/aop/router/stream/frames.py",
        "        self._sequence += 1\n        self.chunks += 1\n",
        "        self._sequence += 2\n        self.chunks += 1\n",
        "A reader could not tell a lost frame from a missing number.",
    ),
    Mutant(
        "a Task is canceled twice",
        _EXECUTION,
        '            await conversation.cancel(running.task.task_id or "")\n',
        '            await conversation.cancel(running.task.task_id or "")\n'
        '            await conversation.cancel(running.task.task_id or "")\n',
        "An Agent that counts cancels would count wrong.",
    ),
    Mutant(
        "a message is sent again",
        "src/aop/router/a2a/sending.py",
        "    answer = await conversation.ask(body, deadline, delegation=delegation)\n",
        "    await conversation.ask(body, deadline, delegation=delegation)\n"
        "    answer = await conversation.ask(body, deadline, delegation=delegation)\n",
        "Whatever the Agent does for a message, it would do twice.",
    ),
    Mutant(
        "a suspended Release runs from the cache",
        "src/aop/router/targets/topology.py",
        "    WatchedState.SUSPENDED: ErrorCode.AGENT_RELEASE_SUSPENDED,\n",
        "",
        "A suspension would take effect only where the Card is not known.",
    ),
    Mutant(
        "no slots of their own for children",
        "src/aop/router/app.py",
        ".routes(delegations, children)",
        ".routes(delegations, roots)",
        "Parents that wait for children could take every slot, and wait for ever.",
    ),
    Mutant(
        "children outlive a canceled parent",
        "src/aop/router/invocation/supervisor.py",
        "            self.stop_children(lineage.invocation)\n",
        "",
        "Canceling one call would leave a tree of others running.",
    ),
    Mutant(
        "a delegation never expires",
        "src/aop/router/api/delegation.py",
        " or self._seconds() >= claims.exp:",
        ":",
        "An Agent could call others long after the Invocation it may call them for.",
    ),
    Mutant(
        "an input in the log",
        "src/aop/router/api/invocations.py",
        "        request.trace_id = dispatch.trace_id\n",
        "        request.trace_id, request.caller = dispatch.trace_id, body.raw.decode()\n",
        "What people say to Agents would lie in log files.",
    ),
)
