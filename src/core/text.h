/// @file
/// Text of files and callers in sentences and tables that a terminal may show.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Bytes of the UTF-8 sequence that begins at `text`, 0 where it is none (overlong forms,
/// surrogates and numbers above U+10FFFF are none).
int kg_utf8_length(const char *text);

/// The number of a character of at most three bytes; of four: 0x10000, as none of them steers.
unsigned kg_utf8_number(const char *text, int length);

/// Whether a sequence steers terminals in place of being shown: C0, DEL, C1, ends of lines and
/// paragraphs, and what changes the direction of writing.
/// @param[in] length  of kg_utf8_length(), not 0
bool kg_utf8_steers(const char *text, int length);

/// Copy text as it can be shown: UTF-8 stays; what steers terminals becomes \n, \t, \xNN or
/// \uNNNN, and a byte that is no UTF-8 \xNN. Text that was copied so is copied as it is. What does
/// not fit is left out, whole characters and escapes at a time.
/// @param[out] out  [size]
void kg_text_show(const char *text, char *out, size_t size);
