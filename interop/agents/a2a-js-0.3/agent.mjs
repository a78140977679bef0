// An Agent on @a2a-js/sdk 0.3 with express, as the SDK's documentation shows.
import { randomUUID } from "node:crypto";
import { AGENT_CARD_PATH } from "@a2a-js/sdk";
import { DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { agentCardHandler, jsonRpcHandler, UserBuilder } from "@a2a-js/sdk/server/express";
import express from "express";
import { showMethods, words } from "../../script.mjs";

const port = Number(process.argv[2]);
const card = {
  name: "Chat",
  description: "Answers a text.",
  protocolVersion: "0.3.0",
  version: "1.0.0",
  url: `http://127.0.0.1:${port}/`,
  skills: [{ id: "chat", name: "Chat", description: "Answers a text.", tags: ["chat"] }],
  capabilities: { streaming: true },
  defaultInputModes: ["text"],
  defaultOutputModes: ["text"],
};

class ChatExecutor {
  running = new Map();

  async execute({ taskId, contextId, userMessage }, bus) {
    const stop = new AbortController();
    const status = (state, final) =>
      bus.publish({ kind: "status-update", taskId, contextId, status: { state }, final });
    this.running.set(taskId, stop);
    bus.publish({ kind: "task", id: taskId, contextId, status: { state: "submitted" }, history: [userMessage] });
    status("working", false);
    const text = userMessage.parts.map((part) => part.text ?? "").join("");
    try {
      for await (const word of words(text, stop.signal)) {
        if (stop.signal.aborted) break;
        const artifact = { artifactId: randomUUID(), parts: [{ kind: "text", text: word }] };
        bus.publish({ kind: "artifact-update", taskId, contextId, artifact });
      }
      status(stop.signal.aborted ? "canceled" : "completed", true);
    } catch (error) {
      // Thrown further, the SDK would report the failure of another Task.
      console.error(error.message);
      status("failed", true);
    }
    bus.finished();
  }

  cancelTask = async (taskId) => this.running.get(taskId)?.abort();
}

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new ChatExecutor());
const app = express();
app.use(express.json(), showMethods);
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }));
app.use("/", jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
app.listen(port, "127.0.0.1");
