"""Workspaces with much in them: installed in every state, shared with others, shared by others, and empty ones."""

from tests.console.people import another_account
from tests.console.rich.published import REVOKED, SUSPENDED, Published
from tests.console.stack import Stack
from tests.console.workspace_states import uninstall, update

LARGE, SHARED_BY_OTHERS, EMPTY = "research", "globex-lab", "quiet"
FURTHER = ("billing", "field-tests", "onboarding-2026", "a-name-that-is-as-long-as-people-sometimes-make-them")
CALLERS = ("dora", "peter", "id:somebody.with.a.long.name.in.a.large.company")
_DISABLED, _UNINSTALLED = "acme:echo", "northwind:returns"
_OLDER = {"acme:translator": "1.0.0", "northwind:order-desk": "1.0.0", "acme:contract-reader": "1.0.0"}
_WITHOUT_PERMISSIONS = "globex:statistics"
INSTALLED = (
    *_OLDER,
    "acme:sentiment",
    "acme:tree-walker",
    "acme:invoice-matcher",
    "acme:code-reviewer",
    "northwind:stock-keeper",
    "northwind:price-list",
    "northwind:demand-forecast",
    "globex:paper-search",
    "globex:unit-converter",
    "globex:plot-maker",
    "mallory:markup",
    "mallory:long-words",
    "mallory:turned",
    "aop:summarlzer",
    _WITHOUT_PERMISSIONS,
    _DISABLED,
    _UNINSTALLED,
    *SUSPENDED,
    *REVOKED,
)
SAMPLES = {"aop:summarizer": ["text.read"], "aop:action-items": ["notes.read"], "aop:meeting-brief": ["notes.read"]}


def make_workspaces(stack: Stack, published: Published) -> None:
    dora = another_account(stack, "dora")
    for workspace_id in (LARGE, EMPTY, *FURTHER):
        _make(stack, workspace_id)
    _make(dora, SHARED_BY_OTHERS)
    dora.caller.put(f"/v1/workspaces/{SHARED_BY_OTHERS}/callers/{stack.principal}")
    dora.install(SHARED_BY_OTHERS, "globex:paper-search", ["text.read"])
    for caller in CALLERS:
        stack.caller.put(f"/v1/workspaces/{LARGE}/callers/{caller}")
    stack.caller.delete(f"/v1/workspaces/{LARGE}/callers/peter")
    for agent_id, permissions in SAMPLES.items():
        stack.install(LARGE, agent_id, permissions)
    for agent_id in INSTALLED:
        _install(stack, published, agent_id)


def installed_version(published: Published, agent_id: str) -> str:
    return _OLDER.get(agent_id, published.offers[agent_id].versions[-1])


def _make(stack: Stack, workspace_id: str) -> None:
    reply = stack.caller.post("/v1/workspaces", {"workspaceId": workspace_id})
    assert reply.status == 201, reply.body


def _install(stack: Stack, published: Published, agent_id: str) -> None:
    version = installed_version(published, agent_id)
    declared = [each["id"] for each in published.offers[agent_id].version(version)["permissions"]]
    installed = stack.install(LARGE, agent_id, [] if agent_id == _WITHOUT_PERMISSIONS else declared, version)
    if agent_id == _DISABLED:
        update(stack, installed, "disabled")
    if agent_id == _UNINSTALLED:
        uninstall(stack, installed)
