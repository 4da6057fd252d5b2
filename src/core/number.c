#include "core/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

static size_t digits(const char *text)
{
  size_t n = 0;
  while (text[n] >= '0' && text[n] <= '9') ++n;
  return n;
}

size_t kg_number_scan(const char *text)
{
  const size_t whole = digits(text);
  size_t n = whole, fraction = 0;
  if (text[n] == '.') fraction = digits(text + n + 1);
  if (whole + fraction == 0) return 0;
  if (text[n] == '.') n += 1 + fraction;
  if (text[n] == 'e' || text[n] == 'E') {
    const size_t sign = text[n + 1] == '+' || text[n + 1] == '-';
    const size_t exponent = digits(text + n + 1 + sign);
    if (exponent > 0) n += 1 + sign + exponent;
  }
  return n;
}

double kg_number_value(const char *text)
{
  // strtod would also take hexadecimal numbers, which the scan above ends after their 0.
  if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return 0.0;
  const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);  // a static object: cannot fail
  const double value = strtod_l(text, NULL, c);
  freelocale(c);
  return value;
}

void kg_number_print(char text[32], double value)
{
  const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(c);
  for (int digit = 15; digit <= 17; ++digit) {
    snprintf(text, 32, "%.*g", digit, value);
    if (strtod(text, NULL) == value) break;
  }
  uselocale(before);
  freelocale(c);
}

const char *kg_bytes_text(double bytes, char text[16])
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int u = 0;
  while (bytes >= 999.5 && u < 5) {
    bytes /= 1000;
    ++u;
  }
  const int decimals = u == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
  snprintf(text, 16, "%.*f %s", decimals, bytes, units[u]);
  return text;
}
