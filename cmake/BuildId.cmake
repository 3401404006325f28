# cmake -DOUTPUT=header -DSOURCES=list -P BuildId.cmake: a header with a hash of gemmc's own code-generating sources, so
# that kernels of an older compiler are never taken for this one's. Rewritten only when the hash changes.
set(hashes "")
foreach(source IN LISTS SOURCES)
  file(SHA256 "${source}" hash)
  string(APPEND hashes "${hash}")
endforeach()
string(SHA256 id "${hashes}")
string(SUBSTRING "${id}" 0 16 id)
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define GEMMC_BUILD_ID \"${id}\"\n")
