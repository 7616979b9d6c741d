# Files as constants of a C source: cmake -DOUTPUT=x.c "-DASSETS=name=file;..." -P StrataEmbed.cmake
set(text "/* made from files by StrataEmbed.cmake */\n#include \"present/report_assets.h\"\n")
foreach(asset IN LISTS ASSETS)
  string(REPLACE "=" ";" pair ${asset})
  list(GET pair 0 name)
  list(GET pair 1 file)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND text "static const unsigned char bytes_${name}[] = {${bytes}};\n"
    "const struct report_asset report_asset_${name} = {bytes_${name}, sizeof(bytes_${name})};\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
