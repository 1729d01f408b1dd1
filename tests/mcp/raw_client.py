"""A client of pgokit mcp that speaks JSON-RPC itself, so that it can also speak it wrongly."""

import json
import subprocess

ANSWER_MAX_BYTES = 8192


class RawClient:
    """One server; what is asked of it is answered in turn."""

    def __init__(self, pgokit, *folders, options=(), env=None):
        self.process = subprocess.Popen([pgokit, "mcp", *options, *map(str, folders)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env)
        self.number = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()
        self.process.stderr.close()

    def send(self, line):
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def receive(self):
        line = self.process.stdout.readline()
        assert line.endswith(b"\n"), "the server has ended"
        assert len(line) <= ANSWER_MAX_BYTES, f"an answer of {len(line)} bytes"
        return json.loads(line)

    def raw(self, line):
        self.send(line + b"\n")
        return self.receive()

    def ask(self, method, **params):
        self.number += 1
        answer = self.raw(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method,
                                      "params": params}).encode())
        assert answer["jsonrpc"] == "2.0" and answer["id"] == self.number, answer
        return answer

    def call(self, tool, **arguments):
        """The text, and whether it is that of an error."""
        result = self.ask("tools/call", name=tool, arguments=arguments)["result"]
        [content] = result["content"]
        assert content["type"] == "text", content
        return content["text"], result["isError"], result.get("_meta", {}).get("pgokit/nextCursor")

    def whole(self, tool, **arguments):
        """All pages in one, without the lines at their ends."""
        text, failed, cursor = self.call(tool, **arguments)
        assert not failed, text
        pages = [text]
        while cursor:
            text, failed, cursor = self.call(tool, **arguments, cursor=cursor)
            assert not failed, text
            pages.append(text)
        if len(pages) > 1:
            pages = [page[:page.rindex("[bytes ")] for page in pages]
        return "".join(pages)
