"""A bare reverse proxy in front of the Agent, for comparison: nginx, when this machine has it."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from aop.local.ports import any_free_port
from aop.net.http import Target

_CONFIGURATION = """
daemon off; master_process off; pid {home}/nginx.pid; error_log {home}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; client_body_temp_path {home}; proxy_temp_path {home}; fastcgi_temp_path {home};
  uwsgi_temp_path {home}; scgi_temp_path {home}; keepalive_requests 1000000;
  upstream agent {{ server 127.0.0.1:{agent}; keepalive 256; keepalive_requests 1000000; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://agent; proxy_http_version 1.1; proxy_set_header Connection ""; }}
  }}
}}
"""


@dataclass(frozen=True)
class Proxy:
    pid: int
    target: Target


@contextmanager
def bare_proxy(agent: Target) -> Iterator[Proxy | None]:
    command = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if command is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as folder:
        port, configuration = any_free_port(), Path(folder) / "nginx.conf"
        configuration.write_text(_CONFIGURATION.format(home=folder, agent=agent.port, port=port))
        proxy = subprocess.Popen([command, "-c", str(configuration), "-p", folder], stderr=subprocess.DEVNULL)
        time.sleep(0.3)
        try:
            yield Proxy(proxy.pid, Target("http", "127.0.0.1", port, "127.0.0.1"))
        finally:
            proxy.terminate()
            proxy.wait()
