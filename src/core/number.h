/// @file
/// Numbers as text, with a decimal point whatever the locale says, but for bytes.
#pragma once
#include <stddef.h>

/// Bytes of the decimal number (digits, point, exponent; no sign) at the start of text; 0: none.
size_t kg_number_scan(const char *text);
/// Convert the scanned number; infinite when out of range.
double kg_number_value(const char *text);
/// Write the shortest decimal text that reads back as the same number; value is finite.
void kg_number_print(char text[32], double value);
/// "1.25 GB" into `text`, which is returned; with the point of the locale, as printf() has it.
const char *kg_bytes_text(double bytes, char text[16]);
