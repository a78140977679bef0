"""Many cases as one test: what they share is made once, and each case that fails is reported under its name."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import pytest

Test = TypeVar("Test", bound=Callable[..., object])
Ids = Callable[[Any], object] | Iterable[object]
_MAX_NAME = 100


def every(names: str | Sequence[str], cases: Iterable[Any], ids: Ids = repr) -> Callable[[Test], Test]:
    """Reads like `pytest.mark.parametrize`, but makes one test: all cases get the same fixtures.

    For cases that leave nothing behind, or do not mind what the one before left.
    """
    arguments, rows = [names] if isinstance(names, str) else list(names), list(cases)
    called = map(ids, rows) if callable(ids) else ids
    listed = [(str(name)[:_MAX_NAME], _values(arguments, row)) for name, row in zip(called, rows, strict=True)]

    def decorated(test: Test) -> Test:
        def all_cases(**fixtures: Any) -> None:
            report = _Report(len(listed))
            for name, values in listed:
                with report.case(name):
                    test(**values, **fixtures)
            report.require_all()

        async def all_cases_awaited(**fixtures: Any) -> None:
            report = _Report(len(listed))
            for name, values in listed:
                with report.case(name):
                    await cast("Any", test)(**values, **fixtures)
            report.require_all()

        chosen: Any = all_cases_awaited if inspect.iscoroutinefunction(test) else all_cases
        functools.update_wrapper(chosen, test)
        # pytest asks for the fixtures that are left.
        whole = inspect.signature(test)
        left = [parameter for parameter in whole.parameters.values() if parameter.name not in arguments]
        chosen.__signature__ = whole.replace(parameters=left)
        return cast("Test", chosen)

    return decorated


def _values(arguments: Sequence[str], row: Any) -> dict[str, Any]:
    return dict(zip(arguments, (row,) if len(arguments) == 1 else tuple(row), strict=True))


class _Report:
    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._looked = 0
        self._failures: list[BaseException] = []
        self._names: list[str] = []

    @contextmanager
    def case(self, name: str) -> Iterator[None]:
        try:
            yield
        except (Exception, pytest.fail.Exception) as failure:  # noqa: BLE001  the other cases are looked at too
            failure.add_note(f"in the case {name}")
            self._failures.append(failure)
            self._names.append(name)
        self._looked += 1

    def require_all(self) -> None:
        if self._failures:
            said = f"{len(self._failures)} of {self._looked} cases failed: {'; '.join(self._names)}"
            raise BaseExceptionGroup(said, self._failures)
        assert self._looked == self._expected > 0
