// evaluation: what it costs to evaluate formulas on the host, to interpret them on the GPU and to
// compile them for it. The choice in equation/evaluation.c rests on these figures.
//
//   evaluation [--no-compile]    # compiling the longest takes a minute
//
// One JSON line a formula: operations of the register code; nanoseconds an operation and point of
// one thread of the host; picoseconds of the GPU's interpreter (null without a GPU, and for what is
// too long); seconds from finding NVRTC to machine code (null where there is none).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "core/clock.h"
#include "ops/sample/evaluate.h"
#include "ops/sample/sample_kernel.h"
#include "expression/expression_tree.h"
#include "expression/function.h"
#include "equation/sampling.h"
#ifdef KEDGE_WITH_CUDA
#include "device/cuda_nvrtc.h"
#endif

enum { POINTS = 1 << 19, BLOCK = 4096, SAMPLES = 5, ORDER = 4, CAPABILITY = 90 };

static void must(kedge_status status)
{
  if (status == KEDGE_OK) return;
  fprintf(stderr, "evaluation: %s\n", kedge_context_error(NULL));
  exit(1);
}

static double host_seconds(const kg_function *f, const double *x, const double *y, double *value)
{
  double best = INFINITY;
  for (int sample = 0; sample < SAMPLES; ++sample) {
    const double began = kg_seconds();
    for (size_t i = 0; i < POINTS; i += BLOCK)
      kg_function_evaluate(f, &(kedge_points){.n = BLOCK, .x = x + i, .y = y + i}, value + i);
    best = fmin(best, kg_seconds() - began);
  }
  return best;
}

static bench gpu;  ///< without a context: there is none
static bool compiles = true;

#ifdef KEDGE_WITH_CUDA
static kedge_status call_evaluate(void *code)
{
  return kg_evaluate(gpu.p.ctx,
                     &(kg_evaluate_args){.batch = gpu.p.space.batch,
                                         .points = kg_rules_points(&gpu.p.rules, KG_SAMPLE_LOADS),
                                         .n_groups = gpu.p.shape.choice.recover_groups,
                                         .code = code,
                                         .values = gpu.p.arrays.source.values});
}
#endif

/// A point by the interpreter.
static double interpret_seconds(const kg_function *f)
{
  double seconds = NAN;
#ifdef KEDGE_WITH_CUDA
  kg_program program;
  kg_point_code code;
  if (gpu.p.ctx == NULL) return NAN;
  must(kg_functions_compile(NULL, 1, &f, &program));
  const kedge_status status = kg_point_code_of(NULL, &program, kg_evaluate_rows(gpu.p.ctx), &code);
  kg_program_free(&program);
  if (status != KEDGE_OK) return NAN;
  must(bench_time(gpu.p.ctx, (bench_work){call_evaluate, NULL, &code}, SAMPLES, &seconds));
  seconds /= (double)gpu.p.shape.choice.recover_groups * KG_LANES * kg_rule_points(ORDER);
#else
  (void)f;
#endif
  return seconds;
}

static double compile_seconds(const kg_function *f)
{
  double seconds = NAN;
#ifdef KEDGE_WITH_CUDA
  if (!compiles) return NAN;
  kg_sampling rule;
  char *source;
  void *image;
  must(kg_sampling_create(NULL, ORDER, kg_point_rows(ORDER), &rule));
  const double began = kg_seconds();
  must(kg_sample_kernel_source(NULL, KG_SAMPLE_LOADS, kg_sampling_points(&rule), &f, &source));
  const kedge_status status = kg_nvrtc_compile(NULL, source, CAPABILITY, &image);
  if (status == KEDGE_OK) seconds = kg_seconds() - began;
  free(image);
  free(source);
  kg_sampling_free(&rule);
#else
  (void)f;
#endif
  return seconds;
}

static void measure(const char *name, const char *text, const double *x, const double *y,
                    double *value)
{
  kg_function f = {.kind = KG_FUNCTION_EXPRESSION};
  kg_syntax_error error;
  must(kg_expression_parse(NULL, text, NULL, 0, &error, &f.expression));
  const int n = f.expression->program.n_instructions;
  const double host = host_seconds(&f, x, y, value), compile = compile_seconds(&f);
  printf("{\"formula\":\"%s\",\"operations\":%d", name, n);
  bench_print_number("host_ns_per_operation", 1e9 * host / POINTS / n);
  bench_print_number("interpret_ps_per_operation", 1e12 * interpret_seconds(&f) / n);
  bench_print_number("compile_seconds", compile);
  printf("}\n");
  kg_expression_free(f.expression);
}

/// A sum of n calls of a function of two arguments.
static void measure_sum(const char *name, const char *term, int n, const double *x, const double *y,
                        double *value)
{
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  if (!out) exit(1);
  for (int i = 0; i < n; ++i) fprintf(out, "%s%s(x+%d,y)", i ? "+" : "", term, i);
  if (fclose(out) != 0) exit(1);
  measure(name, text, x, y, value);
  free(text);
}

/// A mesh whose points are many enough to fill a GPU.
static void open_gpu(kedge_context **ctx, kedge_mesh **mesh)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_CUDA;
  if (kedge_context_create(&options, ctx) != KEDGE_OK) return;
  must(kedge_mesh_generate(*ctx, "square 500", mesh));
  bench_open(&gpu, *ctx, *mesh, ORDER);
}

int main(int argc, char **argv)
{
  compiles = argc < 2 || strcmp(argv[1], "--no-compile") != 0;
  kedge_context *ctx = NULL;
  kedge_mesh *mesh = NULL;
  open_gpu(&ctx, &mesh);
  double *x = malloc(3 * POINTS * sizeof *x), *y = x + POINTS, *value = y + POINTS;
  if (!x) return 1;
  for (int i = 0; i < POINTS; ++i) {
    x[i] = (double)i / POINTS;
    y[i] = fmod(0.6180339887498949 * i, 1.0);
  }
  measure("first", "x*y", x, y, value);  // also warms the loader's caches
  measure("polynomial", "x^3*y-3*x*y^2+x*y-x+2*y-1", x, y, value);
  measure("waves", "(8*pi^2+1)*sin(2*pi*x)*sin(2*pi*y)", x, y, value);
  measure("corner", "hypot(x,y)^(2/3)*sin(2/3*atan2(y,x))", x, y, value);
  measure_sum("atan2 x 30", "atan2", 30, x, y, value);
  measure_sum("atan2 x 100", "atan2", 100, x, y, value);
  measure_sum("atan2 x 300", "atan2", 300, x, y, value);
  measure_sum("pow x 300", "pow", 300, x, y, value);
  free(x);
  if (ctx) bench_close(&gpu);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return 0;
}
