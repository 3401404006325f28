# Every foreign package, found in one place. tools/setup installs them; versions are in tools/dependencies/.
# The PyPI packages (Halide, the onnx .proto) live in the project's virtual environment.
set(GEMMC_PYTHON "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "Python that has the PyPI packages")
if(NOT EXISTS "${GEMMC_PYTHON}")
  message(FATAL_ERROR "No Python at ${GEMMC_PYTHON}: run tools/setup, or set GEMMC_PYTHON")
endif()
execute_process(
  COMMAND "${GEMMC_PYTHON}" -c "import sysconfig; print(sysconfig.get_path('platlib'))"
  OUTPUT_VARIABLE GEMMC_SITE_PACKAGES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)

find_package(Halide 21.0 CONFIG REQUIRED PATHS "${GEMMC_SITE_PACKAGES}/halide/lib64/cmake" NO_DEFAULT_PATH)
# LLVM's version file accepts only an exact major.minor.
find_package(LLVM 22.1 CONFIG REQUIRED PATHS /usr/lib/llvm-22)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt REQUIRED)
find_package(Threads REQUIRED)
find_package(TBB REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
find_file(ONNX_PROTO onnx.proto PATHS "${GEMMC_SITE_PACKAGES}/onnx" NO_DEFAULT_PATH REQUIRED)
if(GEMMC_TESTS)
  find_package(GTest REQUIRED)
endif()
