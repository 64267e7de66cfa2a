# libdpc.a: all of libdpc as one object, whose names are those of dpc.h and of dp_embed.h, where libraries of `dpc library`
# look for them; the compiler's and the runtime's own stay inside. What is linked with it: cmake/package.cmake.
#
#   cmake -DLINK="CC;FLAG..." -DOBJCOPY=objcopy -DAR=ar -DMAP=dpc.map -DHEADER=dp_embed.h -DARCHIVES="a.a;..."
#         -DOUTPUT=libdpc.a -P static.cmake
file(READ ${MAP} map)
file(READ ${HEADER} header)
string(REGEX MATCHALL "dpc_[a-z_]+;" exported "${map}")
string(REGEX MATCHALL "\ndpc_[a-z_]+\\(|[ *]dpc_[a-z_]+\\(" declared "${header}")
set(names "")
foreach(name IN LISTS exported declared)
  string(REGEX REPLACE "[^a-z_]" "" name "${name}")
  list(APPEND names ${name})
endforeach()
list(REMOVE_DUPLICATES names)
list(TRANSFORM names PREPEND "-Wl,-u," OUTPUT_VARIABLE wanted)
string(REPLACE ";" "\n" lines "${names}")
file(WRITE ${OUTPUT}.names "${lines}\n")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(status)
    message(FATAL_ERROR "${ARGV0} failed: ${status}")
  endif()
endfunction()
get_filename_component(folder ${OUTPUT} DIRECTORY)
run(${LINK} -r -nostdlib -o ${folder}/libdpc.o ${wanted} -Wl,--start-group ${ARCHIVES} -Wl,--end-group)
run(${OBJCOPY} --keep-global-symbols=${OUTPUT}.names --strip-debug ${folder}/libdpc.o)
file(REMOVE ${OUTPUT})
run(${AR} rcs ${OUTPUT} ${folder}/libdpc.o)
file(REMOVE ${folder}/libdpc.o ${OUTPUT}.names)
