# Writes a C file with the texts that kernels are made of, for the runtime library. Run as a script:
#   cmake -DOUTPUT=kernel_texts.c "-DFILES=path;path" -P kernel_texts.cmake
set(arrays "")
set(rows "")
set(count 0)
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(................................................................................)" "\\1\n  " bytes "${bytes}")
  string(APPEND arrays "static const char text_${count}[] = { /* ${name} */\n  ${bytes}0x00\n};\n\n")
  string(APPEND rows "  {\"${name}\", text_${count}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* Generated from runtime/kernels, dp_size.h and dp_scalar.h. */
#include <stddef.h>
#include <string.h>

const char *dp_kernel_text(const char *name);

${arrays}static const struct { const char *name, *text; } texts[] = {
${rows}  {NULL, NULL}, /* the end */
};

const char *dp_kernel_text(const char *name) {
  for (size_t i = 0; texts[i].name; i++)
    if (strcmp(texts[i].name, name) == 0) return texts[i].text;
  return NULL;
}
")
