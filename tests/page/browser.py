"""A headless Chromium, driven through chromedriver by the WebDriver protocol; only Python's own
library is needed."""

import base64
import json
import pathlib
import shutil
import socket
import subprocess
import time
import urllib.request


def is_there():
    return bool(shutil.which("chromedriver") and (shutil.which("chromium") or shutil.which("google-chrome")))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Browser:
    def __init__(self, width=1280, height=900, dark=False, scale=1):
        self.port = free_port()
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--log-level=OFF"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = None
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                     "--hide-scrollbars", "--disable-extensions", "--no-first-run",
                     "--disable-background-networking", f"--force-device-scale-factor={scale}",
                     f"--window-size={width},{height}"]
        if dark:
            arguments.append("--force-dark-mode")
        try:
            self._wait_for_driver()
            capabilities = {"alwaysMatch": {
                "browserName": "chrome",
                "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium") or
                                       shutil.which("google-chrome")},
                "goog:loggingPrefs": {"browser": "ALL"}}}
            self.session = self._call("POST", "/session", {"capabilities": capabilities})["sessionId"]
        except Exception:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            if self.session:
                self._call("DELETE", f"/session/{self.session}")
        finally:
            self.driver.terminate()
            self.driver.wait(timeout=20)

    def _wait_for_driver(self):
        for _ in range(200):
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1):
                    return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", method=method,
            data=None if method != "POST" else json.dumps(body or {}).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def _do(self, method, path, body=None):
        return self._call(method, f"/session/{self.session}{path}", body)

    def open(self, path, fragment=""):
        """Opens it anew, also where only the fragment is another one."""
        self._do("POST", "/url", {"url": "about:blank"})
        self._do("POST", "/url", {"url": pathlib.Path(path).resolve().as_uri() + fragment})

    def back(self):
        self._do("POST", "/back")

    def run(self, script, *arguments):
        """The value that the script returns; the page's own names are there."""
        return self._do("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, script, *arguments, seconds=20):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            answer = self.run(script, *arguments)
            if answer:
                return answer
            time.sleep(0.05)
        return None

    def settle(self):
        """Lets events that are on their way (of scrolling, say) arrive."""
        self.run("return new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(r, 50))))")

    def keys(self, text, selector=None, held=None):
        """Types, into an element or wherever the focus is. Keys such as Enter: see KEY."""
        if selector:
            self.run("document.querySelector(arguments[0]).focus()", selector)
        actions = [step for letter in text for step in
                   ({"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter})]
        if held:
            actions = [{"type": "keyDown", "value": held}, *actions, {"type": "keyUp", "value": held}]
        self._do("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def point(self, x, y, click=False, drag=None):
        """Moves the mouse; clicks there, or draws from there to another point."""
        actions = [{"type": "pointerMove", "duration": 0, "x": int(x), "y": int(y)}]
        if click or drag:
            actions.append({"type": "pointerDown", "button": 0})
            if drag:
                actions.append({"type": "pointerMove", "duration": 0, "x": int(drag[0]), "y": int(drag[1])})
            actions.append({"type": "pointerUp", "button": 0})
        self._do("POST", "/actions", {"actions": [
            {"type": "pointer", "id": "m", "parameters": {"pointerType": "mouse"}, "actions": actions}]})

    def wheel(self, x, y, by):
        self._do("POST", "/actions", {"actions": [{"type": "wheel", "id": "w", "actions": [
            {"type": "scroll", "duration": 0, "x": int(x), "y": int(y), "deltaX": 0, "deltaY": by}]}]})

    def click(self, selector):
        """As a mouse does it: on the middle of the element."""
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'center'})", selector)
        self.settle()
        x, y = self.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
            return [box.left + box.width / 2, box.top + box.height / 2]""", selector)
        self.point(x, y, click=True)

    def download_to(self, folder):
        self._do("POST", "/goog/cdp/execute", {"cmd": "Browser.setDownloadBehavior", "params": {
            "behavior": "allow", "downloadPath": str(folder)}})


    def resize(self, width, height):
        self._do("POST", "/window/rect", {"width": width, "height": height})

    def device(self, width, height, scale=1, mobile=False):
        self._do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setDeviceMetricsOverride", "params": {
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile}})

    def prefer(self, scheme, media=""):
        """Light or dark; media: "print" lays the page out as on paper, "" as on the screen."""
        self._do("POST", "/goog/cdp/execute", {"cmd": "Emulation.setEmulatedMedia", "params": {
            "media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]}})

    def computed_seconds(self):
        """The time of the processor that the page has taken so far, also beside other programs. Called once
        before the page is opened."""
        self._do("POST", "/goog/cdp/execute", {"cmd": "Performance.enable", "params": {"timeDomain": "threadTicks"}})
        answer = self._do("POST", "/goog/cdp/execute", {"cmd": "Performance.getMetrics", "params": {}})
        return next(metric["value"] for metric in answer["metrics"] if metric["name"] == "ThreadTime")

    def screenshot(self, file, whole=False):
        answer = self._do("POST", "/goog/cdp/execute", {
            "cmd": "Page.captureScreenshot", "params": {"format": "png", "captureBeyondViewport": whole}})
        pathlib.Path(file).write_bytes(base64.b64decode(answer["data"]))

    def pdf(self, file):
        answer = self._do("POST", "/goog/cdp/execute", {
            "cmd": "Page.printToPDF", "params": {"printBackground": True}})
        pathlib.Path(file).write_bytes(base64.b64decode(answer["data"]))

    def console(self):
        """Messages of the page since the last call: warnings and errors."""
        return [entry["message"] for entry in self._do("POST", "/se/log", {"type": "browser"})
                if entry["level"] in ("WARNING", "SEVERE")]


KEY = {"Enter": "\ue007", "Escape": "\ue00c", "Tab": "\ue004", "Control": "\ue009",
       "Left": "\ue012", "Up": "\ue013", "Right": "\ue014", "Down": "\ue015"}
