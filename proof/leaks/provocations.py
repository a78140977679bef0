"""The eleven provocations: each puts canaries through the platform and makes it do something it might talk about."""

import json
import signal
from collections.abc import Awaitable, Callable, Sequence

from proof.caller import Leaving, calling
from proof.gathering import settled
from proof.leaks.places import Channel
from proof.leaks.scene import SLOTS, Scene
from proof.switchboard import Action, Armed
from proof.world import PATH
from tests.support.agent import a_task, data, rpc_error, saying, text
from tests.support.cards import some_limits
from tests.support.loop import agent_card, invoking
from tests.support.nested import NESTED, nested_body, running_parent
from tests.support.peers import Behaviour, Received, hold
from tests.support.publication import Provider
from tests.support.streaming_agent import artifact, status, streamed, task


def answer(scene: Scene) -> Behaviour:
    """A good result with a canary in it, and one in a header."""
    secret = scene.secret(Channel.RESULT)
    header = b"x-secret: " + scene.secret(Channel.HEADER).encode()

    async def behave(received: Received) -> None:
        message = {"kind": "message", "messageId": secret, "role": "agent", "parts": [data({"secret": secret})]}
        body = {"jsonrpc": "2.0", "id": received.json["id"], "result": message}
        await received.answer(json.dumps(body).encode(), 200, b"content-type: application/json", header)

    return behave


async def success(scene: Scene) -> None:
    scene.made.agent.script(answer(scene))
    result = await scene.call()
    scene.found.require(scene.canaries.mark.encode() in result.body, "the caller did not get the result's canary")
    secret = scene.secret(Channel.CHUNK)
    scene.made.agent.script(streamed(task(), artifact(secret, last=True), status("completed")))
    result = await scene.call(stream=True)
    scene.found.require(secret in result.body.decode(), "the caller did not get the chunk's canary")


async def refusal(scene: Scene) -> None:
    await scene.call(capability="none")
    await scene.call(agentId="acme:none")
    whole = scene.request(scene.body())
    unknown = "aop_" + scene.secret(Channel.ACCESS_TOKEN)
    await scene.send(whole.replace(scene.made.first.token.encode(), unknown.encode()))
    await scene.send(whole.replace(b"accept: application/json", b"accept: text/html"))
    address = scene.secret(Channel.ADDRESS)
    for path in (f"{PATH}/!{address}", f"{PATH}?cursor={address}", f"/v1/agents?query=%zz{address}", f"/{address}"):
        await scene.send(scene.request(b"", path=path).replace(b"POST", b"GET", 1))


async def time_out(scene: Scene) -> None:
    card, _, _ = await scene.made.first.installed(limits=some_limits(timeoutMs=300))
    half = streamed(task(), artifact(scene.secret(Channel.CHUNK)), end="open")
    for stream, behaviour in ((False, hold), (True, half)):
        scene.made.agent.script(behaviour)
        await scene.call("TIMEOUT", stream=stream, agentId=card["agentId"])


async def agent_failure(scene: Scene) -> None:
    secret = scene.secret(Channel.ERROR_TEXT)
    said = {"kind": "message", "messageId": "m", "role": "agent", "parts": [text(secret)]}
    location = b"location: http://127.0.0.1/" + secret.encode()
    for behaviour in (
        rpc_error(-32000, secret),
        a_task("failed", status={"state": "failed", "message": said}),
        a_task(secret),
        saying(secret.encode(), 500),
        saying(b'{"%b": 1' % secret.encode()),
        saying(b"", 302, location),
        saying(b'{"jsonrpc":"2.0","id":"%id%","result":{"kind":"' + secret.encode() + b'"}}'),
    ):
        scene.made.agent.script(behaviour)
        result = await scene.call()
        scene.found.require(result.outcome == "failed", f"Agent failure: told {result.outcome}")
    scene.made.agent.script(streamed(task(), b"data: {" + secret.encode() + b"\n\n"))
    await scene.call(stream=True)


async def dependency_failure(scene: Scene) -> None:
    """The store goes away under the Router, then under the Gateway, each time while a stream runs."""
    secret = scene.secret(Channel.CHUNK)
    for unit in (scene.made.router, scene.made.control_plane):
        scene.made.agent.script(streamed(task(), artifact(secret), 0.4, artifact(secret, append=True), end="open"))
        proxy = scene.made.proxies[unit.name]
        async with scene.reading(secret):
            proxy.close()
            for stream in (False, True):
                await scene.call("DEPENDENCY_ERROR", stream=stream)
        scene.found.require(proxy.hits["refused"] + proxy.hits["reset"] > 0, f"{unit.name}: its store was not cut")
        proxy.open()
        await unit.ready()


async def crash(scene: Scene) -> None:
    """Faults nobody foresaw, with a traceback each, and a Router that dies while a canary is in its hands."""
    remote = scene.made.remote(scene.made.router)
    for point in ("resolve.before", "exchange.before", "message.answered", "answer.before"):
        scene.made.agent.script(answer(scene))
        await remote.arm(Armed(point, Action.RAISE))
        result = await scene.call()
        scene.found.require((result.status or 0) >= 500, f"crash at {point}: told {result.status}")
    await remote.arm(None)
    gateway = scene.made.remote(scene.made.control_plane)
    await gateway.arm(Armed("dispatch.before", Action.RAISE))
    await scene.call()
    await gateway.arm(None)
    scene.made.agent.script(answer(scene))
    await remote.arm(Armed("terminal.before", Action.KILL))
    await scene.call()
    await scene.made.router.ended()
    await scene.call()
    await scene.made.router.restart()


