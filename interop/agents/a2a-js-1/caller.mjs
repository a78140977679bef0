// The client of @a2a-js/sdk 1.x at the door: makes the calls of a plan (stdin) and says what came of each (stdout).
import { CancelTaskRequest, GetTaskRequest, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import {
  ClientFactory,
  createAuthenticatingFetchWithRetry,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from "@a2a-js/sdk/client";

const ENDED = ["completed", "failed", "canceled", "rejected"];
const authenticating = createAuthenticatingFetchWithRetry(fetch, {
  headers: async () => ({ Authorization: `Bearer ${process.env.AOP_TOKEN}` }),
  shouldRetryWithHeaders: async () => undefined,
});
const factory = new ClientFactory({
  transports: [new JsonRpcTransportFactory({ fetchImpl: authenticating })],
  cardResolver: new DefaultAgentCardResolver({ fetchImpl: authenticating }),
});

async function call(plan) {
  const outcome = { name: plan.name, states: [], values: [], error: null };
  try {
    const client = await factory.createFromUrl(`${plan.url}/.well-known/agent-card.json`, "");
    const card = await client.getAgentCard();
    const { url } = card.supportedInterfaces[0];
    outcome.card = { name: card.name, url, skills: card.skills.map((skill) => skill.id) };
    await follow(client, plan, outcome);
  } catch (problem) {
    const facts = problem.metadata ?? problem.cause?.metadata ?? problem.data?.[0]?.metadata ?? null;
    outcome.error = { kind: problem.constructor.name, text: String(problem.message), facts };
  }
  return outcome;
}

async function follow(client, plan, outcome) {
  const request = SendMessageRequest.fromJSON({ message: message(plan) });
  if (plan.mode === "send") {
    take({ task: Task.toJSON(await client.sendMessage(request)) }, outcome);
  } else {
    let canceling;
    for await (const event of client.sendMessageStream(request)) {
      take(StreamResponse.toJSON(event), outcome);
      if (plan.mode === "leave") break;
      if (plan.mode === "cancel") canceling ??= client.cancelTask(CancelTaskRequest.fromJSON({ id: outcome.task }));
    }
    if (canceling) outcome.canceled = state(Task.toJSON(await canceling).status);
  }
  if (ENDED.includes(outcome.states.at(-1))) {
    const read = await client.getTask(GetTaskRequest.fromJSON({ id: outcome.task }));
    outcome.read = state(Task.toJSON(read).status);
  }
}

function take(event, outcome) {
  const found = event.task ?? event.statusUpdate ?? event.artifactUpdate ?? {};
  outcome.task = found.id ?? found.taskId;
  outcome.context = found.contextId;
  for (const artifact of [...(found.artifacts ?? []), ...(found.artifact ? [found.artifact] : [])])
    for (const part of artifact.parts) outcome.values.push(part.text ?? part.data);
  if (!found.status) return;
  outcome.states.push(state(found.status));
  outcome.facts = found.metadata;
  if (found.status.message) outcome.said = found.status.message.parts[0].text;
}

const state = (status) => status.state.replace("TASK_STATE_", "").toLowerCase();

function message(plan) {
  const parts = plan.parts.map((value) => (typeof value === "string" ? { text: value } : { data: value }));
  const skill = plan.skill ? { metadata: { skillId: plan.skill } } : {};
  return { messageId: plan.name, role: "ROLE_USER", parts, contextId: "ctx-1", ...skill };
}

let input = "";
for await (const piece of process.stdin) input += piece;
for (const plan of JSON.parse(input)) console.log(JSON.stringify(await call(plan)));
