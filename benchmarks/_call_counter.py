"""Counts what one unit runs for Invocations, without a clock: by `sys.setprofile`, and by what its loop is asked for.

Each Python call gets the step of the Invocation that it belongs to:
1. A function that is called by another one has the step of that one. Where the caller is one of the functions with
   numbered marks, it is the step of the line that calls.
2. A task that was there before the counting began is background (the sequencer, the watches), unless it is one of a
   group commit. So is everything that a timer calls.
3. Other tasks and callbacks have the step in which they were made: the context of a callback has it.

So the figures do not depend on when the background has its turns.
"""

import asyncio
import dis
import sys
from collections import defaultdict
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks._counted_steps import EDGE, PEER_STEPS, STEPS_OF_COMMITS, marked_lines, step_of_module

CALLS, AWAITS, TASKS, TIMERS = "Python calls", "awaits that suspend", "tasks", "timers"
STATEMENTS, BYTES, STORE_BYTES = "statements", "bytes to peers", "bytes to the store"
BACKGROUND = "background: "

_OWN = str(Path(__file__).parent)
_RESUME = dis.opmap["RESUME"]
_step: ContextVar[str] = ContextVar("step", default=EDGE)


class CallCounter:
    def __init__(self, unit: str) -> None:
        self._peer_step = PEER_STEPS[unit]
        self._calls: dict[tuple[str, str, str], int] = defaultdict(int)
        self._others: dict[tuple[str, str], int] = defaultdict(int)
        self._stack: list[tuple[FrameType, str]] = []
        self._suspended: str | None = None
        self._before: set[asyncio.Task[Any]] = set()
        self._is_on = False

    def begin(self) -> None:
        self._calls.clear()
        self._others.clear()
        self._stack.clear()
        self._before = asyncio.all_tasks()
        self._is_on = True
        sys.setprofile(self._profile)

    def end(self) -> dict[str, list[list[str | int]]]:
        """The calls by step, module and function, and everything else by step and kind."""
        sys.setprofile(None)
        self._is_on = False
        self._before = set()
        return {
            "calls": [[*place, count] for place, count in self._calls.items()],
            "others": [[*kind, count] for kind, count in self._others.items()],
        }

    def note(self, kind: str, count: int = 1) -> None:
        if self._is_on:
            self._others[self._stack[-1][1] if self._stack else _step.get(), kind] += count

    def fire(self, callback: Callable[..., object], *args: object) -> None:
        """What a timer calls when it is due."""
        callback(*args)

    def _profile(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self._called(frame)
        elif event == "return":
            self._returned(frame)

    def _called(self, frame: FrameType) -> None:
        code, module = frame.f_code, frame.f_globals.get("__name__", "")
        is_root = not self._stack
        step = self._step_of_root(module) if is_root else self._step_within(module)
        if code is CallCounter.fire.__code__:
            step = f"{BACKGROUND}timers"
        elif (lines := marked_lines(code)) is not None and not step.startswith(BACKGROUND):
            step = lines[frame.f_lineno]
        self._note_suspended(step, is_root=is_root, is_resumed=frame.f_lasti in _resumes(code))
        self._stack.append((frame, step))
        if _step.get() != step:
            _step.set(step)
        if not code.co_filename.startswith(_OWN):
            self._calls[step, module, code.co_qualname] += 1

    def _step_within(self, module: str) -> str:
        caller, step = self._stack[-1]
        if step == EDGE:
            return step_of_module(module, EDGE) or EDGE
        lines = marked_lines(caller.f_code)
        return step if lines is None or step.startswith(BACKGROUND) else lines[caller.f_lineno]

    def _step_of_root(self, module: str) -> str:
        task = asyncio.current_task()
        if task is not None and task in self._before:
            name = task.get_name()
            return STEPS_OF_COMMITS.get(name, BACKGROUND + (name if name.startswith("loop ") else "watches"))
        return step_of_module(module, self._peer_step) or _step.get()

    def _note_suspended(self, step: str, *, is_root: bool, is_resumed: bool) -> None:
        """A task that goes on resumes its whole chain of coroutines; the last of them is the one that waited."""
        if is_root:
            self._flush()
            if is_resumed and asyncio.current_task() is not None:
                self._suspended = step
        elif self._suspended is not None:
            if is_resumed:
                self._suspended = step
            else:
                self._flush()

    def _flush(self) -> None:
        if self._suspended is not None:
            self._others[self._suspended, AWAITS] += 1
            self._suspended = None

    def _returned(self, frame: FrameType) -> None:
        self._flush()
        stack = self._stack
        if stack and stack[-1][0] is frame:
            stack.pop()
        # else it was there before the counting began


@cache
def _resumes(code: CodeType) -> frozenset[int]:
    """Where the function goes on after it had given control to its caller."""
    return frozenset(step.offset for step in dis.get_instructions(code) if step.opcode == _RESUME and step.arg)
