"""Starts all three, asks, and judges the answers."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT, BINARY, LITELLM = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
EXAMPLE = ROOT / "examples/homelab"
KEY = "sk-of-the-test-with-litellm"
# Toolgate's own deadline. LiteLLM has none that holds.
TIMEOUT_MS = 2000
PATIENCE_S = 60

checks, failed = 0, []
started = []


def check(name, holds, seen=""):
    global checks
    checks += 1
    if holds:
        print(f"ok {name}")
    else:
        failed.append(name)
        print(f"FAILED {name}: {seen}")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start(command, log, env, **more):
    """A process in a group of its own, so that all of it can be ended."""
    process = subprocess.Popen(
        command, env=env, stderr=log.open("w"), start_new_session=True, text=True, **more
    )
    started.append(process)
    return process


def stop_all():
    for process in reversed(started):
        try:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(10)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def ask(url, body=None, headers=None):
    """Status and body of an answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", **(headers or {})}
    request = urllib.request.Request(url, data=data, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def litellm(work, searxng):
    port = free_port()
    # Nothing of it may reach out: no price list, no telemetry, no page.
    env = {
        **os.environ,
        "HOME": str(work),
        "SEARXNG_URL": searxng,
        "LITELLM_MASTER_KEY": KEY,
        "LITELLM_MODE": "PRODUCTION",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "DISABLE_ADMIN_UI": "True",
        "NO_DOCS": "True",
    }
    log = work / "litellm.log"
    command = [LITELLM, "--config", str(EXAMPLE / "litellm.yaml"), "--host", "127.0.0.1"]
    command += ["--port", str(port), "--telemetry", "False"]
    process = start(command, log, env, stdout=subprocess.DEVNULL, cwd=work)
    url = f"http://127.0.0.1:{port}"
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if ask(f"{url}/health/liveliness")[0] == 200:
                return url
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"litellm: the proxy did not start\n{log.read_text()[-4000:]}")


def settings(base_url, key=KEY):
    ours = {name: value for name, value in os.environ.items() if not name.startswith("TOOLGATE_")}
    return {
        **ours,
        "LITELLM_API_KEY": key,
        "TOOLGATE_TOOLS__SEARCH__BASE_URL": base_url,
        # There is no other machine.
        "TOOLGATE_TOOLS__MLX__HOST": "local",
        "TOOLGATE_TOOLS__SEARCH__TIMEOUT_MS": str(TIMEOUT_MS),
    }


def toolgate(work, env, *arguments):
    """A command line to its end."""
    command = [BINARY, *arguments, "--config", str(EXAMPLE / "toolgate.yaml")]
    command += ["--data-dir", str(work / "data")]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=30)


