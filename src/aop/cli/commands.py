"""The command tree of aop: every command by name, in the order in which help shows them."""

import sys
from typing import Any

import click
from click.exceptions import Exit

from aop import __version__
from aop.cli.shell import options
from aop.cli.shell.loading import Entry, LazyGroup, clean_usage
from aop.local.terminal import write_line

PROVIDER, CONSUMER, OPERATOR = "Provider (publish Agents)", "Consumer (use Agents)", "Operator"
ACCESS, UNITS, LOCAL = "Access", "Units", "Local platform"

GROUPS = {
    "card": (PROVIDER, "Agent Card files: make one from an A2A agent card, check one before you publish it."),
    "agent": (PROVIDER, "Agents: run or test one, list your own, show what is published."),
    "release": (PROVIDER, "Releases: list and read them, suspend or revoke one."),
    "workspace": (ACCESS, "Workspaces: create one, list them, choose the one in use, share one."),
    "workspace callers": (ACCESS, "Callers: the principals with whom a Workspace is shared."),
    "token": (OPERATOR, "Access tokens and sessions of the Gateway: create, list, revoke."),
    "ledger": (OPERATOR, "The Ledger: follow it, check it, and prove to others that it was not changed."),
}

COMMANDS = (
    Entry("up", "operator.up:up", "Run the whole platform on this machine until Ctrl-C.", LOCAL, serves=True),
    Entry("status", "operator.status:status", "Show the health of the platform.", LOCAL),
    Entry(
        "demo",
        "consumer.demo:demo",
        "Watch two calls of the sample Agents: a stream, and a tree of calls.",
        LOCAL,
    ),
    Entry("open", "consumer.sign_in_link:open_console", "Make a fresh link that signs in to the Console.", ACCESS),
    Entry(
        "login",
        "consumer.login:login",
        "Save the address of a Gateway and an access token as a profile.",
        ACCESS,
    ),
    Entry("logout", "consumer.login:logout", "Delete a profile and its token; end its session.", ACCESS),
    Entry("profiles", "consumer.login:profiles", "List the profiles, or choose the one in use.", ACCESS),
    Entry("workspace create", "consumer.workspace:create", "Create a Workspace."),
    Entry(
        "workspace list",
        "consumer.workspace:list_workspaces",
        "List your Workspaces and those shared with you.",
    ),
    Entry("workspace use", "consumer.workspace:use", "Choose the Workspace that commands use from now on."),
    Entry("workspace callers add", "consumer.callers:add", "Let a principal read a Workspace and invoke in it."),
    Entry("workspace callers remove", "consumer.callers:remove", "Stop sharing a Workspace with a principal."),
    Entry("workspace callers list", "consumer.callers:list_callers", "List the callers of a Workspace."),
    Entry("init", "provider.init:init", "Create a working Agent project.", PROVIDER),
    Entry(
        "dev",
        "provider.dev:dev",
        "Run an Agent project while you work on it: each save counts.",
        PROVIDER,
        serves=True,
    ),
    Entry("card check", "provider.card:check", "Check an Agent Card by every rule of the Registry."),
    Entry(
        "card from-a2a",
        "provider.card_import:from_a2a",
        "Make a Card from the agent card of an existing Agent.",
    ),
    Entry(
        "agent run",
        "provider.agent_run:run",
        "Run an Agent project with the settings of the local platform.",
        serves=True,
    ),
    Entry(
        "agent check",
        "provider.agent:check",
        "Test a running Agent with calls it must accept and calls it must refuse.",
    ),
    Entry("agent list", "provider.agent_list:list_agents", "List the Agents you own, with their states."),
    Entry("agent show", "provider.agent_show:show", "Show an Agent: its versions, skills and permissions."),
    Entry(
        "front",
        "provider.front:front",
        "Run in front of an Agent of any kind, so that it can be published.",
        PROVIDER,
        serves=True,
    ),
    Entry(
        "publish",
        "provider.publish:publish",
        "Publish an Agent: register, prove and release it in one command.",
        PROVIDER,
    ),
    Entry("release list", "provider.release:list_releases", "List the Releases of a provider."),
    Entry("release show", "provider.release:show", "Show one Release."),
    Entry("release suspend", "provider.release:suspend", "Suspend a Release: no new Invocation uses it."),
    Entry("release revoke", "provider.release:revoke", "Revoke a Release for good."),
    Entry("search", "consumer.search:search", "Find published Agents by words, capability or owner.", CONSUMER),
    Entry("install", "consumer.install:install", "Install an Agent, with the permissions you accept.", CONSUMER),
    Entry("upgrade", "consumer.upgrade:upgrade", "Move an Installation to a newer version, in one step.", CONSUMER),
    Entry(
        "installations",
        "consumer.installations:installations",
        "List the Installations of a Workspace.",
        CONSUMER,
    ),
    Entry("enable", "consumer.installations:enable", "Enable a disabled Installation.", CONSUMER),
    Entry(
        "disable",
        "consumer.installations:disable",
        "Disable an Installation; its Agent is not invoked.",
        CONSUMER,
    ),
    Entry("uninstall", "consumer.installations:uninstall", "Uninstall an Agent; its history stays.", CONSUMER),
    Entry("invoke", "consumer.invoke:invoke", "Invoke an Agent and show its result or its stream.", CONSUMER),
    Entry(
        "invocations",
        "consumer.invocations:invocations",
        "List Invocations, or show one with its events.",
        CONSUMER,
    ),
    Entry("figures", "consumer.figures:figures", "Count Invocations by outcome, Agent and time.", CONSUMER),
    Entry("traces", "consumer.traces:traces", "List Traces: what was called, and what became of it.", CONSUMER),
    Entry("trace", "consumer.trace:trace", "Show who called whom, as a tree with times.", CONSUMER),
    Entry("bundle", "consumer.bundle:bundle", "Save what others need to check an Invocation or Trace.", CONSUMER),
    Entry(
        "verify",
        "consumer.bundle:check",
        "Check a bundle offline, by itself and under a head that you trust.",
        CONSUMER,
    ),
    Entry("connect", "consumer.connect:connect", "Show how other programs call what is installed.", CONSUMER),
    Entry(
        "share",
        "consumer.search:share",
        "Show an Agent's public link and what anyone may read there.",
        CONSUMER,
    ),
    Entry(
        "mcp",
        "consumer.mcp:mcp",
        "Give an MCP host the Skills of a Workspace as tools, on stdin and stdout.",
        CONSUMER,
        serves=True,
    ),
    Entry("migrate", "operator.migrate:migrate", "Migrate the database to the current version.", OPERATOR),
    Entry("token create", "operator.token:create", "Create a token."),
    Entry(
        "token list",
        "operator.token:list_tokens",
        "List tokens and sessions: who made each, label and times, never the token.",
    ),
    Entry(
        "token revoke",
        "operator.token:revoke",
        "Revoke a token and all made with it; refused everywhere within 5 seconds.",
    ),
    Entry(
        "ledger check",
        "operator.ledger:check",
        "Read the Ledger, or a range of it, and report every broken invariant.",
    ),
    Entry(
        "ledger follow",
        "operator.ledger_follow:follow",
        "Write the events of a Workspace as JSON lines, and go on where it stopped.",
        serves=True,
    ),
    Entry(
        "ledger recount",
        "operator.ledger_recount:recount",
        "Count the figures again from the rows of the Ledger.",
    ),
    Entry("ledger head", "operator.ledger_tree:head", "Show the newest head of the tree over the Ledger."),
    Entry(
        "ledger consistency",
        "operator.ledger_tree:consistency",
        "Prove that nothing before a kept head was changed.",
    ),
    Entry("ledger prove", "operator.ledger_tree:prove", "Prove that the events of an Invocation are in the tree."),
    Entry("ledger watch", "operator.ledger_tree:watch", "Keep heads in a file, and tell when history was changed."),
    Entry(
        "ledger watch-key",
        "operator.ledger_checkpoints:watch_key",
        "Make the key with which a watcher signs heads.",
    ),
    Entry(
        "ledger export",
        "operator.ledger_archive:export",
        "Write old months of the Ledger to files, and check them.",
    ),
    Entry("ledger verify", "operator.ledger_archive:verify", "Check the file of an exported month."),
    Entry("ledger detach", "operator.ledger_archive:detach", "Take exported months out of the Ledger."),
    Entry("control-plane", "operator.units:control_plane", "Serve the Control Plane.", UNITS, serves=True),
    Entry("console", "operator.units:console", "Serve the Console to browsers.", UNITS, serves=True),
    Entry(
        "door",
        "operator.units:door",
        "Serve the door: installed Agents for A2A clients and MCP hosts.",
        UNITS,
        serves=True,
    ),
    Entry("router close", "operator.router:close", "End all open Invocations of a Router that will not come back."),
)


