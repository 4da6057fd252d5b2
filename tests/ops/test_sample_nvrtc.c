// NVRTC, where the toolkit has brought it, takes the kernels that evaluate on the GPU.
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "case.h"
#include "compare.h"
#include "context.h"
#include "device/cuda_nvrtc.h"
#include "ops/sample/sample_kernel.h"
#include "problem/expression_text.h"

/// The machine code of the kernel for a set of texts; skips the test where there is no NVRTC.
static kedge_status compile_texts(kg_sample_kind kind, const char *const *texts, int capability)
{
  const int n = kind == KG_SAMPLE_LOADS ? 1 : 3;
  kg_sampling rule;
  kg_function functions[3];
  const kg_function *const pointers[] = {&functions[0], &functions[1], &functions[2]};
  must(ctx, kg_sampling_create(ctx, 3, kg_error_rows(3), &rule));
  for (int i = 0; i < n; ++i) {
    functions[i] = (kg_function){.kind = KG_FUNCTION_EXPRESSION};
    must(ctx, expression_parse(ctx, texts[i], NULL, 0, &functions[i].expression));
  }
  char *source;
  void *image;
  must(ctx, kg_sample_kernel_source(ctx, kind, kg_sampling_points(&rule), pointers, &source));
  const kedge_status status = kg_nvrtc_compile(ctx, source, capability, &image);
  if (status == KEDGE_OK) assert_memory_equal(image, "\177ELF", 4);
  if (status != KEDGE_OK) assert_null(image);
  free(image);
  free(source);
  for (int i = 0; i < n; ++i) kg_expression_free(functions[i].expression);
  kg_sampling_free(&rule);
  return status;
}

static void skip_without_nvrtc(kedge_status status)
{
  if (status != KEDGE_OK && strncmp(ctx->error, "NVRTC was not found", 19) == 0) skip();
  must(ctx, status);
}

static void nvrtc_compiles_every_operation(void **state)
{
  (void)state;
  const char *const texts[] = {
      "sin(x)+cos(x)-tan(x)*asin(x)/acos(x)+atan(x)+sinh(x)+cosh(x)+tanh(x)+exp(x)+log(x)+sqrt(x)",
      "abs(x)+atan2(y,x)+min(x,y)+max(x,y)+hypot(x,y)+x^y+x^3+x^-2+(-y)",
      "(x<y)+(x<=y)+(x>y)+(x>=y)+(x==y)+(x!=y)+(x?y:2.5)"};
  skip_without_nvrtc(compile_texts(KG_SAMPLE_ERRORS, texts, 90));
}

static void what_nvrtc_refuses_is_a_sentence(void **state)
{
  (void)state;
  const char *const texts[] = {"x"};
  skip_without_nvrtc(compile_texts(KG_SAMPLE_LOADS, texts, 90));
  assert_int_equal(compile_texts(KG_SAMPLE_LOADS, texts, 11), KEDGE_ERR_UNSUPPORTED);
  assert_non_null(strstr(ctx->error, "NVRTC refused the kernel: "));
  assert_non_null(strstr(ctx->error, "--gpu-architecture"));
  void *image;
  assert_int_equal(kg_nvrtc_compile(ctx, "int f() { return g; }", 90, &image), KEDGE_ERR_INTERNAL);
  assert_null(image);
  assert_non_null(strstr(ctx->error, "NVRTC refused the kernel: kedge.cu(1): error: "));
}

static void what_was_compiled_is_kept(void **state)
{
  (void)state;
  char source[64];
  const void *first, *again, *other;
  kedge_context *own;
  const kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  must(NULL, kedge_context_create(&options, &own));
  const char *const one = "extern \"C\" __global__ void one() {}";
  const kedge_status status = kg_nvrtc_image(own, one, 90, &first);
  if (status != KEDGE_OK) {
    const bool missing = strncmp(own->error, "NVRTC was not found", 19) == 0;
    kedge_context_destroy(own);
    assert_true(missing);
    skip();
  }
  must(own, kg_nvrtc_image(own, one, 90, &again));
  assert_ptr_equal(first, again);
  assert_int_equal(own->images->compiled, 1);
  must(own, kg_nvrtc_image(own, one, 80, &other));
  assert_ptr_not_equal(first, other);
  assert_int_equal(own->images->compiled, 2);
  // Others push out those that were not used for the longest time.
  for (int i = 0; i < KG_IMAGES_KEPT - 1; ++i) {
    snprintf(source, sizeof source, "extern \"C\" __global__ void of_%d() {}", i);
    must(own, kg_nvrtc_image(own, source, 90, &other));
    must(own, kg_nvrtc_image(own, one, 90, &again));
    assert_ptr_equal(first, again);
  }
  assert_int_equal(own->images->compiled, KG_IMAGES_KEPT + 1);
  assert_int_equal(own->images->n, KG_IMAGES_KEPT);
  must(own, kg_nvrtc_image(own, one, 80, &other));
  assert_int_equal(own->images->compiled, KG_IMAGES_KEPT + 2);
  assert_int_not_equal(kg_nvrtc_image(own, "int f() { return g; }", 90, &other), KEDGE_OK);
  assert_null(other);
  assert_int_equal(own->images->n, KG_IMAGES_KEPT);
  kedge_context_destroy(own);
}

static void a_missing_nvrtc_is_a_sentence(void **state)
{
  (void)state;
  const char *const texts[] = {"x"};
  setenv("KEDGE_NVRTC", "/nonexistent", 1);
  assert_int_equal(compile_texts(KG_SAMPLE_LOADS, texts, 90), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(ctx->error,
                      "NVRTC was not found (/nonexistent: cannot open shared object "
                      "file: No such file or directory)");
  setenv("KEDGE_NVRTC", "libm.so.6", 1);
  assert_int_equal(compile_texts(KG_SAMPLE_LOADS, texts, 90), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(ctx->error, "the NVRTC library has no function nvrtcGetErrorString");
  unsetenv("KEDGE_NVRTC");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nvrtc_compiles_every_operation),
      cmocka_unit_test(what_nvrtc_refuses_is_a_sentence),
      cmocka_unit_test(what_was_compiled_is_kept),
      cmocka_unit_test(a_missing_nvrtc_is_a_sentence),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
