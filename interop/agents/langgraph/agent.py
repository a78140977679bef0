"""The server of LangGraph with one graph; it serves every graph over A2A under /a2a/ID."""

import json
import os
from pathlib import Path

from interop.host import serve

# What the framework's own command for development sets before it imports the server.
os.environ |= {  # noqa: TID251
    "MIGRATIONS_PATH": "__inmem",
    "DATABASE_URI": ":memory:",
    "REDIS_URI": "fake",
    "N_JOBS_PER_WORKER": "2",
    "LANGSERVE_GRAPHS": json.dumps({"chat": f"{Path(__file__).with_name('graph.py')}:chat"}),
    "LANGSMITH_LANGGRAPH_API_VARIANT": "local_dev",
    "LANGSMITH_TRACING": "false",
    "LANGGRAPH_RUNTIME_EDITION": "inmem",
    "LANGGRAPH_DISABLE_FILE_PERSISTENCE": "true",
    "LANGGRAPH_ALLOW_BLOCKING": "true",
    "LANGGRAPH_NO_VERSION_CHECK": "true",
}

if __name__ == "__main__":
    from langgraph_api.server import app

    serve(app)