def serve(work, env):
    command = [BINARY, "serve", "--config", str(EXAMPLE / "toolgate.yaml")]
    command += ["--data-dir", str(work / "data"), "--listen", "127.0.0.1:0"]
    process = start(command, work / "toolgate.log", env, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if "http://" not in line:
        raise SystemExit(f"litellm: toolgate did not start\n{(work / 'toolgate.log').read_text()}")
    return next(word for word in line.split() if word.startswith("http://"))


def over_rest(url, **arguments):
    status, body = ask(f"{url}/v1/tools/search.web", {"args": arguments})
    return status, json.loads(body)


def over_mcp(url, **arguments):
    """A call as a client of 2026-07-28 makes it."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "litellm-test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "search.web", "arguments": arguments, "_meta": meta}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "search.web",
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    body = ask(f"{url}/mcp/web-fetch", message, headers)[1]
    lines = [line[6:] for line in body.splitlines() if line.startswith("data: ")]
    return json.loads(lines[-1] if lines else body)["result"]


def over_stdio(env, work, **arguments):
    """A call as a client of 2025-11-25 makes it on stdin."""
    hello = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "litellm-test", "version": "1"},
    }
    call = {"name": "search.web", "arguments": arguments}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    command = [BINARY, "mcp", "--toolset", "web-fetch", "--config", str(EXAMPLE / "toolgate.yaml")]
    command += ["--data-dir", str(work / "data")]
    log = work / "mcp.log"
    process = start(command, log, env, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    for message in messages:
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        answer = json.loads(line)
        if answer.get("id") == 2:
            process.stdin.close()
            return answer["result"]
    raise SystemExit(f"litellm: no answer on stdio\n{log.read_text()}")


def expect_results(url, env, work):
    first = {
        "title": "Result 0 & more",
        "url": "https://example.org/0",
        "snippet": "Text of result 0",
        "date": None,
    }
    second = {
        "title": "Result 1 & more",
        "url": "https://example.org/1",
        "snippet": "Text of result 1",
        "date": "2025-01-01",
    }
    expected = {"results": [first, second]}
    status, said = over_rest(url, query=" two words ", max_results=2)
    check("REST: two results", (status, said.get("result")) == (200, expected), said)
    said = over_mcp(url, query="two words", max_results=2)
    check("MCP: two results", said.get("structuredContent") == expected, said)
    said = over_stdio(env, work, query="two words", max_results=2)
    check("MCP on stdio: two results", said.get("structuredContent") == expected, said)
    # LiteLLM passes on all 30 that SearXNG gives.
    for wanted, count in [(None, 10), (25, 25), (1, 1)]:
        arguments = {"query": "many"} if wanted is None else {"query": "many", "max_results": wanted}
        said = over_rest(url, **arguments)[1]
        check(f"max_results {wanted}", len(said["result"]["results"]) == count, said)
    said = over_rest(url, query="nothing")[1]
    check("nothing found", said.get("result") == {"results": []}, said)
    said = over_rest(url, query="odd")[1]
    check("results without an address are left out", said.get("result") == {"results": [first]}, said)
    said = over_rest(url, query="ümläut & 漢字 + %20 #?")[1]
    check("any words", len(said["result"]["results"]) == 10, said)


def expect_failures(url):
    def refused(name, query, http_status, code, reason, upstream=None):
        began = time.monotonic()
        status, said = over_rest(url, query=query)
        took = time.monotonic() - began
        details = said.get("details", {})
        holds = (status, said.get("code"), details.get("reason")) == (http_status, code, reason)
        if upstream is not None:
            text = f"HTTPStatusError status={upstream}"
            holds = holds and details.get("status") == upstream and said["error"] == text
        check(f"REST: {name}", holds and took < TIMEOUT_MS / 1000 + 2, (status, said, took))
        mcp = over_mcp(url, query=query)
        check(f"MCP: {name}", mcp["isError"] and code in json.dumps(mcp), mcp)

    refused("an upstream that fails", "status 500", 502, "upstream_failure", "http_status", 500)
    refused("an upstream that is busy", "status 429", 502, "upstream_failure", "http_status", 429)
    refused("garbage", "garbage", 502, "upstream_failure", "http_status", 500)
    refused("a slow upstream", "slow", 504, "timeout", "timeout")
    status, said = over_rest(url, query="   ")
    check("a blank query", (status, said["code"]) == (400, "invalid_query"), said)


def expect_diagnoses(work, base_url):
    said = toolgate(work, settings(base_url), "doctor")
    check("doctor: well", f"ok       search: LiteLLM at {base_url} answers" in said.stdout, said)
    wrong = settings(base_url, "sk-wrong")
    said = toolgate(work, wrong, "doctor")
    holds = said.returncode == 1 and "refuses the key" in said.stdout
    check("doctor: a wrong key", holds and "sk-wrong" not in said.stdout + said.stderr, said)
    said = toolgate(work, wrong, "call", "search.web", "query=x")
    holds = said.returncode == 1 and "upstream_failure: HTTPStatusError status=4" in said.stderr
    check("a wrong key", holds, said)
    other = {**settings(base_url), "TOOLGATE_TOOLS__SEARCH__SEARCH_TOOL": "news"}
    said = toolgate(work, other, "doctor")
    check("doctor: a wrong search tool", "it has web" in said.stdout, said)
    said = toolgate(work, other, "call", "search.web", "query=x")
    check("a wrong search tool", "upstream_failure" in said.stderr, said)
    in_body = {**settings(base_url), "TOOLGATE_TOOLS__SEARCH__SEARCH_TOOL_IN": "body"}
    said = toolgate(work, in_body, "call", "search.web", "query=x")
    check("the search tool in the body", "https://example.org/0" in said.stdout, said)


def expect_direct(work, searxng):
    direct = {
        **settings(searxng),
        "TOOLGATE_TOOLS__SEARCH__PROVIDER": "searxng",
    }
    said = toolgate(work, direct, "call", "search.web", "query=x", "max_results:=3")
    check("SearXNG without LiteLLM", said.stdout.count("https://example.org/") == 3, said)
    said = toolgate(work, direct, "doctor")
    check("doctor: SearXNG", "ok       search: SearXNG" in said.stdout, said)


def main():
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        service = [sys.executable, str(ROOT / "tests/litellm/searxng.py")]
        searxng = start(service, work / "searxng.log", os.environ, stdout=subprocess.PIPE)
        searxng_url = f"http://127.0.0.1:{searxng.stdout.readline().strip()}"
        base_url = litellm(work, searxng_url)
        env = settings(base_url)
        url = serve(work, env)
        expect_results(url, env, work)
        expect_failures(url)
        expect_diagnoses(work, base_url)
        expect_direct(work, searxng_url)
        said = (work / "toolgate.log").read_text() + (work / "data/journal.jsonl").read_text()
        check("the key is in no log", KEY not in said, "it is")
        stop_all()
    took = f"{time.monotonic() - began:.0f} s"
    if failed:
        print(f"litellm: FAILED in {len(failed)} of {checks} checks, {took}")
        sys.exit(1)
    print(f"litellm: {checks} checks passed, {took}")


try:
    main()
finally:
    stop_all()
