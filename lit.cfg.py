# IR tests: .mlir files with RUN lines, beside the code they test (src/**/test) and, across folders, in test/.
import pathlib

import lit.formats

root = pathlib.Path(__file__).parent
config.name = "tokamak"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".dml"]
config.test_source_root = str(root)
config.test_exec_root = str(root / "build/release/lit")
tools = [str(root / "build/release/bin"), "/usr/lib/llvm-19/bin"]
config.environment["PATH"] = ":".join(tools + [config.environment["PATH"]])
