"""`aop ledger export`, `verify` and `detach`: a month that is over leaves the Ledger of a platform as a file."""

from datetime import timedelta
from pathlib import Path

import pytest

from aop.base.clock import utc_now
from tests.cli.conftest import Aop, Stack


@pytest.mark.rows("HA-04")
def test_a_month_is_exported_verified_and_detached(aop: Aop, stack: Stack, tmp_path: Path) -> None:
    """The last month, in which this platform had no calls."""
    data, now = ("--data", str(stack.platform.data)), utc_now()
    this, last = f"{now:%Y-%m}", f"{now.replace(day=1) - timedelta(days=1):%Y-%m}"
    file = tmp_path / f"ledger-{last}.jsonl"
    missing = aop("ledger", "detach", "--before", this, "--from", str(tmp_path), *data)
    assert (missing.code, "is missing" in missing.err) == (1, True), missing
    written = aop("ledger", "export", "--before", this, "--to", str(tmp_path), "--json", *data)
    assert (written.json["month"], written.json["file"]) == (last, str(file)), written
    again = aop("ledger", "export", "--before", this, "--to", str(tmp_path), *data)
    assert f"{file} has {last} with 0 Invocations" in again.out, again
    assert "the tree was not asked" in aop("ledger", "verify", str(file), "--alone").out
    assert aop("ledger", "verify", str(file), "--json", *data).json["sha256"] == written.json["sha256"]
    detached = aop("ledger", "detach", "--before", this, "--from", str(tmp_path), *data)
    assert f"detached {last}" in detached.out, detached
    assert aop("ledger", "detach", "--before", this, "--from", str(tmp_path), *data).out == ""
    assert aop("ledger", "check", *data).code == 0
    file.write_bytes(file.read_bytes().replace(b'"events":0', b'"events":1'))
    wrong = aop("ledger", "verify", str(file), *data)
    assert (wrong.code, "WRONG" in wrong.out) == (1, True), wrong


@pytest.mark.second_ring
def test_only_months_that_are_over_are_exported(aop: Aop, stack: Stack, tmp_path: Path) -> None:
    data = ("--data", str(stack.platform.data))
    for month, code in (("2999-01", 1), ("march", 2)):
        assert aop("ledger", "export", "--before", month, "--to", str(tmp_path), *data).code == code
