/// @file
/// Problems whose trace system is looked at, with solvers, and vectors of its unknowns.
#pragma once
#include "bench.h"

typedef enum domain { IRREGULAR, CURVED, SQUARES, CURVED_SQUARES, BOTH } domain;

typedef struct sample {
  domain domain;
  setting settings[12];
} sample;

enum { SAMPLES = 12 };
extern const sample samples[SAMPLES], compact;

bench bench_with(kedge_context *ctx, const sample *s);
/// In a context of its own.
bench bench_of(const sample *s);

/// Zeros.
double *vector(size_t n);
/// Numbers without a pattern, in [-1, 1).
double *noise(size_t n, uint32_t seed);
double *product(const bench *b, const double *x);
/// The unknowns of a solution.
double *unknowns_of(const bench *b, const kedge_solution *solution);
/// Data that differ from the problem's.
kedge_data other_data(void);
/// A call with arrays of the device, as kedge_solver_apply_device().
typedef kedge_status device_call(kedge_solver *solver, const double *x, double *y);
/// What a call makes of x, by arrays in memory of the context's device; of one array if in place.
double *through_device(const bench *b, device_call *call, const double *x, bool in_place);
