#include "cell_problems.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

void waves(double x, double y, double *f)
{
  const double sx = sin(2 * pi * x), cx = cos(2 * pi * x), sy = sin(2 * pi * y);
  const double cy = cos(2 * pi * y), square = 4 * pi * pi;
  const double values[] = {sx * sy,           2 * pi * cx * sy, 2 * pi * sx * cy,
                           -square * sx * sy, square * cx * cy, -square * sx * sy};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

void waves_and_saddle(double x, double y, double *f)
{
  waves(x, y, f);
  f[0] += x * y;
  f[1] += y;
  f[2] += x;
  f[4] += 1.0;
}

/// sin(3x + y) cos(2y)
void oblique(double x, double y, double *f)
{
  const double s = sin(3 * x + y), c = cos(3 * x + y), s2 = sin(2 * y), c2 = cos(2 * y);
  const double values[] = {s * c2,
                           3 * c * c2,
                           c * c2 - 2 * s * s2,
                           -9 * s * c2,
                           -3 * s * c2 - 6 * c * s2,
                           -5 * s * c2 - 4 * c * s2};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

/// sin(2x + y) e^y
void growing(double x, double y, double *f)
{
  const double s = sin(2 * x + y) * exp(y), c = cos(2 * x + y) * exp(y);
  const double values[] = {s, 2 * c, c + s, -4 * s, -2 * s + 2 * c, 2 * c};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

void linear(double x, double y, double *f)
{
  const double values[] = {0.3 + 2 * x - 3 * y, 2, -3, 0, 0, 0};
  for (int k = 0; k < 6; ++k) f[k] = values[k];
}

static void set_coefficients(const double values[8], double *f)
{
  for (int k = 0; k < 8; ++k) f[k] = values[k];
}

void ones(double x, double y, double *f)
{
  (void)x;
  (void)y;
  set_coefficients((const double[8]){1, 0, 1, 1}, f);
}

void skew(double x, double y, double *f)
{
  (void)x;
  (void)y;
  set_coefficients((const double[8]){2, 0.5, 1}, f);
}

void laplace(double x, double y, double *f)
{
  (void)x;
  (void)y;
  set_coefficients((const double[8]){1, 0, 1}, f);
}

void scalar(double x, double y, double *f)
{
  const double k = 1 + 0.5 * sin(3 * x + 2 * y), slope = cos(3 * x + 2 * y);
  set_coefficients((const double[8]){k, 0, k, 1 + x, 1.5 * slope, 0, 0, slope}, f);
}

void tensor(double x, double y, double *f)
{
  const double s = sin(x * y);
  const double values[8] = {2 + sin(3 * x), 0.7 * cos(x * y), 1.5 + y * y,  1 + x,
                            3 * cos(3 * x), -0.7 * y * s,     -0.7 * x * s, 2 * y};
  set_coefficients(values, f);
}

void tensor_alone(double x, double y, double *f)
{
  tensor(x, y, f);
  f[3] = 0.0;
}

/// 0.01 and 1 along axes turned by 30 degrees.
void turned(double x, double y, double *f)
{
  (void)x;
  (void)y;
  const double c = sqrt(0.75), s = 0.5, e = 0.01;
  set_coefficients((const double[8]){c * c + e * s * s, (1 - e) * c * s, s * s + e * c * c}, f);
}

void regular(int i, int j, int n, double at[2])
{
  at[0] = (double)i / n;
  at[1] = (double)j / n;
}

void trapezoids(int i, int j, int n, double at[2])
{
  regular(i, j, n, at);
  if (j % 2 == 1) at[1] += (i % 2 == 0 ? -0.25 : 0.25) / n;
}

void wave(double x, double y, double *f)
{
  const double w = 0.1 * sin(2 * pi * x) * sin(2 * pi * y);
  f[0] = x + w;
  f[1] = y + w;
}

void ring(double x, double y, double *f)
{
  f[0] = (1 + x) * cos(0.5 * pi * y);
  f[1] = (1 + x) * sin(0.5 * pi * y);
}
