/*
 * deflate.c - zlib in one call each way. The plain size is known from the row beside the
 * stream, so a small stream cannot unfold to more than it says.
 */
#include "record/deflate.h"

#include <errno.h>
#include <zlib.h>

int deflate_append(
    struct buffer *buffer, const void *data, size_t bytes, enum deflate_level level)
{
    uLongf packed_bytes = compressBound(bytes);
    char *place = buffer_reserve(buffer, packed_bytes);

    if (place == NULL ||
        compress2((Bytef *)place, &packed_bytes, data, bytes, (int)level) != Z_OK) {
        return -ENOMEM;
    }
    buffer_commit(buffer, packed_bytes);
    return 0;
}

int inflate_append(
    struct buffer *buffer, const void *data, size_t bytes, size_t plain_bytes)
{
    uLongf filled_bytes = plain_bytes;
    char *place = buffer_reserve(buffer, plain_bytes);

    if (place == NULL) {
        return -ENOMEM;
    }
    int rc = uncompress((Bytef *)place, &filled_bytes, data, bytes);
    if (rc == Z_MEM_ERROR) {
        return -ENOMEM;
    }
    if (rc != Z_OK || filled_bytes != plain_bytes) {
        return -EINVAL;
    }
    buffer_commit(buffer, filled_bytes);
    return 0;
}
