/// @file
/// A cursor over a mesh file in memory: words and numbers of text, fixed-size numbers of binary
/// data. Every failure is one sentence with the file and the line (text) or byte (binary).
#pragma once
#include <locale.h>
#include "core/error.h"

typedef struct kg_scan {
  kedge_context *ctx;
  const char *name;              ///< of the file
  const char *start, *at, *end;  ///< nothing at or after `end` is read
  int64_t line;                  ///< from 1; kept up in text files only
  bool binary;
  locale_t c_locale;  ///< numbers have decimal points whatever the program's locale
} kg_scan;

kedge_status kg_scan_open(kedge_context *ctx, const char *name, const void *data, size_t bytes,
                          kg_scan *out);
void kg_scan_close(kg_scan *s);

/// Record a failure at the cursor.
void kg_scan_fail(const kg_scan *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Fails with a sentence, as an expression of the value KEDGE_ERR_INPUT: the compiler sees a
/// failure.
#define KG_SCAN_FAIL(s, ...) (kg_scan_fail((s), __VA_ARGS__), KEDGE_ERR_INPUT)

/// Text, also inside binary files: the next word of this line as a number.
kedge_status kg_text_int(kg_scan *s, int64_t *out);
kedge_status kg_text_double(kg_scan *s, double *out);
/// The rest of the line, without blanks at its ends; moves to the next line.
void kg_text_rest(kg_scan *s, const char **text, size_t *length);
/// The line must end here; moves to the next one (in text files: that is not blank).
kedge_status kg_text_line_end(kg_scan *s);
void kg_text_skip_blank(kg_scan *s);  ///< blanks and line ends

/// Text or binary, as the file is: 4-byte integers, 8-byte counts and tags, doubles.
kedge_status kg_scan_int32(kg_scan *s, int32_t *out);
kedge_status kg_scan_int64(kg_scan *s, int64_t *out);
kedge_status kg_scan_double(kg_scan *s, double *out);
kedge_status kg_scan_skip(kg_scan *s, int64_t count, size_t binary_size);  ///< that many numbers
kedge_status kg_scan_record_end(kg_scan *s);  ///< line end in text files, nothing in binary ones

/// Binary data: the next bytes in place.
kedge_status kg_scan_bytes(kg_scan *s, size_t bytes, const char **out);

/// A count of things that take at least `least` bytes each must fit into what is left of the file.
kedge_status kg_scan_plausible(const kg_scan *s, int64_t count, size_t least, const char *things);
