# Writes a C file with a table of text files. Run as a script:
#   cmake -DOUTPUT=embedded.c "-DENTRIES=name=path;name=path" -P embed.cmake
set(arrays "")
set(rows "")
set(count 0)
foreach(entry IN LISTS ENTRIES)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" bytes HEX)
  string(LENGTH "${bytes}" digits)
  math(EXPR length "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "((0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,)(0x..,))" "\\1\n  " bytes "${bytes}")
  string(APPEND arrays "static const unsigned char text_${count}[] = { /* ${name} */\n  ${bytes}0x00\n};\n\n")
  string(APPEND rows "  {\"${name}\", (const char *)text_${count}, ${length}},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}" "/* Generated from the files named below. */
#include \"support/embedded.h\"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

${arrays}const EmbeddedFile embedded_files[] = {
${rows}  {NULL, NULL, 0}, /* the end */
};

const EmbeddedFile *embedded_find(const char *name) {
  for (const EmbeddedFile *f = embedded_files; f->name; f++)
    if (strcmp(f->name, name) == 0) return f;
  return NULL;
}

const char *embedded_module(const EmbeddedFile *file) {
  static const char folder[] = \"stdlib/\";
  bool is_module = strncmp(file->name, folder, sizeof folder - 1) == 0 && strcmp(file->name, \"stdlib/prelude.dp\") != 0;
  return is_module ? file->name + sizeof folder - 1 : NULL;
}
")
