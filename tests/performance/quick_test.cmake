# Runs the benchmark on small products. It must end well, and its last section must have a row: it reached its end.
execute_process(
  COMMAND ${BENCHMARK} --quick --suite ${SUITE} --python-prefix ${PYTHON_PREFIX} --modules ${MODULES}
  RESULT_VARIABLE status OUTPUT_VARIABLE report ECHO_OUTPUT_VARIABLE)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the benchmark ended with ${status}")
endif()
if(NOT report MATCHES "The first request of a kernel.*\n. general . [0-9]+ .")
  message(FATAL_ERROR "the report has no row in its last section")
endif()
