"""A page in headless Chromium, driven through its DevTools pipe: no package beyond Debian's `chromium`.

    with Browser() as browser:
        page = browser.open("page.html", scheme="dark")
        page.evaluate("document.title")
        page.press("Tab")
        page.screenshot("page.png")
        page.messages          # what the page wrote to the console, and uncaught errors
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium")
PATIENCE_SECONDS = 120


class Browser:
    def __init__(self):
        if CHROMIUM is None:
            raise OSError("chromium is not installed: ./dev setup")
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_commands, self.write = os.pipe()
        self.read, write_answers = os.pipe()

        def name_pipes():  # Chromium reads commands from 3 and writes answers to 4
            ends = os.dup(read_commands), os.dup(write_answers)
            for number, end in zip((3, 4), [os.dup2(end, 20 + i) for i, end in enumerate(ends)]):
                os.dup2(end, number)
        self.process = subprocess.Popen(
            [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             f"--user-data-dir={self.profile.name}", "about:blank"], preexec_fn=name_pipes, close_fds=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(read_commands)
        os.close(write_answers)
        self.serial, self.buffer, self.listeners = 0, b"", []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.write)  # Chromium ends when its pipe does
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        self.profile.cleanup()

    def call(self, method, session=None, **parameters):
        self.serial += 1
        serial = self.serial
        command = {"id": serial, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        os.write(self.write, json.dumps(command).encode() + b"\0")
        while True:
            message = self.next_message()
            if message.get("id") == serial:
                if "error" in message:
                    raise ValueError(f"{method}: {message['error']['message']}")
                return message["result"]
            for listen in self.listeners:
                listen(message)

    def next_message(self):
        while b"\0" not in self.buffer:
            if not select.select([self.read], [], [], PATIENCE_SECONDS)[0]:
                raise TimeoutError("chromium does not answer")
            chunk = os.read(self.read, 1 << 20)
            if not chunk:
                raise OSError("chromium has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, path, width=1600, height=1000, scheme="light"):
        return Page(self, path, width, height, scheme)


class Page:
    def __init__(self, browser, path, width, height, scheme):
        self.browser, self.messages, self.requests, self.loaded = browser, [], [], False
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.listeners.append(self.listen)
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        while not self.loaded:
            self.listen(self.browser.next_message())

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def listen(self, message):
        if message.get("sessionId") != self.session:
            return
        name, values = message["method"], message["params"]
        if name == "Page.loadEventFired":
            self.loaded = True
        elif name == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif name == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(each.get("value")) for each in values["args"]))
        elif name == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif name == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])

    def evaluate(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"]["exception"].get("description", script))
        return answer["result"].get("value")

    def press(self, key, text=None):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
        code = codes.get(key, ord(key[0].upper()))
        text = text or (key if len(key) == 1 else "\r" if key == "Enter" else None)
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **typed)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def hover(self, selector):
        """Moves the mouse to the middle of an element's upper edge, as a person would."""
        x, y = self.evaluate(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect();"
                             " return [box.left + box.width / 2, box.top + Math.min(10, box.height / 2)]; })()")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        return x, y

    def click(self, selector):
        x, y = self.hover(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
