"""What becomes of conformance cases in a program that takes their folders and prints `KIND FOLDER[: REASON]` for each, in order:
tokamak-conformance, or test/onnx/peer.py.
"""

import os
import selectors
import subprocess
import tempfile
import time

CHUNK = 100  # cases of one process


def lines_of(process, seconds):
    """Its lines as they come; ends with its output. Raises TimeoutError when there was no new line for so many seconds."""
    pending = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        end = time.monotonic() + seconds
        while selector.select(max(0, end - time.monotonic())):
            data = os.read(process.stdout.fileno(), 1 << 16)
            if not data:
                return
            *complete, pending = (pending + data).split(b"\n")
            if complete:
                end = time.monotonic() + seconds
            yield from (line.decode(errors="replace") for line in complete)
    raise TimeoutError


def outcomes(command, folders, seconds):
    """{folder: (kind, reason)}. A case that ends the process, or takes longer than so many seconds, has "failed"; those after it
    get a new process."""
    found, left = {}, list(folders)
    while left:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([*command, *left], stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL)
            is_hanging = False
            try:
                for line in lines_of(process, seconds):
                    kind, _, rest = line.partition(" ")
                    folder, _, reason = rest.strip().partition(": ")
                    if left and folder == left[0]:
                        found[left.pop(0)] = (kind, reason)
            except TimeoutError:
                is_hanging = True
                process.kill()
            process.stdout.close()
            status = process.wait()
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip()[-2000:]
        if left:
            reason = f"no result after {seconds} s" if is_hanging else f"ended the process with status {status}: {said}"
            found[left.pop(0)] = ("failed", reason)
    return found
