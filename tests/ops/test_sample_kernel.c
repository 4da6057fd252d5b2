// The kernel that evaluates on the GPU: run by the host's compiler, thread after thread, its values
// are those of the host, to the bit; and NVRTC takes it, where the toolkit has brought it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "case.h"
#include "compiled.h"
#include "ops/sample_kernel.h"
#include "problem/expression_tree.h"
#ifdef KEDGE_WITH_CUDA
#include "backend/cuda_nvrtc.h"
#endif

static kedge_context *ctx;

static int open_context(void **state)
{
  (void)state;
  ctx = case_context(KEDGE_BACKEND_HOST, 3);
  return 0;
}

static int close_context(void **state)
{
  (void)state;
  kedge_context_destroy(ctx);
  return 0;
}

static kg_function function_of(const char *text)
{
  kg_function f = {.kind = KG_FUNCTION_EXPRESSION};
  case_must(ctx, kg_expression_parse(ctx, text, NULL, 0, &f.expression));
  return f;
}

static kg_sample_points points_of(const kg_sampling *rule)
{
  return (kg_sample_points){rule->n, rule->r, rule->s};
}

typedef void kernel_function(const double *vertices, const int *vertex, long long first_group,
                             double *values);

/// The kernel as C, on a chunk.
static int64_t run_kernel(const op_case *c, const kg_sample_set *set, int32_t first, int32_t count,
                          double *values)
{
  char *source;
  case_must(ctx,
            kg_sample_kernel_source(ctx, points_of(&c->sampling), set->n, set->functions, &source));
  void *const library = compiled(source);
  unsigned *const thread = dlsym(library, "threadIdx"), *const block = dlsym(library, "blockIdx");
  void *const symbol = dlsym(library, "sample"), *const first_bad = dlsym(library, "first_bad");
  kernel_function *kernel;
  memcpy(&kernel, &symbol, sizeof symbol);
  assert_true(thread && block && kernel && first_bad);
  for (*block = 0; *block < (unsigned)count; ++*block)
    for (*thread = 0; *thread < 32 * KG_SAMPLE_WARPS; ++*thread)
      kernel(c->layout.host.vertices, c->layout.host.vertex, first, values);
  int64_t bad;
  memcpy(&bad, first_bad, sizeof bad);
  dlclose(library);
  free(source);
  return bad;
}

