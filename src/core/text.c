#include "core/text.h"

#include <stdio.h>
#include <string.h>

int kg_utf8_length(const char *text)
{
  const unsigned char *const byte = (const unsigned char *)text, first = byte[0];
  if (first < 0x80) return 1;
  const int length = first >= 0xC2 && first <= 0xDF   ? 2
                     : (first & 0xF0) == 0xE0         ? 3
                     : first >= 0xF0 && first <= 0xF4 ? 4
                                                      : 0;
  for (int i = 1; i < length; ++i)
    if ((byte[i] & 0xC0) != 0x80) return 0;
  const unsigned char second = length > 2 ? byte[1] : 0;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || beyond ? 0 : length;
}

unsigned kg_utf8_number(const char *text, int length)
{
  const unsigned char *const byte = (const unsigned char *)text;
  if (length == 1) return byte[0];
  if (length == 2) return (byte[0] & 0x1Fu) << 6 | (byte[1] & 0x3Fu);
  if (length > 3) return 0x10000;
  return (byte[0] & 0x0Fu) << 12 | (byte[1] & 0x3Fu) << 6 | (byte[2] & 0x3Fu);
}

bool kg_utf8_steers(const char *text, int length)
{
  const unsigned c = kg_utf8_number(text, length);
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

/// Write a character or a byte as it is shown. Returns the bytes that were taken.
static int show(const char *text, char to[8])
{
  const int length = kg_utf8_length(text);
  const unsigned c = length ? kg_utf8_number(text, length) : (unsigned char)text[0];
  if (length > 0 && !kg_utf8_steers(text, length)) {
    memcpy(to, text, (size_t)length);
    to[length] = '\0';
  } else if (length > 0 && (c == '\n' || c == '\t')) {
    snprintf(to, 8, "\\%c", c == '\n' ? 'n' : 't');
  } else {
    snprintf(to, 8, length > 1 ? "\\u%04x" : "\\x%02x", c & 0xFFFF);
  }
  return length > 0 ? length : 1;
}

void kg_text_show(const char *text, char *out, size_t size)
{
  size_t n = 0;
  char next[8];
  if (size == 0) return;
  while (*text) {
    text += show(text, next);
    const size_t length = strlen(next);
    if (n + length >= size) break;
    memcpy(out + n, next, length);
    n += length;
  }
  out[n] = '\0';
}
