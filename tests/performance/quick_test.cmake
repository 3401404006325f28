# Runs `gemmc bench` on small products. It must end well, and each output must have its last part: it reached its end.
set(csv ${FOLDER}/bench_quick_test.csv)
set(report ${FOLDER}/bench_quick_test.md)
file(REMOVE ${csv} ${report})
execute_process(
  COMMAND ${GEMMC} bench ${SUITE} --quick --runtime --packed --dtype f32,f64,bf16,i32
    --python-prefix ${PYTHON_PREFIX} --csv ${csv} --report ${report}
  RESULT_VARIABLE status OUTPUT_VARIABLE table ECHO_OUTPUT_VARIABLE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "gemmc bench ended with ${status}")
endif()
if(NOT table MATCHES "\nf32 8x8x8 \\(square\\)" OR NOT table MATCHES "\ni32 64x10x128 \\(mlp\\)")
  message(FATAL_ERROR "the table lacks a product")
endif()
file(READ ${report} text)
if(NOT text MATCHES "The first request of a kernel.*\n. [a-z]+ . [0-9]+ .")
  message(FATAL_ERROR "the report has no row in its last section")
endif()
file(STRINGS ${csv} rows REGEX "^mlp,gemm i32 m=64 n=10 k=128,.*,gemmc,gemmc,0,")
if(NOT rows)
  message(FATAL_ERROR "the CSV file lacks a product")
endif()
