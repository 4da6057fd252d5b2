/// @file
/// Writing JSON to a stream, member by member.
///
/// A writer never fails: the caller checks the stream (ferror, fclose) when all is written. Strings
/// are escaped; bytes that are not UTF-8 become U+FFFD. Numbers are the shortest text that reads
/// back to the same double; NaN and infinities, which JSON has not, become null.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define KG_JSON_DEPTH 16

/// Zero-initialise but for the stream.
typedef struct kg_json {
  FILE *stream;
  int depth;
  char closing[KG_JSON_DEPTH];  ///< [level]: '}' or ']'
  bool has_members[KG_JSON_DEPTH];
} kg_json;

// `key` is NULL inside an array and at the top.
void kg_json_object(kg_json *json, const char *key);  ///< opens; kg_json_close() closes
void kg_json_array(kg_json *json, const char *key);   ///< opens; kg_json_close() closes
void kg_json_close(kg_json *json);                    ///< the top level also ends the line
void kg_json_string(kg_json *json, const char *key, const char *value);  ///< NULL writes null
void kg_json_integer(kg_json *json, const char *key, int64_t value);
void kg_json_number(kg_json *json, const char *key, double value);
void kg_json_bool(kg_json *json, const char *key, bool value);
