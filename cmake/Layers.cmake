# gemmc_layer(NAME SOURCES ... LINKS ... PRIVATE_LINKS ...): one static library per folder (two for compiler/), alias
# gemmc::NAME.
# Includes are written from the repository's root ("core/problem.h"); tests/unit/repository/layers_test.cc checks the arrows.
function(gemmc_layer NAME)
  cmake_parse_arguments(LAYER "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(gemmc_${NAME} STATIC ${LAYER_SOURCES})
  add_library(gemmc::${NAME} ALIAS gemmc_${NAME})
  target_include_directories(gemmc_${NAME} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(gemmc_${NAME} PRIVATE -Wall -Wextra -Wno-missing-field-initializers)
  target_link_libraries(gemmc_${NAME} PUBLIC ${LAYER_LINKS} PRIVATE ${LAYER_PRIVATE_LINKS})
endfunction()
