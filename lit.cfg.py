# The IR tests: .mlir and .dml files with RUN lines, beside the code they test and in test/. `./dev test ir` runs them.
import os
import lit.formats

config.name = "tokamak"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".dml"]
config.excludes = ["build", "examples", "bench", "scripts", "golden", "counts", "lib"]
config.test_source_root = os.path.dirname(__file__)
build = os.path.join(config.test_source_root, "build", os.environ.get("TOKAMAK_PRESET", "release"))
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), "/usr/lib/llvm-19/bin", os.environ.get("PATH", "")])
config.substitutions.append(("%machine", "--machine-model=" + os.path.join(config.test_source_root, "test/machine-model.json")))
config.environment["HOME"] = config.test_exec_root
config.environment["TOKAMAK_CACHE"] = "off"  # test what this build compiles
