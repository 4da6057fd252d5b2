#include "march/times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double kg_time_round(double t)
{
  char text[32];
  snprintf(text, sizeof text, "%.15g", t);
  const double rounded = strtod(text, NULL);
  const double unit = fabs(t) - nextafter(fabs(t), 0.0);
  return fabs(rounded - t) <= 2.0 * unit ? rounded : t;
}