static void values_are_those_of_the_host(void **state)
{
  (void)state;
  kg_function functions[] = {function_of("sin(3*x)*y^3-x/7+hypot(x,y)"),
                             function_of("x<y?x:exp(y)"),
                             {.kind = KG_FUNCTION_CONSTANT, .constant = 0.1}};
  const kg_function *const pointers[] = {&functions[0], &functions[1], &functions[2]};
  static const char *const names[] = {"a", "b", "c"};
  const int orders[] = {1, 4, KEDGE_ORDER_MAX};
  for (size_t k = 0; k < sizeof orders / sizeof *orders; ++k) {
    op_case c;
    case_create(&c, ctx, 129, orders[k], CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
    const kg_sample_set set = {(int)(1 + k), pointers, names};
    const int32_t first = (int32_t)k, count = c.layout.count.n_groups - first;
    const size_t n = (size_t)count * (size_t)set.n * (size_t)c.sampling.n * KG_LANES;
    double *expected = malloc(n * sizeof *expected), *values = malloc((n + 1) * sizeof *values);
    assert_true(expected && values);
    values[n] = -77;
    case_must(ctx, kg_sample(ctx, &c.sampling, c.mesh, first, count, &set, expected));
    assert_int_equal(run_kernel(&c, &set, first, count, values), -1);
    assert_memory_equal(values, expected, n * sizeof *values);
    assert_true(values[n] == -77);
    free(values);
    free(expected);
    case_destroy(&c);
  }
  kg_expression_free(functions[0].expression);
  kg_expression_free(functions[1].expression);
}

static void the_first_bad_value_is_found_and_refused_as_on_the_host(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 129, 2, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  // Infinite at one vertex alone, which is a node of its elements.
  const double *corner = c.layout.host.vertices + 2 * (size_t)c.layout.host.vertex[KG_LANES * 7];
  char text[200];
  snprintf(text, sizeof text, "1/((x-(%.17g))^2+(y-(%.17g))^2)", corner[0], corner[1]);
  kg_function fine = function_of("x"), bad = function_of(text);
  const kg_function *const functions[] = {&fine, &bad};
  static const char *const names[] = {"fine", "bad"};
  const kg_sample_set set = {2, functions, names};
  const int32_t count = c.layout.count.n_groups;
  const size_t n = (size_t)count * 2 * (size_t)c.sampling.n * KG_LANES;
  double *values = malloc(n * sizeof *values);
  assert_non_null(values);

  assert_int_equal(kg_sample(ctx, &c.sampling, c.mesh, 0, count, &set, values), KEDGE_ERR_INPUT);
  char expected[300], sentence[300];
  snprintf(expected, sizeof expected,
           "bad is inf at x = %.6g, y = %.6g, inside the mesh; change the expression so that it is "
           "finite everywhere",
           corner[0], corner[1]);
  assert_string_equal(kedge_context_error(ctx), expected);
  size_t smallest = 0;
  while (smallest < n && isfinite(values[smallest])) ++smallest;

  const int64_t index = run_kernel(&c, &set, 0, count, values);
  assert_int_equal(index, smallest);
  assert_int_equal(
      kg_sample_refuse(ctx, &c.sampling, c.mesh, 0, &set, (kg_bad_value){index, values[index]}),
      KEDGE_ERR_INPUT);
  snprintf(sentence, sizeof sentence, "%s", kedge_context_error(ctx));
  assert_string_equal(sentence, expected);
  free(values);
  kg_expression_free(fine.expression);
  kg_expression_free(bad.expression);
  case_destroy(&c);
}

static void of_many_bad_values_the_host_names_the_first(void **state)
{
  (void)state;
  op_case c;
  case_create(&c, ctx, 1000, 1, CASE_MIXED, (kg_material){1, 1, 1, KEDGE_SCALING_ONE});
  kg_function bad = function_of("sqrt(-1-x^2)");
  const kg_function *const functions[] = {&bad};
  static const char *const names[] = {"source"};
  const kg_sample_set set = {1, functions, names};
  const int32_t count = c.layout.count.n_groups;
  double *values = malloc((size_t)count * (size_t)c.sampling.n * KG_LANES * sizeof *values);
  assert_non_null(values);
  assert_int_equal(kg_sample_refuse(ctx, &c.sampling, c.mesh, 0, &set, (kg_bad_value){0, -NAN}),
                   KEDGE_ERR_INPUT);
  char expected[300];
  snprintf(expected, sizeof expected, "%s", kedge_context_error(ctx));
  assert_non_null(strstr(expected, "source is nan at x = "));
  for (int i = 0; i < 20; ++i) {
    assert_int_equal(kg_sample(ctx, &c.sampling, c.mesh, 0, count, &set, values), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(ctx), expected);
  }
  free(values);
  kg_expression_free(bad.expression);
  case_destroy(&c);
}

#ifdef KEDGE_WITH_CUDA
/// The machine code of the kernel for a set of texts; skips the test where there is no NVRTC.
static kedge_status compile_texts(int n, const char *const *texts, int capability)
{
  kg_sampling rule;
  kg_function functions[3];
  const kg_function *const pointers[] = {&functions[0], &functions[1], &functions[2]};
  case_must(ctx, kg_sampling_create(ctx, 3, &rule));
  for (int i = 0; i < n; ++i) functions[i] = function_of(texts[i]);
  char *source;
  void *image;
  case_must(ctx, kg_sample_kernel_source(ctx, points_of(&rule), n, pointers, &source));
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
  case_must(ctx, status);
}

static void nvrtc_compiles_every_operation(void **state)
{
  (void)state;
  const char *const texts[] = {
      "sin(x)+cos(x)-tan(x)*asin(x)/acos(x)+atan(x)+sinh(x)+cosh(x)+tanh(x)+exp(x)+log(x)+sqrt(x)",
      "abs(x)+atan2(y,x)+min(x,y)+max(x,y)+hypot(x,y)+x^y+x^3+x^-2+(-y)",
      "(x<y)+(x<=y)+(x>y)+(x>=y)+(x==y)+(x!=y)+(x?y:2.5)"};
  skip_without_nvrtc(compile_texts(3, texts, 90));
}

static void what_nvrtc_refuses_is_a_sentence(void **state)
{
  (void)state;
  const char *const texts[] = {"x"};
  skip_without_nvrtc(compile_texts(1, texts, 90));
  assert_int_equal(compile_texts(1, texts, 11), KEDGE_ERR_UNSUPPORTED);
  assert_non_null(strstr(ctx->error, "NVRTC refused the kernel: "));
  assert_non_null(strstr(ctx->error, "--gpu-architecture"));
  void *image;
  assert_int_equal(kg_nvrtc_compile(ctx, "int f() { return g; }", 90, &image), KEDGE_ERR_INTERNAL);
  assert_null(image);
  assert_non_null(strstr(ctx->error, "NVRTC refused the kernel: kedge.cu(1): error: "));
}

static void a_missing_nvrtc_is_a_sentence(void **state)
{
  (void)state;
  const char *const texts[] = {"x"};
  setenv("KEDGE_NVRTC", "/nonexistent", 1);
  assert_int_equal(compile_texts(1, texts, 90), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(ctx->error,
                      "NVRTC was not found (/nonexistent: cannot open shared object "
                      "file: No such file or directory)");
  setenv("KEDGE_NVRTC", "libm.so.6", 1);
  assert_int_equal(compile_texts(1, texts, 90), KEDGE_ERR_UNSUPPORTED);
  assert_string_equal(ctx->error, "the NVRTC library has no function nvrtcGetErrorString");
  unsetenv("KEDGE_NVRTC");
}
#endif

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_those_of_the_host),
      cmocka_unit_test(the_first_bad_value_is_found_and_refused_as_on_the_host),
      cmocka_unit_test(of_many_bad_values_the_host_names_the_first),
#ifdef KEDGE_WITH_CUDA
      cmocka_unit_test(nvrtc_compiles_every_operation),
      cmocka_unit_test(what_nvrtc_refuses_is_a_sentence),
      cmocka_unit_test(a_missing_nvrtc_is_a_sentence),
#endif
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
