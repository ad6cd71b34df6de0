"""A small MCP server on stdin and stdout, with nothing but the standard library."""

import json
import sys

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


class Server:
    def __init__(self, name):
        self.name = name
        self.tools = {}

    def tool(self, description, properties, required, output, read_only=True):
        """Registers a function under its own name, with its contract."""

        def register(function):
            self.tools[function.__name__] = (function, {
                "name": function.__name__,
                "description": description,
                "inputSchema": {"type": "object", "properties": properties, "required": required},
                "outputSchema": output,
                "annotations": {"readOnlyHint": read_only},
            })
            return function

        return register

    def answer(self, method, params):
        if method == "initialize":
            asked = params.get("protocolVersion")
            return {
                "protocolVersion": asked if asked in VERSIONS else VERSIONS[-1],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self.name, "version": "1.0.0"},
            }
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": [described for _, described in self.tools.values()]}
        if method == "tools/call":
            function, described = self.tools[params["name"]]
            arguments = params.get("arguments", {})
            for name, schema in described["inputSchema"]["properties"].items():
                if name in arguments and not fits(arguments[name], schema):
                    raise TypeError(f"{name} is not what its schema says")
            result = function(**arguments)
            text = json.dumps(result)
            return {"structuredContent": result, "content": [{"type": "text", "text": text}], "isError": False}
        raise NotImplementedError(method)

    def run(self):
        for line in sys.stdin:
            message = json.loads(line)
            if "id" not in message:
                continue
            reply = {"jsonrpc": "2.0", "id": message["id"]}
            try:
                reply["result"] = self.answer(message["method"], message.get("params", {}))
            except NotImplementedError:
                reply["error"] = {"code": -32601, "message": "Method not found"}
            except (KeyError, TypeError) as error:
                reply["error"] = {"code": -32602, "message": f"Invalid params: {error}"}
            print(json.dumps(reply), flush=True)


def fits(value, schema):
    """Whether an argument is what its schema says; texts and whole numbers are all there is."""
    if schema["type"] == "string":
        return isinstance(value, str)
    whole = isinstance(value, int) and not isinstance(value, bool)
    return whole and schema["minimum"] <= value <= schema["maximum"]


def text(description):
    return {"type": "string", "description": description}


def record(fields):
    """An object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


def found(key):
    """The result of a search."""
    item = record({key: text("Its id."), "title": text("Its title."), "snippet": text("How it begins.")})
    return record({"query": text("What was looked for."), "results": {"type": "array", "items": item}})


SEARCH = {
    "query": text("Words to look for."),
    "top_k": {"type": "integer", "minimum": 1, "maximum": 50, "default": 5, "description": "How many at most."},
}


def search(items, key, query, top_k=5):
    """Items whose title or text has the words, whatever their case."""
    hits = [(id, title, content) for id, (title, content) in items.items()
            if query.lower() in f"{title}\n{content}".lower()]
    shown = [{key: id, "title": title, "snippet": snippet(content)} for id, title, content in hits[:top_k]]
    return {"query": query, "results": shown}


def snippet(content):
    line = content.replace("\n", " ")
    return line if len(line) <= 120 else line[:120] + "..."


def fetch(items, key, id):
    return {key: id, "content": items[id][1] if id in items else "NOT_FOUND"}
