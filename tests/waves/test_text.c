// The text of a stage for NVRTC.
#include <string.h>

#include "comma_locale.h"
#include "context.h"
#include "ops/waves/laws.h"
#include "ops/waves/stage_kernel.h"

static char *text_of(const kg_nodal *nodal)
{
  const kg_wave_tiling tiling = kg_wave_tiling_of(&kg_law_maxwell, nodal, KG_DOUBLE);
  char *text;
  must(ctx, kg_wave_kernel_source(ctx, &kg_law_maxwell, nodal, KG_DOUBLE, &tiling, &text));
  return text;
}

static void the_locale_has_no_say_in_a_kernel(void **state)
{
  kg_nodal nodal;
  (void)state;
  must(ctx, kg_nodal_create(ctx, &kg_tetrahedron, 2, &nodal));
  char *const expected = text_of(&nodal);
  const bool set = comma_locale() != NULL;
  char *const text = text_of(&nodal);
  setlocale(LC_NUMERIC, "C");
  const bool same = strcmp(text, expected) == 0;
  free(text);
  free(expected);
  kg_nodal_free(&nodal);
  if (!set) skip();  // neither installed nor to be made
  assert_true(same);
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_locale_has_no_say_in_a_kernel)};
  return cmocka_run_group_tests(tests, open_context, close_context);
}
