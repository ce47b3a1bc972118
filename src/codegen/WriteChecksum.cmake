# Writes FILE.h with the checksum of FILE. Whoever embeds the file includes it: ccache, which doesn't look at what the assembler
# reads, knows by it that the file has changed.
#
#   cmake -DFILE=VectorMath.bc -P WriteChecksum.cmake
file(SHA256 ${FILE} checksum)
file(WRITE ${FILE}.h "// ${checksum}\n")
