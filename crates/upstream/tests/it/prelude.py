# What the servers of the tests share. Each test adds what its server does with `messages()`.
import json, os, sys, time

MODERN = "2026-07-28"

def line(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()

def send(**message):
    line(json.dumps({"jsonrpc": "2.0", **message}))

def result(message, **fields):
    send(id=message["id"], result=fields)

def error(message, code, text, data=None):
    send(id=message["id"], error={"code": code, "message": text, **({"data": data} if data else {})})

def messages():
    for text in iter(sys.stdin.readline, ""):
        yield json.loads(text)

def legacy(message, version="2025-11-25", capabilities={"tools": {}}):
    """Answers as a server of the legacy era begins. True where that was all there was to do."""
    method = message.get("method", "")
    if method == "initialize":
        result(message, protocolVersion=version, capabilities=capabilities,
               serverInfo={"name": "old", "asked": message["params"]}, instructions="be careful")
    elif method == "server/discover":
        error(message, -32601, "Method not found")
    elif not method.startswith("notifications/initialized"):
        return False
    return True

def modern(message, capabilities={"tools": {}}):
    if message.get("method") != "server/discover":
        return False
    result(message, resultType="complete", supportedVersions=[MODERN], capabilities=capabilities,
           instructions="be careful", ttlMs=0, cacheScope="public",
           _meta={"io.modelcontextprotocol/serverInfo": {"name": "new", "asked": message["params"]}})
    return True

def called(message):
    return message.get("method") == "tools/call"

def echo(message):
    result(message, structuredContent=message["params"])
