"""What it costs the validator to compare two numbers, in nanoseconds, by the kinds of both."""

from typing import NamedTuple, TypeGuard

_NEAR = (1e-12, 1e30)
"""Fractions are compared by numerator and denominator, both in full: the dearer, the further they are from one."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether JSON would call it a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_far(fraction: float) -> bool:
    return fraction != 0 and not _NEAR[0] <= abs(fraction) < _NEAR[1]


class PerNumber(NamedTuple):
    """Nanoseconds by what a number is compared with."""

    integer: float
    real: float
    far: float
    big: float


class PerOperand(NamedTuple):
    """The same for each kind of number that a schema may name."""

    integer: PerNumber
    real: PerNumber
    far: PerNumber

    def of(self, operand: float) -> PerNumber:
        if isinstance(operand, int):
            return self.integer
        return self.far if is_far(operand) else self.real


BOUND = PerOperand(
    PerNumber(60, 2_000, 3_000, 10_000),
    PerNumber(6_000, 6_000, 40_000, 15_000),
    PerNumber(6_000, 6_000, 40_000, 15_000),
)
MULTIPLE = PerOperand(
    PerNumber(60, 3_000, 6_000, 10_000),
    PerNumber(8_000, 10_000, 40_000, 45_000),
    PerNumber(35_000, 35_000, 80_000, 80_000),
)
EQUAL = PerOperand(
    PerNumber(700, 10_000, 50_000, 12_000),
    PerNumber(6_000, 10_000, 80_000, 12_000),
    PerNumber(45_000, 45_000, 80_000, 50_000),
)
DEAREST_EQUAL_NS = 80_000.0
