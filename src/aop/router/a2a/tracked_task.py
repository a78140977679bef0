"""What the Router knows of the Agent's Task: its id, which must stay the same, and whether it was seen to end."""

from dataclasses import dataclass

from aop.contracts.errors import Reason
from aop.router.a2a.answers import protocol_error


@dataclass
class TrackedTask:
    invocation_id: str
    task_id: str | None = None
    ended: bool = False

    def see(self, task_id: str) -> None:
        if self.task_id is None:
            self.task_id = task_id
        elif self.task_id != task_id:
            raise protocol_error(Reason.TASK_CHANGED)

    def end(self) -> None:
        self.ended = True

    @property
    def may_run(self) -> bool:
        return self.task_id is not None and not self.ended
