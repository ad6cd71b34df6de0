"""A service on loopback that answers like SearXNG; what it says depends on the query."""

import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

RESULTS = [
    {
        "url": f"https://example.org/{number}",
        "title": f"<b>Result</b> {number} &amp; more",
        "content": f"Text of\nresult {number}",
        "publishedDate": "2025-01-01T00:00:00" if number % 2 else None,
        "engine": "test",
    }
    for number in range(30)
]


class SearXNG(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        words = query.get("q", [""])[0]
        if url.path != "/search":
            self.answer(404, {"error": "no such path"})
        elif query.get("format") != ["json"]:
            self.answer(403, {"error": "only JSON here"})
        elif not words:
            self.answer(400, {"error": "No query"})
        elif words.startswith("status "):
            self.answer(int(words.split()[1]), {"error": "as you wish"})
        elif words == "slow":
            time.sleep(8)
            self.answer(200, {"results": RESULTS})
        elif words == "garbage":
            self.answer(200, "<html>not JSON</html>")
        elif words == "nothing":
            self.answer(200, {"results": []})
        elif words == "odd":
            odd = [{"title": "no address"}, {"url": "javascript:alert(1)", "title": "bad"}]
            self.answer(200, {"results": odd + RESULTS[:1]})
        else:
            self.answer(200, {"query": words, "results": RESULTS})

    def answer(self, status, body):
        body = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except BrokenPipeError:
            pass  # Whoever asked has given up, as it should with `slow`.

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), SearXNG)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
