"""Whole ONNX models, each a recipe (onnx.helper and NumPy) that draws its weights from a seed: those of ./dev bench model- and
./dev conformance models, and the same at small sizes, which test/onnx/make_models.py stores as tests.

    file, inputs = MODELS["bert"].make()     # the bytes of a model, {name: numpy.ndarray}

`python3 bench/models NAME FOLDER` writes one of them. This table needs no package; the recipes need onnx and NumPy.
"""

import dataclasses
import importlib

LIGHT = ("squeezenet", "shufflenet", "resnet50", "densenet121", "inception_v1", "inception_v2", "bvlc_alexnet", "zfnet512", "vgg19")


@dataclasses.dataclass(frozen=True)
class Recipe:
    module: str     # of this folder
    function: str   # of sizes and a generator of random numbers
    sizes: tuple

    def make(self):
        import numpy
        function = getattr(importlib.import_module(f"{__name__}.{self.module}"), self.function)
        return function(*self.sizes, numpy.random.default_rng(7))


def recipe(module, function, *sizes):
    return Recipe(module, function, sizes)


MODELS = {
    **{name: recipe("light", "light", name) for name in LIGHT},
    "mobilenet-v2": recipe("convolutional", "mobilenet_v2", 1.0, 7, 224, 1280, 1000),
    "mobilenet-v3": recipe("convolutional", "mobilenet_v3", 15, 224, 1280, 1000),
    "unet": recipe("convolutional", "unet", 4, 32, 256, 5),
    "minilm": recipe("transformers", "encoder", 6, 384, 12, 128, 30522),
    "bert": recipe("transformers", "bert", 12, 768, 12, 128, 30522),
    "gpt2": recipe("transformers", "decoder", 4, 768, 12, 128, 5000),
    "vit": recipe("transformers", "vit", 12, 768, 12, 224, 16, 1000),
    "lstm-tagger": recipe("recurrent", "tagger", 2, 128, 256, 64, 10000, 20),
    "attention-512": recipe("transformers", "attention", 12, 64, 512),
    "attention-2048": recipe("transformers", "attention", 12, 64, 2048),
    "ppocr-det": recipe("shipped", "page", "det", 640, 640),
    "ppocr-rec": recipe("shipped", "line", "rec", 48, 320),
    "ppocr-cls": recipe("shipped", "line", "cls", 48, 192),
    "ddddocr": recipe("shipped", "characters", 64, 200),
    "ddddocr-det": recipe("shipped", "places_of_characters", 416),
    "silero": recipe("shipped", "voice", "silero_vad", 512),
    "silero-ifless": recipe("shipped", "voice", "silero_vad_op18_ifless", 512),
    "silero-16k": recipe("shipped", "voice", "silero_vad_16k_op15", 512),
    "silero-half": recipe("shipped", "voice", "silero_vad_half", 512),
    "silero-openvino": recipe("shipped", "voice", "silero_vad_openvino_16k", 576),
    "silero-sequence": recipe("shipped", "voices", "silero_vad_16k_sequence", 31, 576),
    "magika": recipe("shipped", "file_type", 1024),
    # These take many sizes (many_sizes.py).
    "remembering-decoder": recipe("transformers", "remembering_decoder", 2, 128, 4, 10, 256, 500),
    "small-cnn": recipe("convolutional", "digits", 8, 10, 4, 28, 28),
    "small-mlp": recipe("convolutional", "perceptron", 64, 256, 10, 32),
}
# Of the same, sizes that a test takes.
SMALL = {
    "mobilenet_v2": recipe("convolutional", "mobilenet_v2", 0.25, 3, 33, 32, 10),
    "mobilenet_v3": recipe("convolutional", "mobilenet_v3", 4, 32, 24, 10),
    "unet": recipe("convolutional", "unet", 2, 4, 16, 3),
    "resnet50": recipe("convolutional", "resnet50", 8, 128, 10),
    "squeezenet": recipe("convolutional", "squeezenet", 8, 99, 10),
    "minilm": recipe("transformers", "encoder", 2, 16, 4, 7, 50),
    "bert": recipe("transformers", "bert", 2, 24, 3, 9, 40),
    "gpt2": recipe("transformers", "decoder", 2, 16, 2, 6, 50),
    "vit": recipe("transformers", "vit", 2, 24, 3, 20, 5, 10),
    "lstm_tagger": recipe("recurrent", "tagger", 2, 8, 6, 5, 30, 4),
    "attention": recipe("transformers", "attention", 2, 8, 11),
    "remembering_decoder": recipe("transformers", "remembering_decoder", 2, 16, 2, 3, 40, 50),
    "digits_of_any_size": recipe("convolutional", "digits", 4, 10, 2, 9, 11),
    "perceptron": recipe("convolutional", "perceptron", 6, 8, 3, 5),
}
