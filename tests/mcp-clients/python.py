"""The Python SDK 2: it looks for the modern era by itself, and speaks legacy when told to.

The same conversation as in `conversation.mjs`; `expectations.mjs` judges what was seen.

    python python.py ERA http URL
    python python.py ERA stdio COMMAND…
"""

import asyncio
import json
import logging
import sys
import warnings

from mcp import Client, StdioServerParameters

# Ping is deprecated, and it is what the legacy era has.
warnings.simplefilter("ignore")


class Complaints(logging.Handler):
    """What the client logs as a warning or worse."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(self.format(record))


async def main(era, transport, *target):
    if transport == "http":
        everything, toolset = target[0], target[0] + "/autosage"
    else:
        everything = StdioServerParameters(command=target[0], args=target[1:])
        toolset = StdioServerParameters(command=target[0], args=[*target[1:], "--toolset", "autosage"])
    mode = "auto" if era == "modern" else "legacy"
    complaints = Complaints()
    logging.getLogger().addHandler(complaints)

    seen = {"complaints": complaints.texts}
    seen["connected"] = await attempt(talk(everything, mode, seen))
    seen["toolset"] = await attempt(list_toolset(toolset, mode))
    print(json.dumps(seen))


async def talk(door, mode, seen):
    async with Client(door, mode=mode) as client:
        seen["version"] = client.protocol_version
        seen["capabilities"] = plain(client.server_capabilities)
        seen["tools"] = await attempt(all_tools(client))
        seen["echo"] = await call(client, "echo_json", {"message": "hello", "n": 2})
        seen["write"] = await call(client, "write_text_artifact", {"text": "Grüße", "filename": "note.txt"})
        links = [block for block in seen["write"].get("content", []) if block["type"] == "resource_link"]
        if links:
            seen["read"] = await attempt(client.read_resource(links[0]["uri"]))
        seen["refused"] = await call(client, "echo_json", {"message": "hello", "n": 65})
        seen["unknown"] = await call(client, "no_such_tool", {})
        seen["resources"] = await attempt(client.list_resources())
        # The era of 2026-07-28 has no ping.
        if mode == "legacy":
            seen["ping"] = await attempt(client.send_ping())


async def list_toolset(door, mode):
    async with Client(door, mode=mode) as client:
        return await all_tools(client)


async def all_tools(client):
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += [plain(tool) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return tools


def call(client, name, arguments):
    return attempt(client.call_tool(name, arguments))


async def attempt(step):
    try:
        return plain(await step)
    except Exception as error:
        while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
            error = error.exceptions[0]
        return {"thrown": f"{type(error).__name__}: {error}", "code": getattr(error, "code", None)}


def plain(value):
    """As it was on the wire."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return value


asyncio.run(main(*sys.argv[1:]))
