# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""otlp_collector.py FOLDER - receives requests of OTLP profiles, in place of a collector.

FOLDER/port gets its port, FOLDER/request-N each body that was accepted, without compression, and
FOLDER/log a line for each request: STATUS PATH BYTES.  If FOLDER/answer is there it has the status
of the next answers, and further headers, a line each.
"""

import gzip
import http.server
import os
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
accepted = len(list(folder.glob("request-*")))


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global accepted
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        answer = folder / "answer"
        lines = answer.read_text().splitlines() if answer.exists() else ["200"]
        status = int(lines[0])
        if status == 200:
            accepted += 1
            (folder / "new").write_bytes(body)
            os.rename(folder / "new", folder / f"request-{accepted}")
        with open(folder / "log", "a") as log:
            print(status, self.path, len(body), file=log)
        self.send_response(status)
        for line in lines[1:]:
            self.send_header(*line.split(": ", 1))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


known = folder / "port"
server = http.server.HTTPServer(("127.0.0.1", int(known.read_text()) if known.exists() else 0), Receiver)
(folder / "port.new").write_text(f"{server.server_port}\n")
os.rename(folder / "port.new", known)
server.serve_forever()
