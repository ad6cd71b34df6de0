"""An MCP server on stdin and stdout that says what a file tells it to.

The file is JSON: `tools` is what is listed, `answers` has for each tool the answers by the text of its
first argument (`*` for any): a whole message without its id, or `{"do": …}` for something that is no
answer. With `honest` it checks arguments, and refuses tools that it does not have. Changing the file
changes what the server says. `methods` has the results of other methods, and the file `asked` gets a line
for each of these requests.
"""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

path = sys.argv[1]
MODERN = "2026-07-28"


def script():
    with open(path, encoding="utf-8") as file:
        return json.load(file)


lock = threading.Lock()
cancelled = threading.Event()


def say(message):
    with lock:
        print(json.dumps(message) if isinstance(message, dict) else message, flush=True)


def changed():
    """Says that the tools changed, whenever the file does."""
    seen = os.stat(path).st_mtime_ns
    while True:
        time.sleep(0.02)
        now = os.stat(path).st_mtime_ns
        if now != seen:
            seen = now
            if not script().get("silent"):
                say({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


waiting = {}


def ask(method, params):
    """Asks the client something, and waits for what it says."""
    id, answered = f"ask-{time.monotonic_ns()}", queue.Queue()
    waiting[id] = answered
    say({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
    return answered.get()


def plain(text):
    return {"content": [], "structuredContent": {"text": text}, "isError": False}


KINDS = {"string": str, "integer": int, "object": dict, "array": list}


def fits(value, schema):
    """Whether a value is what the schema says, as far as the tests' own schemas go."""
    kind = KINDS.get(schema.get("type"), object)
    if not isinstance(value, kind) or kind is int and isinstance(value, bool):
        return False
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        known = all(name in properties for name in value) or schema.get("additionalProperties", True)
        return (known and all(name in value for name in schema.get("required", []))
                and all(fits(value[name], own) for name, own in properties.items() if name in value))
    if isinstance(value, str):
        return schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value))
    if isinstance(value, int):
        return schema.get("minimum", value) <= value <= schema.get("maximum", value)
    return True


def echoed(result, params):
    """The same with what was asked for in the place of `$uri`, and a long text in that of `$long`."""
    text = json.dumps(result).replace("$uri", str(params.get("uri")))
    return json.loads(text.replace("$long", "x" * 15_000_000) if "$long" in text else text)


listed = 0


def act(id, what, params):
    """What is more than an answer, and what no honest server does."""
    kind, *rest = what if isinstance(what, list) else [what]
    token = params.get("_meta", {}).get("progressToken")
    if kind == "progress":
        for step in range(1, 4) if token is not None else []:
            say({"jsonrpc": "2.0", "method": "notifications/progress",
                 "params": {"progressToken": token, "progress": step, "total": 4,
                            "message": rest[0] if rest else f"step {step}"}})
        say({"jsonrpc": "2.0", "id": id, "result": plain("done")})
    if kind == "ask":
        reply = ask(*rest)
        say({"jsonrpc": "2.0", "id": id, "result": plain(json.dumps(reply.get("result", reply.get("error"))))})
    if kind == "ask_again":
        if "inputResponses" in params:
            text = json.dumps({"heard": params["inputResponses"], "state": params.get("requestState")})
            say({"jsonrpc": "2.0", "id": id, "result": {**plain(text), "resultType": "complete"}})
        else:
            say({"jsonrpc": "2.0", "id": id, "result": {"resultType": "input_required", "requestState": "opaque",
                 "inputRequests": {"who": {"method": rest[0], "params": rest[1]}}}})
    if kind == "until_cancelled":
        with open("began", "w", encoding="utf-8") as file:
            file.write("yes")
        cancelled.wait(20)
        with open("cancelled", "w", encoding="utf-8") as file:
            file.write("yes")
    if kind == "hang":
        # Somebody may wait for it to begin.
        with open("hangs", "w", encoding="utf-8") as file:
            file.write("yes")
    if kind == "die":
        os._exit(rest[0] if rest else 7)
    if kind == "cry":
        print(rest[0], file=sys.stderr, flush=True)
        time.sleep(0.1)
        os._exit(3)
    if kind == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "sleep":
        seconds, message = rest
        # Somebody may wait for it to begin.
        with open("sleeps", "w", encoding="utf-8") as file:
            file.write("yes")
        time.sleep(seconds)
        say({"jsonrpc": "2.0", "id": id, **message})
    if kind == "twice":
        for result in rest:
            say({"jsonrpc": "2.0", "id": id, "result": result})
    if kind == "wrong_id":
        say({"jsonrpc": "2.0", "id": "nobody", "result": rest[0]})
    if kind == "lines":
        for line in rest[0]:
            say(line)
        say({"jsonrpc": "2.0", "id": id, "result": rest[1]})
    if kind == "bytes":
        # Each character is a byte; `ID` is the id of the request.
        with lock:
            sys.stdout.flush()
            sys.stdout.buffer.write(rest[0].replace("ID", str(id)).encode("latin-1") + b"\n")
            sys.stdout.buffer.flush()
    if kind == "long_line":
        with lock:
            sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"junk":"' % json.dumps(id))
            for _ in range(rest[0]):
                sys.stdout.write("x" * 1_000_000)
            sys.stdout.write('"}}\n')
            sys.stdout.flush()
    if kind == "fork":
        subprocess.Popen(["sleep", rest[0]], start_new_session=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        say({"jsonrpc": "2.0", "id": id, "result": rest[1]})


def answer(message):
    id, method, params = message["id"], message["method"], message.get("params", {})
    now = script()
    if method in ("initialize", "server/discover"):
        # In a folder that holds something of other programs, ours makes no new file.
        with contextlib.suppress(PermissionError), open("client.json", "w", encoding="utf-8") as file:
            json.dump(params, file)
    if method == "server/discover" and now.get("modern"):
        return {"supportedVersions": [MODERN],
                "capabilities": now.get("discovered", {"tools": {"listChanged": True}}),
                "resultType": "complete", "ttlMs": 0, "cacheScope": "public",
                "serverInfo": {"name": "scripted", "version": "1"}}
    if method == "initialize":
        version = now.get("version", params["protocolVersion"])
        return {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "scripted", "version": "1"}, **now.get("initialize", {})}
    if method == "tools/list":
        if "pages" in now:
            cursor = params.get("cursor", "")
            return {"tools": [] if cursor else now["tools"], "nextCursor": cursor + "x" if now["pages"] == "endless" else "x"}
        global listed
        listed += 1
        if listed > 1 and now.get("lists_once"):
            return None
        # One that never lists the same twice.
        return {"tools": now["tools"][listed % 2:] if now.get("fickle") else now["tools"]}
    if method in now.get("methods", {}):
        with open("asked", "a", encoding="utf-8") as file:
            file.write(method + "\n")
        result = now["methods"][method]
        if isinstance(result, dict) and "do" in result:
            threading.Thread(target=act, args=(id, result["do"], params), daemon=True).start()
            return None
        return echoed(result, params)
    if method == "ping":
        return {}
    if method == "tools/call" and now.get("honest"):
        tools = [tool for tool in now["tools"] if isinstance(tool, dict)]
        tool = next((tool for tool in tools if tool["name"] == params["name"]), None)
        if tool is None:
            say({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "Unknown tool"}})
            return None
        if not fits(params.get("arguments", {}), tool["inputSchema"]):
            return {"content": [{"type": "text", "text": "the arguments do not fit"}], "isError": True}
    if method == "tools/call":
        answers = now.get("answers", {}).get(params["name"], {})
        arguments = list(params.get("arguments", {}).values())
        first = str(arguments[0]) if arguments else "*"
        chosen = answers.get(first, answers.get("*"))
        if chosen is None:
            return {"content": [{"type": "text", "text": "no answer is written for this"}], "isError": True}
        if "echo" in chosen:
            return plain(first)
        if "do" in chosen:
            threading.Thread(target=act, args=(id, chosen["do"], params), daemon=True).start()
            return None
        say({"jsonrpc": "2.0", "id": id, **chosen})
        return None
    say({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
    return None


first = script()
for line in first.get("greeting", []):
    say(line)
if "at_start" in first:
    act(0, first["at_start"], {})
threading.Thread(target=changed, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "notifications/cancelled":
        cancelled.set()
    if message.get("id") in waiting and "method" not in message:
        waiting.pop(message["id"]).put(message)
    if "id" in message and "method" in message:
        result = answer(message)
        if result is not None:
            if script().get("modern"):
                result.setdefault("resultType", "complete")
            say({"jsonrpc": "2.0", "id": message["id"], "result": result})
