// Fused stages as NVRTC compiles them, which needs no GPU.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "device/cuda_nvrtc.h"
#include "ops/waves/laws.h"
#include "ops/waves/stage_kernel.h"

static kg_nodal nodal_of(const kg_law *law, int order)
{
  kg_nodal nodal;
  const kg_cell *const cell = law->dimension == 3 ? &kg_tetrahedron : &kg_triangle;
  assert_int_equal(kg_nodal_create(ctx, cell, order, &nodal), KEDGE_OK);
  return nodal;
}

/// @return false where there is no NVRTC
static bool compiles_so(const kg_law *law, int order, kg_number number, int capability,
                        const kg_wave_tiling *given)
{
  kg_nodal nodal = nodal_of(law, order);
  const kg_wave_tiling tiling = given ? *given : kg_wave_tiling_of(law, &nodal, number);
  char *source;
  void *image;
  assert_int_equal(kg_wave_kernel_source(ctx, law, &nodal, number, &tiling, &source), KEDGE_OK);
  const kedge_status status = kg_nvrtc_compile(ctx, source, capability, &image);
  kg_nodal_free(&nodal);
  free(source);
  free(image);
  if (status == KEDGE_ERR_UNSUPPORTED) return false;
  if (status != KEDGE_OK)
    fail_msg("%s of order %d: %s", law->name, order, kedge_context_error(ctx));
  return true;
}

static bool compiles(const kg_law *law, int order, kg_number number, int capability)
{
  return compiles_so(law, order, number, capability, NULL);
}

/// For measurements.
static void kernels_without_what_makes_them_fast_compile(void **state)
{
  (void)state;
  kg_nodal nodal = nodal_of(&kg_law_maxwell, 2);
  for (int k = 0; k < 5; ++k) {
    kg_wave_tiling t = kg_wave_tiling_of(&kg_law_maxwell, &nodal, KG_SINGLE);
    if (k == 0) t.elements = 16;
    if (k == 1) t.straight = false;
    if (k == 2) t.holds = false;
    if (k == 3) t.splits = false;
    if (k == 4) t.copies_ahead = false;
    kg_wave_tiling_fit(&kg_law_maxwell, &nodal, KG_SINGLE, &t);
    const bool done = compiles_so(&kg_law_maxwell, 2, KG_SINGLE, 90, &t);
    if (!done) kg_nodal_free(&nodal);
    if (!done) skip();
  }
  kg_nodal_free(&nodal);
}

static void every_system_compiles(void **state)
{
  (void)state;
  for (int i = 0; kg_laws[i]; ++i)
    if (!compiles(kg_laws[i], 3, i % 2 ? KG_SINGLE : KG_DOUBLE, 90)) skip();
}

static void orders_with_tables_in_memory_compile(void **state)
{
  (void)state;
  if (!compiles(&kg_law_maxwell, 7, KG_SINGLE, 90)) skip();
  if (!compiles(&kg_law_maxwell_tm, 9, KG_DOUBLE, 90)) skip();
}

static void older_gpus_take_it_too(void **state)
{
  (void)state;
  if (!compiles(&kg_law_maxwell, 1, KG_SINGLE, 80)) skip();
  if (!compiles(&kg_law_maxwell, 1, KG_SINGLE, 75)) skip();
}

/// A block has whole warps, whole groups of the tables, and no more memory than there is.
static void blocks_fit_a_multiprocessor(void **state)
{
  (void)state;
  for (int i = 0; kg_laws[i]; ++i)
    for (int order = 1; order <= KG_NODAL_ORDER_MAX; ++order)
      for (int number = 0; number < KG_NUMBERS; ++number) {
        kg_nodal nodal = nodal_of(kg_laws[i], order);
        const kg_wave_tiling t = kg_wave_tiling_of(kg_laws[i], &nodal, (kg_number)number);
        assert_int_equal(t.threads % 32, 0);
        assert_in_range(t.threads, 32, 1024);
        assert_int_equal(t.elements % KG_WAVE_LANES, 0);
        assert_int_equal(KG_WAVE_BLOCK % t.elements, 0);
        assert_true(t.shared <= 227 << 10);
        assert_in_range(t.blocks, 1, 32);
        kg_nodal_free(&nodal);
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_system_compiles),
      cmocka_unit_test(orders_with_tables_in_memory_compile),
      cmocka_unit_test(kernels_without_what_makes_them_fast_compile),
      cmocka_unit_test(older_gpus_take_it_too),
      cmocka_unit_test(blocks_fit_a_multiprocessor),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
