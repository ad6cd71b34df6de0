"""Five real MCP servers behind one gate, one of them by all three transports. Prints what was seen, and fails at the first thing that is not so."""

import atexit
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

binary, cache, node, work = (pathlib.Path(path) for path in sys.argv[1:5])
files = work / "files"
files.mkdir()
(files / "hello.txt").write_text("hello\n")
# Beside the settings a server makes no new files.
memory = work / "memory"
memory.mkdir()
repository = work / "repository"
repository.mkdir()
for command in (["init", "-q"], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"]):
    subprocess.run(["git", "-C", str(repository), *command], check=True)


def npm(name):
    return {"command": str(node), "args": [str(cache / "node_modules/@modelcontextprotocol" / name / "dist/index.js")]}


def over_http(transport, port):
    """The server that has everything, on a port."""
    command = npm("server-everything")
    child = subprocess.Popen([command["command"], *command["args"], transport], env={**os.environ, "PORT": str(port)},
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(300):
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return child
        time.sleep(0.1)
    sys.exit(f"FAILED: {transport} does not listen on {port}")


def free_port():
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return any_port.getsockname()[1]


ports = {"streamableHttp": free_port(), "sse": free_port()}
listening = {transport: over_http(transport, port) for transport, port in ports.items()}
atexit.register(lambda: [child.kill() for child in listening.values()])
os.environ["TEST_TOKEN"] = "s3cret"
servers = {
    "http": {"url": f"http://127.0.0.1:{ports['streamableHttp']}/mcp", "output": "content",
             "headers": {"Authorization": "Bearer ${TEST_TOKEN}"}, "max_restart_delay_ms": 500},
    "sse": {"url": f"http://127.0.0.1:{ports['sse']}/sse", "output": "content"},
    "everything": {**npm("server-everything"), "output": "content"},
    "filesystem": npm("server-filesystem"),
    "memory": {**npm("server-memory"), "env": {"MEMORY_FILE_PATH": str(memory / "memory.jsonl")}},
    "time": {"command": str(cache / "venv/bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    "git": {"command": str(cache / "venv/bin/mcp-server-git"), "args": ["--repository", str(repository)], "output": "text"},
}
servers["filesystem"]["args"].append(str(files))
# JSON is YAML.
(work / "toolgate.yaml").write_text(json.dumps({"tools": {"enable": []}, "upstreams": servers}))


def cli(*arguments, expect=0, at=work):
    done = subprocess.run([str(binary), *arguments], cwd=at, capture_output=True, text=True, timeout=300)
    if done.returncode not in (expect if isinstance(expect, tuple) else (expect,)):
        sys.exit(f"toolgate {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def check(what, holds, seen=""):
    if not holds:
        sys.exit(f"FAILED: {what}: {seen}")
    print(f"ok {what}")


# The five servers as another client has them: one command, and every tool can be used or is rejected for a reason that is true.
imported = work / "imported"
imported.mkdir()
(imported / "toolgate.yaml").write_text("# mine\ntools: { enable: [] }\n")
(imported / "claude.json").write_text(json.dumps({"mcpServers": {
    "everything": npm("server-everything"),
    "filesystem": {**npm("server-filesystem"), "args": [*npm("server-filesystem")["args"], str(files)]},
    "memory": {**npm("server-memory"), "env": {"MEMORY_FILE_PATH": str(memory / "imported.jsonl")}},
    "time": {"command": str(cache / "venv/bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    "git": {"command": str(cache / "venv/bin/mcp-server-git"), "args": ["--repository", str(repository)],
            "env": {"GIT_API_KEY": "s3cret-s3cret"}},
}}))
report = json.loads(cli("upstream", "import", "claude.json", "--json", "--timeout", "120", at=imported))
found = {one["id"]: one for one in report["upstreams"]}
usable = sum(one["tools"] for one in found.values())
rejected = [(id, one["tool"], one["reason"]) for id, one in found.items() for one in one["rejected"]]
check(f"import: {usable} tools of five servers can be used", usable >= 49, report)
# The server itself lists it as one that is only called as a task.
check("import: the others have to be tasks", {reason for _, _, reason in rejected} <= {"task_required"}, rejected)
settings = (imported / "toolgate.yaml").read_text()
check("import: comments stay, secrets do not", settings.startswith("# mine\n") and "s3cret" not in settings, settings)
listed = {one["id"]: one for one in json.loads(cli("upstream", "--json", "list", at=imported))["upstreams"]}
# One of them lists more tools once it knows its client.
check("import: the same tools are served", all(len(listed[id]["tools"]) >= one["tools"] for id, one in found.items()), listed)
check("import: and no others are rejected", {one["reason"] for server in listed.values() for one in server["rejected"]} <= {"task_required"}, listed)
for id, tool, arguments, words in [
    ("git", "git_status", {"repo_path": str(repository)}, "On branch"),
    ("everything", "echo", {"message": "hello"}, "hello"),
    ("time", "get_current_time", {"timezone": "UTC"}, "UTC"),
]:
    answer = cli("call", f"{id}__{tool}", *(f"{key}={value}" for key, value in arguments.items()), at=imported)
    check(f"import: {id}__{tool} answers", words in answer, answer)

reports = {one["id"]: one for one in json.loads(cli("upstream", "--json", "list"))["upstreams"]}
for id, (protocol, least) in {
    "everything": ("2025-11-25", 10), "filesystem": ("2025-11-25", 14), "memory": ("2025-11-25", 9),
    "time": ("2026-07-28", 2), "git": ("2026-07-28", 12), "http": ("2025-11-25", 10), "sse": ("2025-11-25", 10),
}.items():
    one = reports[id]
    check(f"{id} is ready, by {protocol}", one["state"] == "ready" and one["protocol"] == protocol, one)
    check(f"{id} has {least} tools or more", len(one["tools"]) >= least, one)
    for rejected in one["rejected"]:
        print(f"   {id}.{rejected['tool']}: {rejected['reason']}: {rejected['message']}")
    for remark in one["remarks"]:
        print(f"   {id}.{remark.get('tool', '')}: {remark['message']}")

cli("lock")
cli("lock", "diff")
check("everything is pinned", len(json.loads((work / "toolgate.lock").read_text())["upstreams"]) == 7)

# None of them broke its own contract when this was written; what takes long by design is left out.
for id, tools in {"filesystem": [], "memory": [], "time": [], "git": [], "everything": ["echo", "get-sum", "get-tiny-image"]}.items():
    chosen = [word for tool in tools for word in ("--tool", tool)]
    probed = json.loads(cli("probe", id, "--json", "--cases", "5", *chosen, expect=(0, 1)))
    failures = [finding for finding in probed["report"].get("findings", []) if finding.get("severity") == "failure"]
    check(f"{id} keeps its own contract", probed["ok"], failures or probed)

server = subprocess.Popen([str(binary), "serve", "--listen", "127.0.0.1:0"], cwd=work, stdout=subprocess.PIPE,
                          stderr=(work / "stderr").open("w"), text=True)
try:
    url = re.search(r"http://\S+", server.stdout.readline()).group()

    def post(path, body, headers=None):
        request = urllib.request.Request(url + path, json.dumps(body).encode(),
                                         {"content-type": "application/json", **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def call(tool, **arguments):
        return post(f"/v1/tools/{tool}", {"args": arguments})

    def call_until_it_answers(tool, **arguments):
        for _ in range(200):
            answer = call(tool, **arguments)
            if answer["ok"]:
                break
            time.sleep(0.1)
        return answer

    listed = json.load(urllib.request.urlopen(url + "/v1/tools"))["tools"]
    all_tools = sum(len(one["tools"]) for one in reports.values())
    check(f"{all_tools} tools are listed over REST", len(listed) == all_tools, len(listed))
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}, "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}

    def mcp(method, at="/mcp", **params):
        headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2026-07-28", "mcp-method": method}
        if "name" in params or "uri" in params:
            headers["mcp-name"] = params.get("name", params.get("uri"))
        return post(at, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}, headers)

    answer = mcp("tools/list")
    check("and over MCP", len(answer["result"]["tools"]) == all_tools, answer)
    openapi = json.load(urllib.request.urlopen(url + "/openapi.json"))
    check("and in OpenAPI", "/v1/tools/memory__create_entities" in openapi["paths"])

    for name, arguments, holds in [
        ("time__get_current_time", {"timezone": "Europe/Berlin"}, lambda r: r["timezone"] == "Europe/Berlin"),
        ("time__convert_time", {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"},
         lambda r: r["target"]["timezone"] == "Asia/Tokyo"),
        ("filesystem__read_text_file", {"path": str(files / "hello.txt")}, lambda r: r["content"] == "hello\n"),
        ("filesystem__list_directory", {"path": str(files)}, lambda r: "hello.txt" in r["content"]),
        ("filesystem__write_file", {"path": str(files / "new.txt"), "content": "x"}, lambda r: "Successfully" in r["content"]),
        ("memory__create_entities", {"entities": [{"name": "Ada", "entityType": "person", "observations": ["wrote"]}]},
         lambda r: r["entities"][0]["name"] == "Ada"),
        ("memory__read_graph", {}, lambda r: r["entities"][0]["name"] == "Ada"),
        ("git__git_log", {"repo_path": str(repository)}, lambda r: "first" in r["text"]),
        ("git__git_status", {"repo_path": str(repository)}, lambda r: "clean" in r["text"]),
        ("everything__echo", {"message": "hello"}, lambda r: "hello" in r["content"][0]["text"]),
        ("everything__get-sum", {"a": 1, "b": 2}, lambda r: "3" in r["content"][0]["text"]),
        ("everything__get-tiny-image", {}, lambda r: any(block["type"] == "image" for block in r["content"])),
        ("http__echo", {"message": "hello"}, lambda r: "hello" in r["content"][0]["text"]),
        ("http__get-structured-content", {"location": "Chicago"}, lambda r: "temperature" in r),
        ("sse__echo", {"message": "hello"}, lambda r: "hello" in r["content"][0]["text"]),
        ("everything__get-structured-content", {"location": "Chicago"}, lambda r: "temperature" in r),
    ]:
        answer = call(name, **arguments)
        check(name, answer["ok"] and holds(answer["result"]), answer)

    answer = call("filesystem__read_text_file", path="/etc/passwd")
    check("an honest error stays one", answer["code"] == "tool_error", answer)
    answer = call("time__get_current_time", timezone=7)
    check("a wrong argument never gets there", answer["code"] == "invalid_input", answer)
    answer = call("time__get_current_time", timezone="UTC", more=1)
    check("nor one that is not documented", answer["code"] == "invalid_input", answer)

    prompts = [one["name"] for one in mcp("prompts/list")["result"]["prompts"]]
    check("prompts have names of their own", {"everything__simple-prompt", "http__simple-prompt"} <= set(prompts), prompts)
    answer = mcp("prompts/get", name="sse__simple-prompt")
    check("a prompt is handed on", answer.get("result", {}).get("messages"), answer)
    resources = [one["uri"] for one in mcp("resources/list", at="/mcp/http")["result"]["resources"]]
    shared = next(uri for uri in resources if not uri.startswith("toolgate://"))
    check("what three servers claim is read from none", "error" in mcp("resources/read", uri=shared))
    answer = mcp("resources/read", at="/mcp/http", uri=shared)
    check("and from each where it is meant", answer.get("result", {}).get("contents"), answer)

    # A server that went away is unavailable, and is there again without a restart of ours.
    listening["streamableHttp"].kill()
    listening["streamableHttp"].wait()
    answer = call("http__echo", message="hello")
    check("a server that is away is unavailable", answer["code"] == "unavailable", answer)
    listening["streamableHttp"] = over_http("streamableHttp", ports["streamableHttp"])
    answer = call_until_it_answers("http__echo", message="hello")
    check("and is back when it is back", answer["ok"], answer)

    # A child that is killed is there again, and nobody else notices.
    children = subprocess.run(["pgrep", "-f", str(cache / "venv/bin/mcp-server-time")], capture_output=True, text=True)
    for child in children.stdout.split():
        try:
            os.kill(int(child), signal.SIGKILL)
        except ProcessLookupError:
            pass
    check("the others answer", call("memory__read_graph")["ok"])
    answer = call_until_it_answers("time__get_current_time", timezone="UTC")
    check("a killed server is back", answer["ok"], answer)
finally:
    server.terminate()
    server.wait(30)
for child in listening.values():
    child.kill()
    child.wait()
left = subprocess.run(["pgrep", "-f", str(cache)], capture_output=True, text=True).stdout.split()
check("nothing is left running", not [one for one in left if int(one) != os.getpid()], left)
