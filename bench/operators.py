"""Operators over many axes, as programs in the text of the dialect and as functions of PyTorch (torch_peer.py).

operators.py NAME TYPE REPETITIONS prints the program. Its body is that of docs/plan-ir.md, of which it is taken, in f64 or
f32; the inputs are the same numbers for all peers.
"""

import dataclasses
import pathlib
import re
import sys

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs/plan-ir.md"


@dataclasses.dataclass
class Operator:
    function: str     # in the document
    shapes: tuple     # of the array operands; the first is scaled by 1 + r / 8 in repetition r
    scalar: float | None
    flops: float      # multiplications and additions of one repetition
    cells: float      # that it must read and write


OPERATORS = {
    "attention": Operator("attention", ((1, 8, 1024, 64),) * 3, 8.0, 2 * 2 * 8 * 1024**2 * 64, 4 * 8 * 1024 * 64),
    "attention-narrow": Operator("attention", ((4, 8, 256, 64),) * 3, 8.0, 2 * 2 * 32 * 256**2 * 64, 4 * 32 * 256 * 64),
    "convolution": Operator("convolution", ((4, 56, 56, 64), (3, 3, 64, 32), (1, 32)), None,
                            2 * 4 * 56 * 56 * 64 * 9 * 32, 4 * 56 * 56 * 96),
    "batched-product": Operator("batched_product", ((16, 256, 256), (16, 256, 256), (1, 256)), None, 2 * 16 * 256**3,
                                3 * 16 * 256**2),
    "running-mean": Operator("running_mean", ((20000, 1000),), None, 0, 2 * 20000 * 1000),
}
FACTORS = ((7919, 1009), (104729, 997), (7907, 1013))  # of the numbers in each operand


def documented():
    """(the abbreviations of types, {name: function}) of the document, in f64."""
    code = "\n".join(re.findall(r"```mlir\n(.*?)```", DOCUMENT.read_text(), re.S))
    functions = {m.group(1): m.group(0) for m in re.finditer(r"^func\.func @(\w+)\(.*?^}\n", code, re.M | re.S)}
    return "\n".join(re.findall(r"^!.*$", code, re.M)) + "\n", functions


def in_type(text, element):
    """The operator in another type: sums of products accumulate in it, other aggregates in f64."""
    if element == "f64":
        return text
    text = re.sub(r"(tensor<[?x]*)xf64", rf"\1x{element}", text).replace("-> f64>", f"-> {element}>")
    text = re.sub(r"(plan\.constant [\d.e-]+ : )f64", rf"\g<1>{element}", text)
    product = re.compile(r"(%\d+) = plan\.binary mul")
    for value in product.findall(text):
        text = re.sub(rf"(plan\.reduce sum {value} over \[[^]]*\] in )f64", rf"\g<1>{element}", text)
    # Numbers of places are f64, and a scalar operand stays one; they are converted in the body.
    text = re.sub(r"(%\d+) = plan\.number (\d+) : !\w+", r"%number = plan.number \2 : !plan.cell<(d\2) -> f64>\n    "
                  rf"\1 = plan.cast %number : !plan.cell<(d\2) -> f64> -> !plan.cell<(d\2) -> {element}>", text)
    return re.sub(r"(%\d+) = (plan\.read %s .*? : f64 -> )!c", r"%scalar = \2!plan.cell<() -> f64>\n    "
                  rf"\1 = plan.cast %scalar : !plan.cell<() -> f64> -> !plan.cell<() -> {element}>", text)


VALUES = """
func.func @values(%cells: f64, %factor: f64, %modulus: f64) -> tensor<?x?x$T> {
  %one = tok.constant 1.0 : f64
  %none = tok.constant unit : none
  %half = tok.constant 0.5 : f64
  %line = tok.seq %one, %cells, %none : (f64, f64, none) -> tensor<?x?xf64>
  %multiplied = tok.binary mul %line, %factor : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %rest = tok.binary mod %multiplied, %modulus : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %share = tok.binary div %rest, %modulus : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %number = tok.binary sub %share, %half : (tensor<?x?xf64>, f64) -> tensor<?x?xf64>
  %result = tok.cast %number : tensor<?x?xf64> -> tensor<?x?x$T>
  return %result : tensor<?x?x$T>
}
"""


def array_type(shape, element):
    return f"tensor<{'?x' * len(shape)}{element}>"


def program(name, element, repetitions):
    operator = OPERATORS[name]
    abbreviations, functions = documented()
    lines = []

    def constant(value, kind):
        lines.append(f"  %c{len(lines)} = tok.constant {value} : {kind}")
        return f"%c{len(lines) - 1}"
    operands, types = [], []
    for number, shape in enumerate(operator.shapes):
        cells = 1
        for size in shape:
            cells *= size
        values = [constant(float(value), "f64") for value in (cells, *FACTORS[number])]
        sizes = [constant(size, "i64") for size in shape]
        types.append(array_type(shape, element))
        lines.append(f"  %line{number} = tok.call @values({', '.join(values)}) : (f64, f64, f64) -> tensor<?x?x{element}>")
        lines.append(f"  %x{number} = tok.view %line{number} [{', '.join(sizes)}] : tensor<?x?x{element}> -> {types[-1]}")
        operands.append(f"%x{number}")
    scalars = [constant(operator.scalar, "f64")] if operator.scalar is not None else []
    zero, one, last = constant(0, "i64"), constant(1, "i64"), constant(repetitions, "i64")
    nothing, eighth, single = constant(0.0, "f64"), constant(0.125, "f64"), constant(1.0, "f64")
    arguments = ", ".join(["%scaled", *operands[1:], *scalars])
    signature = ", ".join(types + ["f64"] * len(scalars))
    result = functions[operator.function].split("-> ")[1].split(" {")[0]
    body = f"""
  %sum = tok.for %r = {zero} to {last} step {one} carrying (%before = {nothing}) : f64 {{
    %part = tok.binary mul %r, {eighth} : (i64, f64) -> f64
    %scale = tok.binary add %part, {single} : (f64, f64) -> f64
    %scaled = tok.binary mul {operands[0]}, %scale : ({types[0]}, f64) -> {types[0]}
    tok.barrier
    %start = tok.time : () -> i64
    tok.barrier
    %out = tok.call @{operator.function}({arguments}) : ({signature}) -> {result}
    tok.barrier
    %stop = tok.time : () -> i64
    %total = tok.aggregate sum full %out : {result} -> f64
    %counts = tok.binary gt %r, {zero} : (i64, i64) -> i1
    tok.if %counts {{
      %label = tok.constant "ns " : !tok.string
      %time = tok.binary sub %stop, %start : (i64, i64) -> i64
      %text = tok.concat %label, %time : !tok.string, i64
      tok.print %text : (!tok.string) -> ()
      tok.yield
    }} else {{
      tok.yield
    }}
    tok.yield %total : f64
  }}
  %label = tok.constant "result " : !tok.string
  %text = tok.concat %label, %sum : !tok.string, f64
  tok.print %text : (!tok.string) -> ()
  return
"""
    main = "func.func @main() {\n" + "\n".join(lines) + body + "}\n"
    fused = in_type(abbreviations + functions[operator.function], element)
    return fused + VALUES.replace("$T", element) + main


if __name__ == "__main__":
    print(program(sys.argv[1], sys.argv[2], int(sys.argv[3])))
