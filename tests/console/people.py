"""Other accounts on the same platform, and screens in the states that they bring about."""

import json
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from playwright.sync_api import Page

from tests.cli.programs import ended
from tests.console.stack import Stack
from tests.local.caller import Caller


def another_account(stack: Stack, principal: str) -> Stack:
    """The platform as this principal uses it, with a token that the operator made."""
    token = _token(stack.platform.data, principal)
    return replace(stack, token=token, principal=principal, provider=principal, caller=Caller(stack.gateway, token))


@cache
def _token(data: Path, principal: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        made = ended("token", "create", "--principal", principal, "--json", data=data, folder=Path(folder))
    return str(json.loads(made.stdout)["token"])


def shared(stack: Stack) -> str:
    """The people of a Workspace with two callers and a former one."""
    workspace_id = stack.workspace("shared")
    people = f"/v1/workspaces/{workspace_id}/callers"
    for principal in ("bob", "id:somebody.with.a.long.name.in.a.large.company", "former"):
        stack.caller.put(f"{people}/{principal}")
    stack.caller.delete(f"{people}/former")
    return f"/workspaces/{workspace_id}/people"


def as_a_caller(page: Page, stack: Stack) -> None:
    page.evaluate("(token) => sessionStorage.setItem('aop.token', token)", another_account(stack, "bob").token)
    page.reload()
    page.get_by_role("note").wait_for()


def with_a_link_of_another(page: Page, stack: Stack) -> None:
    page.goto(another_account(stack, "bob").sign_in_link())
    page.get_by_role("heading", name="Switch to bob?").wait_for()


def with_a_new_token(page: Page, stack: Stack) -> None:
    page.get_by_label("Name").fill("nightly run")
    page.get_by_role("button", name="Create").click()
    page.get_by_role("dialog").wait_for()
