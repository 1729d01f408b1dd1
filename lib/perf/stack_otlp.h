/* Fields of OpenTelemetry's profiles, and their JSON as messages. docs/formats/otlp.md */
#ifndef PGK_STACK_OTLP_H
#define PGK_STACK_OTLP_H

#include "json_in.h"
#include "proto_out.h"

/* Messages. */
enum pgk_otlp_message {
    PGK_OTLP_NONE, PGK_OTLP_DATA, PGK_OTLP_RESOURCE_PROFILE, PGK_OTLP_RESOURCE_INFO,
    PGK_OTLP_SCOPE_PROFILE, PGK_OTLP_TABLES, PGK_OTLP_PROFILE, PGK_OTLP_VALUE_TYPE,
    PGK_OTLP_SAMPLE, PGK_OTLP_MAPPING, PGK_OTLP_STACK, PGK_OTLP_LOCATION, PGK_OTLP_LINE,
    PGK_OTLP_FUNCTION, PGK_OTLP_ATTRIBUTE, PGK_OTLP_KEY_VALUE, PGK_OTLP_ANY,
    PGK_OTLP_MESSAGES,
};

/* PGK_OTLP_PROFILE_SAMPLES, ...: numbers of fields in the newest layout. */
enum pgk_otlp_number {
#define PGK_OTLP_FIELD(message, field, number, json, form, inner) \
    PGK_OTLP_##message##_##field = (number),
#include "otlp.def"
};

/* A profile that is written as JSON, as the message that it stands for, of the newest layout.
 * False when out of memory. */
bool pgk_otlp_message_of(struct pgk_proto *into, const struct pgk_json_value *json);

#endif
