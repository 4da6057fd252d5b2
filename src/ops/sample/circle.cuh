// circle.cuh: sine and cosine without the branches and tables that CUDA's have: the points of an
// unrolled loop then overlap. For the interpreter (evaluate_cuda.cu), and text for NVRTC, in front
// of evaluate(). Where a formula has both of an angle the circle is made once.
//
// An argument is a multiple of the quarter circle and a rest r of at most half of one. Adding
// 1.5 * 2^52 rounds to that multiple and leaves its last bits in the low word of the sum. With
// z = r^2, sin r = r + r z p(z) and cos r = 1 + z q(z), where p and q interpolate at Chebyshev's
// points. Right to two last places, of multiples of pi to one (tests/ops/test_sample_kernel.c).
//
// From 2^46 on, and of no number, the nearest multiple is not found: arguments leave the largest
// one's size in `angle`, and what was made with such a sine is not known() in the end. Whatever a
// formula does with the sine, a comparison, say, cannot hide that.
#pragma once

/// Coefficients, highest first. In constant memory they are operands of multiply-adds.
__constant__ double sine_of_pi_terms[] = {
    0.00046221110224187623, -0.0073701436435937495, 0.08214587730641625,   -0.5992645291845385,
    2.5501640398766154,     -5.167712780049969,     1.2246467991473532e-16};  // the rest of pi
__constant__ double cosine_of_pi_terms[] = {
    -0.00010370082971594627, 0.001929493874894941, -0.025806887964701878, 0.23533063028399223,
    -1.3352627688538095,     4.058712126416765,    -4.934802200544679,    1.0};
__constant__ double sine_terms[] = {1.5917988979397435e-10, -2.5051129896450185e-08,
                                    2.7557316093198404e-06, -0.00019841269836740532,
                                    0.008333333333330936,   -0.16666666666666666};
__constant__ double cosine_terms[] = {-1.138254464534925e-11,
                                      2.087614504941318e-09,
                                      -2.755731726587808e-07,
                                      2.48015872987544e-05,
                                      -0.0013888888888887389,
                                      0.041666666666666664,
                                      -0.5,
                                      1.0};
__constant__ double quarter_circle[] = {1.5707963267948966, 6.123233995736766e-17,
                                        -1.4973849048591698e-33};  // pi / 2 is their sum

template <int TERMS>
static __device__ __forceinline__ double polynomial(const double (&terms)[TERMS], double z)
{
  double sum = terms[0];
#pragma unroll
  for (int k = 1; k < TERMS; ++k) sum = fma(sum, z, terms[k]);
  return sum;
}

/// The first word of |a|, which is in the order of such numbers, with infinity and NaN behind them.
static __device__ __forceinline__ int size_of(double a)
{
  return __double2hiint(a) & 0x7fffffff;
}

/// Whether no `angle` was from 2^46 on.
static __device__ __forceinline__ bool is_known(int angle)
{
  return angle < (1023 + 46) << 20;
}

/// The value if no `angle` was from 2^46 on; else NaN, to be looked at again (equation/sampler.c).
static __device__ __forceinline__ double known(double value, int angle)
{
  return is_known(angle) ? value : __hiloint2double(0x7ff80000, 0);
}

/// -a, if bit 1 of a number is set; else a.
static __device__ __forceinline__ double with_sign(double a, int number)
{
  return __hiloint2double(__double2hiint(a) ^ (int)((number & 2u) << 30), __double2loint(a));
}

struct on_circle {
  double sine, cosine;
};

/// Sine and cosine of an angle, from those of its rest.
static __device__ __forceinline__ on_circle turn(int quarters, double sine_of_rest,
                                                 double cosine_of_rest)
{
  const double s = quarters & 1 ? cosine_of_rest : sine_of_rest;
  const double c = quarters & 1 ? sine_of_rest : cosine_of_rest;
  return {with_sign(s, quarters), with_sign(c, quarters + 1)};
}

/// sin(pi a) and cos(pi a).
static __device__ __forceinline__ on_circle circle_of_pi(double a, int *angle)
{
  *angle = max(*angle, size_of(a));
  const double shifted = fma(2.0, a, 6755399441055744.0);
  const double r = fma(-0.5, shifted - 6755399441055744.0, a), z = r * r;
  return turn(__double2loint(shifted),
              fma(r, 3.141592653589793, r * polynomial(sine_of_pi_terms, z)),
              polynomial(cosine_of_pi_terms, z));
}

/// sin a and cos a.
static __device__ __forceinline__ on_circle circle(double a, int *angle)
{
  *angle = max(*angle, size_of(a));
  const double shifted = fma(a, 0.6366197723675814, 6755399441055744.0);
  const double k = shifted - 6755399441055744.0;
  double r = a;
#pragma unroll
  for (int part = 0; part < 3; ++part) r = fma(-k, quarter_circle[part], r);
  const double z = r * r;
  return turn(__double2loint(shifted), fma(r * z, polynomial(sine_terms, z), r),
              polynomial(cosine_terms, z));
}
