/* Messages of protocol buffers, written. Failures stick: `full` is looked at once, at the end. */
#ifndef PGK_PROTO_OUT_H
#define PGK_PROTO_OUT_H

#include "vec.h"

#include <stdbool.h>
#include <stdint.h>

struct pgk_proto {
    PGK_VEC(uint8_t) bytes;
    bool full; /* out of memory */
};

void pgk_proto_varint(struct pgk_proto *m, uint64_t v);
/* A field with the default value 0 is left out, as proto3 does. */
void pgk_proto_number(struct pgk_proto *m, unsigned field, uint64_t v);
void pgk_proto_bytes(struct pgk_proto *m, unsigned field, const void *bytes, size_t n);
/* Appends `inner` as a field and empties it. */
void pgk_proto_message(struct pgk_proto *m, unsigned field, struct pgk_proto *inner);

/* Field numbers of profile.proto of pprof
 * (https://github.com/google/pprof/blob/main/proto/profile.proto). */
enum {
    PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_MAPPING = 3, PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5, PROFILE_STRING_TABLE = 6, PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3,
    LABEL_KEY = 1, LABEL_STR = 2, LABEL_NUM = 3, LABEL_NUM_UNIT = 4,
    MAPPING_ID = 1, MAPPING_BUILD_ID = 6,
    LOCATION_ID = 1, LOCATION_MAPPING_ID = 2, LOCATION_ADDRESS = 3, LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1, LINE_LINE = 2, LINE_COLUMN = 3,
    FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILENAME = 4,
    FUNCTION_START_LINE = 5,
};

#endif
