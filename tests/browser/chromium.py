"""A headless Chromium, driven through its debugging pipe; no package but the browser is needed.

The protocol is that of --remote-debugging-pipe: JSON messages that end with a NUL byte, on
descriptors 3 and 4 of the browser.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LONGEST_SECONDS = 240


class Browser:
    def __enter__(self):
        program = shutil.which("chromium")
        if program is None:
            raise AssertionError("chromium is missing: install the package chromium")
        self.home = tempfile.mkdtemp(prefix="strata-browser-")
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()
        words = [program, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
                 "--disable-dev-shm-usage",
                 "--no-first-run", "--disable-extensions", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--hide-scrollbars",
                 f"--user-data-dir={self.home}", "about:blank"]

        def take_descriptors():
            keep = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(keep[0], 3)
            os.dup2(keep[1], 4)
        self.process = subprocess.Popen(words, preexec_fn=take_descriptors, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL,
                                        env={**os.environ, "HOME": self.home, "TZ": "UTC"})
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.pending, self.events = 0, b"", []
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except Exception:  # it may be gone, or hang: either way it ends now
            self.process.kill()
            self.process.wait()
        os.close(self.writing)
        os.close(self.reading)
        shutil.rmtree(self.home, ignore_errors=True)

    def message(self, until):
        while b"\0" not in self.pending:
            ready, _, _ = select.select([self.reading], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise AssertionError("the browser does not answer")
            data = os.read(self.reading, 1 << 20)
            if not data:
                raise AssertionError("the browser has ended")
            self.pending += data
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, session=None, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if session:
            request["sessionId"] = session
        os.write(self.writing, json.dumps(request).encode() + b"\0")
        until = time.monotonic() + LONGEST_SECONDS
        while True:
            answer = self.message(until)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def page(self, **look):
        return Page(self, **look)


class Page:
    """One tab. Requests, errors and messages of the console are kept for the test to look at."""

    def __init__(self, browser, width=1280, height=900, dark=False):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        return self.browser.call(method, session=self.session, **parameters)

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def open(self, path):
        """Seconds until the page is built and what is on the screen is painted."""
        begin = time.monotonic()
        self.call("Page.navigate", url="file://" + path)
        self.wait("(document.documentElement || {dataset: {}}).dataset.ready === 'true'")
        self.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - begin

    def run(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        until = time.monotonic() + LONGEST_SECONDS
        while not self.run(expression):
            if time.monotonic() > until:
                raise AssertionError(f"never true: {expression}")
            time.sleep(0.02)

    def box(self, selector):
        """(left, top, width, height) of an element on the screen, scrolled to."""
        return self.run(f"""(() => {{ const node = document.querySelector({json.dumps(selector)});
            node.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = node.getBoundingClientRect();
            return [r.left, r.top, r.width, r.height]; }})()""")

    def mouse(self, kind, x, y, held=False):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left" if kind != "mouseMoved" or held else "none",
                  buttons=1 if held else 0, clickCount=1)

    def drag(self, x, y, to_x):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, held=True)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * step / 5, y, held=True)
        self.mouse("mouseReleased", to_x, y)

    def key(self, key):
        code = {"ArrowRight": 39, "ArrowLeft": 37, "End": 35, "Home": 36, "Escape": 27}.get(key)
        text = {} if code else {"text": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code or ord(key), **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code or ord(key))

    def complaints(self):
        """Errors, warnings and console output so far, and every request that is not the file itself."""
        self.run("0")
        wrong = []
        for event in self.browser.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                wrong.append(json.dumps(parameters)[:500])
            if method == "Network.requestWillBeSent":
                url = parameters["request"]["url"]
                if not url.startswith(("file://", "data:")):
                    wrong.append("request: " + url)
        return wrong

    def screenshot(self, path, whole=False):
        more = {}
        if whole:
            size = self.call("Page.getLayoutMetrics")["cssContentSize"]
            more = {"captureBeyondViewport": True,
                    "clip": {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 6000), "scale": 1}}
        data = self.call("Page.captureScreenshot", format="png", **more)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