_EXITS = (
    "Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no answer, 78 a setting or package is missing, "
    "130 Ctrl-C. Every command has --help with an example, and --json for programs."
)


_ROUTER = "Serve the A2A Router, or close one that will not come back."
_HELP = "Agent Operating Platform: publish, prove, release, discover, install, invoke and inspect AI Agents."


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not context.resilient_parsing:
        write_line(f"aop {__version__}", sys.stdout)
        raise Exit


_VERSION = click.Option(
    ["--version"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)


class _Root(LazyGroup):
    """Every error in the usage of a command passes here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        with clean_usage(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with clean_usage(ctx):
                return super().invoke(ctx)
        except KeyboardInterrupt:  # before the command could take it
            from aop.cli.shell.problems import EXIT_INTERRUPTED  # noqa: PLC0415

            raise Exit(EXIT_INTERRUPTED) from None


@click.pass_context
def _serve_router(context: click.Context, workers: int | None) -> None:
    if context.invoked_subcommand is None:
        from aop.cli.operator.units import run_unit  # noqa: PLC0415

        raise Exit(run_unit("router", workers))


def _tree() -> click.Group:
    groups: dict[str, list[LazyGroup]] = {}
    for name, (panel, _) in GROUPS.items():
        if " " not in name:
            groups.setdefault(panel, []).append(_group(name))
    router = LazyGroup(
        "router",
        _inside("router"),
        help=_ROUTER,
        short_help=_ROUTER,
        callback=_serve_router,
        params=[click.Option(["--workers"], **options.WORKERS)],
        invoke_without_command=True,
    )
    groups.setdefault(UNITS, []).append(router)
    top = [entry for entry in COMMANDS if " " not in entry.name]
    return _Root("aop", top, groups, help=_HELP, epilog=_EXITS, params=[_VERSION], no_args_is_help=True)


def _group(name: str) -> LazyGroup:
    """With its commands, and the groups inside it."""
    _, summary = GROUPS[name]
    nested = [_group(inner) for inner in GROUPS if inner.rpartition(" ")[0] == name]
    groups = {"Commands": nested} if nested else {}
    short_name = name.rpartition(" ")[2]
    return LazyGroup(short_name, _inside(name), groups, help=summary, short_help=summary, no_args_is_help=True)


def _inside(group: str) -> list[Entry]:
    return [entry for entry in COMMANDS if entry.name.rpartition(" ")[0] == group]


app = _tree()