async def overload(scene: Scene) -> None:
    for _ in range(SLOTS):
        scene.made.agent.script(hold)
    count = len(scene.made.agent.calls("message/send"))
    async with invoking(scene.made.first), invoking(scene.made.first), invoking(scene.made.first):
        await scene.made.agent.arrival("message/send", count + SLOTS)
        for stream in (False, True):
            await scene.call("OVERLOADED", stream=stream)
    await settled(scene.made)


async def malformed(scene: Scene) -> None:
    secret = scene.secret(Channel.INPUT)
    good = scene.body()
    for body in (
        good[:-1],
        good[:-1] + b',"%b":1}' % secret.encode(),
        good + secret.encode(),
        good.replace(b'"stream": false', b'"stream": "%b"' % secret.encode()),
        b'{"%b":1,"%b":2}' % (secret.encode(), secret.encode()),
        b'"\\ud800%b"' % secret.encode(),
        b"\xff" + secret.encode(),
    ):
        result = await scene.send(scene.request(body))
        scene.found.require(result.code == "VALIDATION_ERROR", f"malformed: told {result.code}")
    scene.canaries.add(Channel.ACCESS_TOKEN, "a form that is no token", f"{scene.canaries.mark}no-token")
    router = scene.made.first.router.port
    await scene.send(scene.request(nested_body("acme:agent"), path=NESTED), router)
    for raw in (b"GET /%b HTTP/9.9\r\n\r\n" % secret.encode(), b"%b\r\n\r\n" % secret.encode()):
        for port in (scene.made.first.gateway.port, router):
            async with calling(port) as caller:
                await caller.send(raw)
                await caller.until(b"never", 5)
    await scene.send(scene.request(good, path="/internal/v1/invocations"), router)


async def cancel(scene: Scene) -> None:
    secret = scene.secret(Channel.CHUNK)
    for way in (Leaving.FIN, Leaving.RST):
        scene.made.agent.script(streamed(task(), artifact(secret), end="open"))
        async with scene.reading(secret, way):
            pass
    count = len(scene.made.agent.calls("message/send"))
    scene.made.agent.script(hold)
    async with calling(scene.made.first.gateway.port) as caller:
        await caller.send(scene.request(scene.body()))
        await scene.made.agent.arrival("message/send", count + 1)
        caller.leave(Leaving.FIN)
    scene.took(caller.result())


async def debug(scene: Scene) -> None:
    """What only the platform says: proofs, right and wrong, and delegations, used and refused; all units tell all."""
    provider = Provider(scene.made.first.gateway, scene.made.first.token, "alice", "provider-of-leaks")
    await provider.post("/v1/agents", agent_card(scene.made.agent, agent_id="acme:leaks"))
    binding = (await provider.bind(scene.made.agent.url, "acme:leaks")).json
    for served in (None, "wrong", "right"):
        challenge = await provider.challenge(binding)
        wrong = scene.secret(Channel.PROOF)
        if served is not None:
            scene.made.agent.serve(challenge["challengeId"], challenge["proof"] if served == "right" else wrong)
        scene.canaries.add(Channel.PROOF, f"proof {served}", challenge["proof"])
        reply = await provider.complete(challenge)
        scene.found.require((reply.status == 200) == (served == "right"), f"proof {served}: {reply.status}")
        scene.found.hits[scene.provocation] += 1
    async with running_parent(scene.made.first) as parent:
        scene.made.agent.script(answer(scene))
        child = await parent.call(scene.made.first.card["agentId"])
        scene.found.require(child.status == 200, f"child: {child.status}")
        forged = parent.delegation[:-4] + "AAAA"
    refused = await scene.made.first.router.post(NESTED, nested_body("acme:agent"), token=forged)
    scene.found.require(refused.status == 401, f"forged delegation: {refused.status}")
    scene.made.control_plane.send(signal.SIGTERM)
    await scene.made.control_plane.ended(40)
    await scene.made.control_plane.restart()


async def sign_in(scene: Scene) -> None:
    """Tokens and codes that callers make, redeem, redeem again and revoke; and texts that never were a code."""
    gateway, token = scene.made.first.gateway, scene.made.first.token

    async def made(path: str, body: object, channel: Channel, member: str) -> str:
        reply = await gateway.post(path, body, token=token)
        scene.found.require(reply.status == 201, f"{path}: {reply.status}")
        scene.canaries.add(channel, f"{member} of {path} {len(scene.canaries.values)}", reply.json[member])
        return str(reply.json[member])

    await made("/v1/me/tokens", {"label": "leaks", "days": 1}, Channel.ACCESS_TOKEN, "token")
    code = await made("/v1/me/sign-in-codes", None, Channel.SIGN_IN_CODE, "code")
    session = await made("/v1/sign-in", {"code": code}, Channel.ACCESS_TOKEN, "token")
    spent, never = f'"{code}"'.encode(), f'"{scene.secret(Channel.SIGN_IN_CODE)}"'.encode()
    for value in (spent, never, spent[:-1], spent + b",1", b"[%b]" % spent):
        result = await scene.send(scene.request(b'{"code":%b}' % value, path="/v1/sign-in"))
        scene.found.require(result.status in {400, 401}, f"a code that is none: {result.status}")
    scene.found.require((await gateway.ask("DELETE", "/v1/me/token", token=session)).status == 200, "not signed out")
    await scene.send(scene.request(b"", path="/v1/me/sign-in-codes").replace(token.encode(), session.encode()))


ALL: Sequence[Callable[[Scene], Awaitable[None]]] = (
    *(
        success,
        refusal,
        time_out,
        agent_failure,
        dependency_failure,
        crash,
        overload,
        malformed,
        cancel,
        debug,
        sign_in,
    ),
)
