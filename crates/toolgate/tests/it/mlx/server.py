"""A model server that misbehaves on demand: server.py PORT test/BEHAVIOUR"""

import json
import os
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, behaviour = int(sys.argv[1]), sys.argv[2].split("/")[-1]
health = 200


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        global health
        if self.path == "/die":
            print("fatal: out of memory", flush=True)
            os._exit(9)
        if self.path == "/ill":
            health = 503
        self.answer(health, {"status": "ok"})

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # One whose model died is silent to those who ask, as the real one is.
        if behaviour in ("silent", "dead", "lost"):
            time.sleep(1000)
        if behaviour == "failing":
            return self.answer(500, {"error": "no"})
        if behaviour == "wrong":
            return self.answer(200, {"hello": "world"})
        self.answer(200, {"choices": [{"message": {"role": "assistant", "content": "x"}}]})


def say(text):
    print(text, flush=True)


say(f"serving {behaviour}")
died = "2026-11-16 10:00:00,000 - ERROR - mlx_lm.server generation thread died: "
if behaviour == "never":
    time.sleep(1000)
if behaviour == "late":
    time.sleep(1)
if behaviour == "exits":
    say("Traceback: no luck")
    sys.exit(3)
if behaviour == "forks" and os.fork():
    os._exit(0)
if behaviour == "elsewhere":
    port = 0
if behaviour == "taken":
    say("OSError: [Errno 98] Address already in use")
    time.sleep(1000)
if behaviour == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "987654"], start_new_session=True)
server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
if behaviour == "dead":
    say(died + "Model type nosuch not supported.")
if behaviour == "lost":
    say(died + "Cannot find an appropriate cached snapshot folder for the specified revision")
if behaviour == "floods":
    import threading

    threading.Thread(target=lambda: [print("x" * 1000) for _ in iter(int, 1)], daemon=True).start()
server.serve_forever()
