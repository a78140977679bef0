// An Agent on @a2a-js/sdk 1.x with express; agent.mjs and legacy.mjs serve it in its two versions.
import { randomUUID } from "node:crypto";
import { AGENT_CARD_PATH, TaskState } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { showMethods, words } from "../../script.mjs";

const port = Number(process.argv[2]);

function cardOf(versions) {
  const url = `http://127.0.0.1:${port}/`;
  const skill = { id: "chat", name: "Chat", description: "Answers a text.", tags: ["chat"] };
  return {
    name: "Chat",
    description: "Answers a text.",
    version: "1.0.0",
    supportedInterfaces: versions.map((protocolVersion) => ({ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion })),
    capabilities: { streaming: true, extensions: [] },
    securitySchemes: {},
    securityRequirements: [],
    defaultInputModes: ["text/plain"],
    defaultOutputModes: ["text/plain"],
    skills: [{ ...skill, examples: [], inputModes: [], outputModes: [], securityRequirements: [] }],
    signatures: [],
  };
}

class ChatExecutor {
  running = new Map();

  async execute({ taskId, contextId, userMessage }, bus) {
    const stop = new AbortController();
    const now = (state) => ({ state, message: undefined, timestamp: new Date().toISOString() });
    const status = (state) => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: now(state) }));
    this.running.set(taskId, stop);
    const task = { id: taskId, contextId, status: now(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage] };
    bus.publish(AgentEvent.task(task));
    status(TaskState.TASK_STATE_WORKING);
    const text = userMessage.parts.map((part) => (part.content?.$case === "text" ? part.content.value : "")).join("");
    for await (const word of words(text, stop.signal)) {
      if (stop.signal.aborted) break;
      const part = { content: { $case: "text", value: word }, filename: "", mediaType: "text/plain" };
      const artifact = { artifactId: randomUUID(), name: "", description: "", parts: [part], extensions: [] };
      bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true }));
    }
    status(stop.signal.aborted ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  }

  cancelTask = async (taskId) => this.running.get(taskId)?.abort();
}

export function serve(versions) {
  const requestHandler = new DefaultRequestHandler(cardOf(versions), new InMemoryTaskStore(), new ChatExecutor());
  const legacyCompat = { enabled: versions.includes("0.3") };
  const app = express();
  app.use(express.json(), showMethods);
  app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
  app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat }));
  app.listen(port, "127.0.0.1");
}
