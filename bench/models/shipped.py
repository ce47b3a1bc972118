"""Trained models that packages on PyPI ship: characters in images (PP-OCR, ddddocr), voices in sound (silero-vad), types of files (magika).
Their wheels are downloaded once, to build/bench-models/wheels. Inputs look like what the models were trained on: a result whose cells
are all next to zero would say nothing about differences.
"""

import pathlib
import subprocess
import sys
import zipfile

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "build/bench-models/wheels"
OCR = {"det": "ch_PP-OCRv4_det_infer", "rec": "ch_PP-OCRv4_rec_infer", "cls": "ch_ppocr_mobile_v2.0_cls_infer"}
RATE = 16000  # samples of sound in a second


def shipped(package, path):
    """The bytes of a file of a wheel, which isn't installed: what it needs is of no use here."""
    folder = FOLDER / package.replace("==", "-")
    if not list(folder.glob("*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--dest", folder,
                        package], check=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        return wheel.read(path)


def ocr(part, image):
    return shipped("rapidocr-onnxruntime==1.4.4", f"rapidocr_onnxruntime/models/{OCR[part]}.onnx"), {"x": image}


def written(height, width, letter, random):
    """Dark letters of so many cells' height on white paper, [1, 3, height, width] from -1 to 1: bars at random places of their boxes."""
    image = np.ones((1, 3, height, width), np.float32)
    for top in range(letter // 4, height - letter, 2 * letter):
        for left in range(letter // 2, width - letter, 3 * letter // 4):
            if random.random() < 0.15:  # between words
                continue
            box, bar = image[:, :, top:top + letter, left:left + letter // 2], max(2, letter // 10)
            for at in random.integers(0, letter // 2 - bar, 2):
                box[:, :, :, at:at + bar] = -1
            at = random.integers(0, letter - bar)
            box[:, :, at:at + bar] = -1
    return image + random.uniform(-0.05, 0.05, image.shape).astype(np.float32)


def page(part, height, width, random):
    return ocr(part, written(height, width, 28, random))


def line(part, height, width, random):
    return ocr(part, written(height, width, 3 * height // 4, random))


def characters(height, width, random):
    """Convolutions and an LSTM, of gray cells."""
    image = written(height, width, 3 * height // 4, random)[:, :1].copy()
    return shipped("ddddocr==1.6.1", "ddddocr/common.onnx"), {"input1": image}


def places_of_characters(size, random):
    """A YOLO."""
    return shipped("ddddocr==1.6.1", "ddddocr/common_det.onnx"), {"images": written(size, size, 40, random)}


def sound(samples, random):
    """Harmonics of 120 Hz and noise."""
    time = np.arange(samples) / RATE
    harmonics = sum(np.sin(2 * np.pi * 120 * number * time) / number for number in range(1, 20))
    return (0.2 * harmonics + 0.05 * random.standard_normal(samples)).astype(np.float32)


def silero(name):
    return shipped("silero-vad==6.2.3", f"silero_vad/data/{name}.onnx")


def voice(name, samples, random):
    inputs = {"input": sound(samples, random)[None], "state": (0.1 * random.standard_normal((2, 1, 128))).astype(np.float32)}
    if name in ("silero_vad", "silero_vad_16k_op15", "silero_vad_op18_ifless"):
        inputs["sr"] = np.array(RATE)
    return silero(name), inputs


def voices(name, pieces, samples, random):
    states = {state: (0.1 * random.standard_normal((1, 1, 128))).astype(np.float32) for state in ("h", "c")}
    return silero(name), {"input": sound(pieces * samples, random).reshape(pieces, samples), **states}


# Of this the model is sure (0.993). Where it is not, ONNX Runtime's result may be 3e-4 from that in double precision (ours 3e-6): it takes
# variances as differences of large sums, which it adds up in single precision.
FUNCTION = """def f{0}(x, y):
    \"\"\"The root of a sum.\"\"\"
    if x > {0}:
        return math.sqrt(x + y * {0})
    return [value for value in range({0})]


"""


def file_type(ends, random):
    """So many bytes of both ends of a program in Python."""
    text = ("import math\n\n\n" + "".join(FUNCTION.format(number) for number in random.integers(0, 1000, 40))).encode()
    ends_of_text = np.frombuffer(text[:ends] + text[-ends:], np.uint8).astype(np.int32)
    return shipped("magika==1.0.3", "magika/models/standard_v3_3/model.onnx"), {"bytes": ends_of_text[None]}
