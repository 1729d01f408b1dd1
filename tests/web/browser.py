"""A headless Chromium, driven over the DevTools protocol by a pipe; needs nothing but Python.

    with Browser(folder) as browser:
        page = browser.open("/tmp/report.html", width=1400, height=900)
        page.evaluate("document.title")
"""

import base64
import json
import os
import shutil
import subprocess
import time

NAMES = ("chromium", "chromium-browser", "google-chrome")


def find_chromium():
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Failure(Exception):
    """The browser or the page did not do what was asked."""


class Browser:
    def __init__(self, folder):
        self.number = 0
        self.events = []
        self.page = None
        to_browser, self.to_browser = os.pipe()
        self.from_browser, from_browser = os.pipe()

        def keep_pipes():
            # The browser reads commands from 3 and writes answers to 4.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
             "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={folder}/chromium",
             "--remote-debugging-pipe", "about:blank"],
            preexec_fn=keep_pipes, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to_browser)
        os.close(self.from_browser)

    def receive(self):
        while b"\0" not in self.rest:
            piece = os.read(self.from_browser, 1 << 20)
            if not piece:
                raise Failure("the browser has ended")
            self.rest += piece
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.to_browser, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']}")
                return answer["result"]
            if "method" in answer:
                self.events.append(answer)

    def open(self, path, width=1400, height=900, dark=False):
        """One page at a time: a browser draws nothing on pages behind another."""
        if self.page:
            self.call("Target.closeTarget", targetId=self.page.target)
        self.page = Page(self, path, width, height, dark)
        return self.page


class Page:
    def __init__(self, browser, path, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target,
                                    flatten=True)["sessionId"]
        self.target = target
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("document.readyState === 'complete' && "
                  "(document.documentElement.dataset.ready || "
                  "document.getElementById('app').textContent.includes('cannot be shown'))",
                  seconds=60)

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def resize(self, width, height, mobile=None):
        """On a phone, as narrow windows are by default, bars to scroll take no space."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600 if mobile is None else mobile)
        self.settle()

    def settle(self):
        """Until what was asked for is on the screen."""
        self.evaluate("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))")

    def evaluate(self, script, **options):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True,
                           awaitPromise=True, **options)
        if "exceptionDetails" in result:
            raise Failure(f"{script}: {json.dumps(result['exceptionDetails'])[:600]}")
        return result["result"].get("value")

    def wait(self, script, seconds=10):
        """Until the script gives something true."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({script})"):
            if time.monotonic() > end:
                raise Failure(f"not within {seconds} s: {script}")
            time.sleep(0.02)

    def click(self, selector):
        """With the mouse, in the middle of the element."""
        spot = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            "if (!e) return null;"
            "e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect();"
            "return [b.x + b.width / 2, b.y + b.height / 2]; })()")
        if not spot:
            raise Failure(f"nothing to click at {selector}")
        self.settle()
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=spot[0], y=spot[1], button="left",
                      clickCount=1)

    def drag(self, start, end, y):
        """From one x to another, with the left button held."""
        for kind, x, held in (("mouseMoved", start, 0), ("mousePressed", start, 1),
                              ("mouseMoved", (start + end) / 2, 1), ("mouseMoved", end, 1),
                              ("mouseReleased", end, 0)):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, clickCount=1, buttons=held,
                      button="left" if kind != "mouseMoved" else "none")

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def type(self, selector, text):
        self.evaluate(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      **({"text": "\r"} if key == "Enter" and kind == "keyDown" else {}))

    def problems(self):
        """Errors on the console, exceptions, refusals of the page's policy, and any request
        for something other than the page itself."""
        self.evaluate("0")
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, params = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"])[:400])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
                found.append(json.dumps(params["args"])[:400])
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append(params["entry"]["text"])
            elif method == "Network.requestWillBeSent" \
                    and not params["request"]["url"].startswith("file:"):
                found.append("request for " + params["request"]["url"][:200])
        return found

    def screenshot(self, path, whole=False):
        self.settle()
        data = self.call("Page.captureScreenshot", format="png",
                         captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
