/// @file
/// The host code of a stage, as the function KG_LAW_HOST, and the table of a system, whose header
/// is included before this. It is compiled for both types of numbers.
#pragma once
#include <math.h>
#include <omp.h>

#include "device/loop.h"
#include "device/subnormal.h"
#include "ops/waves/stage_node.h"

enum { LANES = KG_WAVE_LANES };

/// f of all facets, of the lanes of a group. @param[out] flux  [field][facet][n_facet][lane]
static void facets_of_group(const kg_wave_args *a, int32_t group, kg_real *flux)
{
  const int columns = (KG_LAW_DIMENSION + 1) * a->n_facet;
  for (int k = 0; k < columns; ++k)
    for (int lane = 0; lane < LANES; ++lane) {
      kg_real f[KG_LAW_FIELDS];
      kg_wave_facet_node(a, group * LANES + lane, k / a->n_facet, k % a->n_facet, f);
      for (int i = 0; i < KG_LAW_FIELDS; ++i) flux[(i * columns + k) * LANES + lane] = f[i];
    }
}

/// Lanes of a register. Vectors that are wider go through memory after every operation.
#if defined(__AVX512F__)
enum { PACK_BYTES = 64 };
#elif defined(__AVX__)
enum { PACK_BYTES = 32 };
#else
enum { PACK_BYTES = 16 };
#endif
enum { PACK = PACK_BYTES / sizeof(kg_real) < LANES ? PACK_BYTES / sizeof(kg_real) : LANES };
typedef kg_real pack __attribute__((vector_size(PACK * sizeof(kg_real)), may_alias));

/// sum_j row_j x_j of all lanes, of every field.
/// @param[in] x  [field][n][lane]
static inline void times_row(int n, const kg_real *row, const kg_real *x, kg_real (*sum)[LANES])
{
  for (int lane = 0; lane < LANES; lane += PACK) {
    pack part[KG_LAW_FIELDS] = {{0}};
    for (int j = 0; j < n; ++j)
      for (int f = 0; f < KG_LAW_FIELDS; ++f)
        part[f] += row[j] * *(const pack *)(x + (f * n + j) * LANES + lane);
    for (int f = 0; f < KG_LAW_FIELDS; ++f) *(pack *)(sum[f] + lane) = part[f];
  }
}

/// @param[out] flux  scratch for f of all facets,
/// @param[out] u     and for the elements of the group side by side, [field][n][lane]
static void group_stage(const kg_wave_args *a, int32_t group, kg_real *flux, kg_real *u)
{
  const int n = a->n, columns = (KG_LAW_DIMENSION + 1) * a->n_facet, all = KG_LAW_FIELDS * n;
  const kg_real *const from = a->u + (int64_t)group * LANES * all;
  for (int k = 0; k < all; ++k)
    for (int lane = 0; lane < LANES; ++lane) u[k * LANES + lane] = from[lane * all + k];
  facets_of_group(a, group, flux);
  for (int i = 0; i < n; ++i) {
    _Alignas(64) kg_real slope[KG_LAW_DIMENSION][KG_LAW_FIELDS][LANES];
    _Alignas(64) kg_real lifted[KG_LAW_FIELDS][LANES];
    for (int d = 0; d < KG_LAW_DIMENSION; ++d)
      times_row(n, a->derivative + (d * n + i) * n, u, slope[d]);
    times_row(columns, a->lift + i * columns, flux, lifted);
    for (int lane = 0; lane < LANES; ++lane) {
      kg_real along[KG_LAW_DIMENSION][KG_LAW_FIELDS], jump[KG_LAW_FIELDS];
      for (int f = 0; f < KG_LAW_FIELDS; ++f) {
        jump[f] = lifted[f][lane];
        for (int d = 0; d < KG_LAW_DIMENSION; ++d) along[d][f] = slope[d][f][lane];
      }
      kg_wave_end_node(a, group * LANES + lane, i, (const kg_real(*)[KG_LAW_FIELDS])along, jump);
    }
  }
}

kedge_status KG_LAW_HOST(kedge_context *ctx, const kg_wave_args *a)
{
  const int columns = (KG_LAW_DIMENSION + 1) * a->n_facet;
  const size_t flux = (size_t)(KG_LAW_FIELDS * columns * LANES);
  const size_t all = flux + (size_t)(KG_LAW_FIELDS * a->n * LANES);
  const size_t bytes = kg_rounded(sizeof(kg_real) * all);
  char *scratch;
  KG_TRY(kg_loop_scratch(ctx, bytes, &scratch));
#pragma omp parallel num_threads(kg_loop_threads(ctx, a->n_groups, (int64_t)LANES * a->n * a->n))
  {
    kg_real *const own = (kg_real *)(void *)(scratch + bytes * (size_t)omp_get_thread_num());
    // Before a wave that enters where nothing is, numbers fall through all sizes.
    const uint64_t mode = kg_subnormals_begin();
#pragma omp for schedule(static) nowait
    for (int32_t group = 0; group < a->n_groups; ++group) group_stage(a, group, own, own + flux);
    kg_subnormals_end(mode);
  }
  return KEDGE_OK;
}

#ifndef KG_COMPILE_SINGLE
/// What the flux of a system makes of data where there is nothing inside.
static inline void law_answer(int kind, const double *number, const double *normal,
                              const double *data, double *flux)
{
  const double nothing[KG_LAW_FIELDS] = {0.0};
  double jump[KG_LAW_FIELDS];
  law_ghost(kind, normal, nothing, data, jump);
  law_flux(normal, number, number, jump, 1.0, flux);
}

static inline double law_enters(const double *number, const double *normal, const double *data)
{
  double flux[KG_LAW_FIELDS], power = 0.0;
  law_answer(KG_WAVE_ENTERS, number, normal, data, flux);
  for (int f = 0; f < KG_LAW_FIELDS; ++f) power += flux[f] * data[f];
  return power;
}

/// With 1 for all properties both halves of the flux, of E and H or p and v, are as large as it.
static inline double law_takes(int kind, const double *normal, const double *data)
{
  const double property[KG_WAVE_PROPERTIES_MAX] = {1.0, 1.0, 1.0};
  double number[KG_LAW_NUMBERS], flux[KG_LAW_FIELDS], size = 0.0;
  law_medium(property, number);
  law_answer(kind, number, normal, data, flux);
  for (int f = 0; f < KG_LAW_FIELDS; ++f) size += flux[f] * flux[f];
  return sqrt(0.5 * size);
}
#endif

/// The table.
/// @param operator  its stage
/// @param ...       the text of its header, in two parts
#define KG_LAW_TABLE(operator, ...)                                                          \
  {                                                                                          \
    KG_LAW, .text = {__VA_ARGS__}, .dimension = KG_LAW_DIMENSION, .n_fields = KG_LAW_FIELDS, \
            .n_numbers = KG_LAW_NUMBERS, .medium = law_medium, .speed = law_speed,           \
            .damping = law_damping, .weights = law_weights, .enters = law_enters,            \
            .takes = law_takes, .stage = operator                                            \
  }
