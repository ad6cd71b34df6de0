"""What the conformance suite's client scenarios run: a client of Toolgate, with the suite's server as
Toolgate's upstream. So what is tested is the whole way: a client, our door, the gate, the upstream.

    client.py TOOLGATE URL
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

binary, url = sys.argv[1], sys.argv[-1]
context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
version = os.environ.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
work = pathlib.Path(tempfile.mkdtemp())
protocol = "auto" if not version else "modern" if version >= "2026" else "legacy"
upstream = {"url": url, "output": "content", "unknown_arguments": "allow", "protocol": protocol,
            "questions": True, "connect_timeout_ms": 10000, "timeout_ms": 20000}
if os.environ.get("MCP_CONFORMANCE_SCENARIO") == "http-custom-headers":
    # It wants to be sent a null where its own schema has none, which the gate would refuse.
    upstream["mode"] = "warn"
(work / "toolgate.yaml").write_text(json.dumps({"tools": {"enable": []}, "upstreams": {"up": upstream}}))

child = subprocess.Popen([binary, "mcp"], cwd=work, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
next_id = 0


def send(message):
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    child.stdin.flush()


def defaults(schema):
    """What somebody sends who presses Enter at every field."""
    fields = schema.get("properties", {})
    return {name: field["default"] for name, field in fields.items() if "default" in field} or \
           {name: sample(fields[name]) for name in schema.get("required", [])}


def sample(schema):
    if "default" in schema:
        return schema["default"]
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "string")
    return {"string": "test", "integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}.get(kind, "test")


def request(method, params):
    global next_id
    next_id += 1
    send({"id": next_id, "method": method, "params": params})
    for line in child.stdout:
        message = json.loads(line)
        if message.get("id") == next_id and "method" not in message:
            return message
        if message.get("method") == "elicitation/create":
            content = defaults(message["params"].get("requestedSchema", {}))
            send({"id": message["id"], "result": {"action": "accept", "content": content}})
        elif message.get("method") == "sampling/createMessage":
            send({"id": message["id"], "result": {"role": "assistant", "model": "none",
                                                  "content": {"type": "text", "text": "test"}}})
        elif message.get("method") == "roots/list":
            send({"id": message["id"], "result": {"roots": []}})
    sys.exit("toolgate ended")


request("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "client", "version": "1"},
                       "capabilities": {"elicitation": {"form": {}}, "sampling": {}, "roots": {}}})
send({"method": "notifications/initialized"})
tools = {tool["name"]: tool for tool in request("tools/list", {})["result"]["tools"]}
print("tools:", *tools, file=sys.stderr)
calls = context.get("toolCalls")
if calls is None:
    calls = [{"name": name.removeprefix("up__"),
              "arguments": {key: sample(tool["inputSchema"].get("properties", {}).get(key, {}))
                            for key in tool["inputSchema"].get("required", [])}}
             for name, tool in tools.items()]
for call in calls:
    answer = request("tools/call", {"name": f"up__{call['name']}", "arguments": call.get("arguments", {})})
    print(call["name"], json.dumps(answer)[:500], file=sys.stderr)
child.stdin.close()
child.wait(20)
