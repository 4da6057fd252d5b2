#include "expression/function.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/backend.h"
#include "expression/expression_tree.h"

const kg_function kg_function_one = {.kind = KG_FUNCTION_CONSTANT, .constant = 1.0};

static kedge_status copy_expression(kedge_context *ctx, const kg_expression *from,
                                    kg_expression **to)
{
  kg_expression_builder b;
  int32_t root;
  kedge_status status = kg_builder_open(ctx, &b);
  if (status == KEDGE_OK) status = kg_builder_import(&b, from, &root);
  if (status == KEDGE_OK) status = kg_builder_finish(&b, root, "a coefficient", to);
  kg_builder_close(&b);
  return status;
}

/// One number an element in device memory, and the host's copy once it is brought.
struct kg_device_numbers {
  kedge_context *ctx;
  const double *there;
  size_t n;
  _Atomic(double *) here;
  atomic_int owners;
};

kedge_status kg_function_of_device(kedge_context *ctx, const double *there, int64_t n,
                                   kg_function *out)
{
  *out = (kg_function){.kind = KG_FUNCTION_DEVICE, .user = (void *)there};
  KG_TRY(kg_join(ctx, there));
  KG_TRY(kg_host_calloc(ctx, 1, sizeof *out->numbers, &out->numbers));
  out->numbers->ctx = ctx;
  out->numbers->there = there;
  out->numbers->n = (size_t)n;
  out->numbers->owners = 1;
  return KEDGE_OK;
}

static bool is_device_array(const kg_function *f)
{
  return f->kind == KG_FUNCTION_CALLER && f->function == kedge_by_element_device;
}

/// Regions that have one array share its numbers.
static kedge_status take_region(kedge_context *ctx, int64_t n, kg_function *f, int region)
{
  kg_function *const own = &f->regions[region].function;
  for (int t = 0; t < region && is_device_array(own); ++t) {
    const kg_function *const other = &f->regions[t].function;
    if (other->kind == KG_FUNCTION_DEVICE && other->user == own->user)
      return kg_function_copy(ctx, other, own);
  }
  return kg_function_take_device(ctx, n, own);
}

kedge_status kg_function_take_device(kedge_context *ctx, int64_t n, kg_function *f)
{
  for (int t = 0; t < f->n_regions; ++t) KG_TRY(take_region(ctx, n, f, t));
  if (!is_device_array(f)) return KEDGE_OK;
  KG_REQUIRE(ctx, f->user, KEDGE_ERR_ARG, "kedge_by_element_device: the array is NULL");
  return kg_function_of_device(ctx, f->user, n, f);
}

static void numbers_free(struct kg_device_numbers *numbers)
{
  if (!numbers || atomic_fetch_sub(&numbers->owners, 1) > 1) return;
  free(numbers->here);
  free(numbers);
}

static kedge_status bring_numbers(struct kg_device_numbers *numbers)
{
  const size_t bytes = numbers->n * sizeof(double);
  double *here;
  KG_TRY(kg_enter(numbers->ctx));
  KG_TRY(kg_host_alloc(numbers->ctx, bytes, 1, &here));
  const kedge_status status = kg_copy_out(numbers->ctx, here, numbers->there, bytes);
  if (status == KEDGE_OK)
    numbers->here = here;
  else
    free(here);
  return status;
}

/// One thread brings numbers, others wait for them.
static pthread_mutex_t bringing = PTHREAD_MUTEX_INITIALIZER;

kedge_status kg_function_bring(const kg_function *f)
{
  struct kg_device_numbers *const numbers = f->numbers;
  for (int t = 0; t < f->n_regions; ++t) KG_TRY(kg_function_bring(&f->regions[t].function));
  if (!numbers || numbers->here) return KEDGE_OK;
  pthread_mutex_lock(&bringing);
  const kedge_status status = numbers->here ? KEDGE_OK : bring_numbers(numbers);
  pthread_mutex_unlock(&bringing);
  return status;
}

void kedge_by_element_device(void *user, const kedge_points *points, double *value)
{
  (void)user;
  for (size_t i = 0; i < points->n; ++i) value[i] = NAN;
}

kedge_status kg_function_copy(kedge_context *ctx, const kg_function *from, kg_function *to)
{
  *to = *from;
  to->expression = NULL;
  to->regions = NULL;
  kedge_status status = KEDGE_OK;
  if (from->numbers) atomic_fetch_add(&from->numbers->owners, 1);
  if (from->kind == KG_FUNCTION_EXPRESSION)
    status = copy_expression(ctx, from->expression, &to->expression);
  if (from->n_regions > 0)
    status = kg_host_calloc(ctx, (size_t)from->n_regions, sizeof *to->regions, &to->regions);
  for (int t = 0; status == KEDGE_OK && t < from->n_regions; ++t) {
    to->regions[t].tag = from->regions[t].tag;
    status = kg_function_copy(ctx, &from->regions[t].function, &to->regions[t].function);
  }
  if (status != KEDGE_OK) kg_function_free(to);
  return status;
}

void kg_function_free(kg_function *f)
{
  kg_expression_free(f->expression);
  numbers_free(f->numbers);
  for (int t = 0; f->regions && t < f->n_regions; ++t) kg_function_free(&f->regions[t].function);
  free(f->regions);
  *f = (kg_function){0};
}

/// Sum of two functions of which the host knows values alone.
static kedge_status sum_of_values(kedge_context *ctx, const kg_function *a, double factor,
                                  const kg_function *b, kg_function *out)
{
  *out = (kg_function){.kind = KG_FUNCTION_SUM, .constant = factor, .n_regions = 2};
  kedge_status status = kg_host_calloc(ctx, 2, sizeof *out->regions, &out->regions);
  if (status == KEDGE_OK) status = kg_function_copy(ctx, a, &out->regions[0].function);
  if (status == KEDGE_OK) status = kg_function_copy(ctx, b, &out->regions[1].function);
  if (status != KEDGE_OK) kg_function_free(out);
  return status;
}

kedge_status kg_function_plus(kedge_context *ctx, const kg_function *a, double factor,
                              const kg_function *b, kg_function *out)
{
  const bool are_numbers = a->kind <= KG_FUNCTION_CONSTANT && b->kind <= KG_FUNCTION_CONSTANT;
  kg_expression_builder builder;
  int32_t of_a, of_b;
  *out = (kg_function){.kind = KG_FUNCTION_CONSTANT};
  if (are_numbers) {
    out->constant = (a->kind ? a->constant : 0.0) + factor * (b->kind ? b->constant : 0.0);
    return KEDGE_OK;
  }
  if (kg_function_of_caller(a) || kg_function_of_caller(b))
    return sum_of_values(ctx, a, factor, b, out);
  kedge_status status = kg_builder_open(ctx, &builder);
  if (status == KEDGE_OK) status = kg_function_import(&builder, a, &of_a);
  if (status == KEDGE_OK) status = kg_function_import(&builder, b, &of_b);
  if (status == KEDGE_OK) {
    const int32_t times =
        kg_build(&builder, KG_OP_MULTIPLY, kg_build_constant(&builder, factor), of_b, 0);
    const int32_t sum = kg_build(&builder, KG_OP_ADD, of_a, times, 0);
    status = kg_builder_finish(&builder, sum, "a sum of coefficients", &out->expression);
  }
  kg_builder_close(&builder);
  if (status == KEDGE_OK) out->kind = KG_FUNCTION_EXPRESSION;
  return status;
}

enum { PART = 128 };

/// Points of one region, out of a block.
typedef struct part {
  size_t from[PART];
  double x[PART], y[PART], z[PART], normal_x[PART], normal_y[PART], normal_z[PART], region[PART];
  double r[PART], s[PART], third[PART];
  int32_t element[PART], place[PART];
  double value[PART];
} part;

/// Take the points of a region from `*next` on, until the part is full.
static kedge_points take(const kedge_points *all, double tag, size_t *next, part *p)
{
  kedge_points points = {.x = p->x, .y = p->y, .region = p->region, .mesh = all->mesh, .t = all->t};
  for (; *next < all->n && points.n < PART; ++*next) {
    const size_t i = *next, k = points.n;
    if (all->region[i] != tag) continue;
    p->from[k] = i;
    p->x[k] = all->x[i];
    p->y[k] = all->y[i];
    p->z[k] = all->z ? all->z[i] : 0.0;
    p->region[k] = tag;
    p->normal_x[k] = all->normal_x ? all->normal_x[i] : 0.0;
    p->normal_y[k] = all->normal_y ? all->normal_y[i] : 0.0;
    p->normal_z[k] = all->normal_z ? all->normal_z[i] : 0.0;
    p->r[k] = all->r ? all->r[i] : 0.0;
    p->s[k] = all->s ? all->s[i] : 0.0;
    p->third[k] = all->third ? all->third[i] : 0.0;
    p->element[k] = all->element ? all->element[i] : 0;
    p->place[k] = all->place ? all->place[i] : 0;
    ++points.n;
  }
  if (all->normal_x) points.normal_x = p->normal_x, points.normal_y = p->normal_y;
  if (all->r) points.r = p->r, points.s = p->s;
  if (all->z) points.z = p->z;
  if (all->normal_z) points.normal_z = p->normal_z;
  if (all->third) points.third = p->third;
  if (all->element) points.element = p->element, points.place = p->place;
  return points;
}

static void evaluate_regions(const kg_function *f, const kedge_points *points, double *value)
{
  part p;
  for (int t = 0; t < f->n_regions; ++t)
    for (size_t next = 0; next < points->n;) {
      const kedge_points here = take(points, f->regions[t].tag, &next, &p);
      if (here.n == 0) break;
      kg_function_evaluate(&f->regions[t].function, &here, p.value);
      for (size_t k = 0; k < here.n; ++k) value[p.from[k]] = p.value[k];
    }
}

/// Some of the points.
static kedge_points points_from(const kedge_points *all, size_t first, size_t n)
{
  kedge_points some = *all;
  const double **const numbers[] = {&some.x, &some.y, &some.normal_x, &some.normal_y, &some.region,
                                    &some.r, &some.s, &some.z,        &some.normal_z, &some.third};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
    if (*numbers[i]) *numbers[i] += first;
  if (some.element) some.element += first;
  if (some.place) some.place += first;
  some.n = n;
  return some;
}

static void evaluate_sum(const kg_function *f, const kedge_points *points, double *value)
{
  double more[PART];
  kg_function_evaluate(&f->regions[0].function, points, value);
  for (size_t first = 0; first < points->n; first += PART) {
    const size_t left = points->n - first, n = left < PART ? left : PART;
    const kedge_points some = points_from(points, first, n);
    kg_function_evaluate(&f->regions[1].function, &some, more);
    for (size_t i = 0; i < n; ++i) value[first + i] += f->constant * more[i];
  }
}

void kg_function_set_time(kg_function *f, double t)
{
  f->t = t;
  for (int k = 0; k < f->n_regions; ++k) kg_function_set_time(&f->regions[k].function, t);
}

void kg_function_evaluate(const kg_function *f, const kedge_points *points, double *value)
{
  kedge_points now = *points;
  now.t = f->t;
  switch (f->kind) {
    case KG_FUNCTION_EXPRESSION:
      kg_expression_evaluate(f->expression, &now, value);
      return;
    case KG_FUNCTION_CALLER:
      f->function(f->user, &now, value);
      return;
    case KG_FUNCTION_REGIONS:
      evaluate_regions(f, &now, value);
      return;
    case KG_FUNCTION_SUM:
      evaluate_sum(f, points, value);
      return;
    case KG_FUNCTION_DEVICE:
      kedge_by_element(f->numbers->here, &now, value);
      return;
    default:
      break;
  }
  const double constant = f->kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0;
  for (size_t i = 0; i < points->n; ++i) value[i] = constant;
}

void kedge_by_element(void *user, const kedge_points *points, double *value)
{
  const double *const of_element = user;
  for (size_t i = 0; i < points->n; ++i) value[i] = of_element[points->element[i]];
}

void kedge_steady(void *user, const kedge_points *points, double *value)
{
  const kedge_steady_function *const steady = user;
  steady->function(steady->user, points, value);
}

bool kg_function_by_element(const kg_function *f)
{
  bool any = f->kind == KG_FUNCTION_DEVICE ||
             (f->kind == KG_FUNCTION_CALLER && f->function == kedge_by_element);
  for (int t = 0; t < f->n_regions; ++t)
    any = any || kg_function_by_element(&f->regions[t].function);
  return any;
}

bool kg_function_of_caller(const kg_function *f)
{
  return f->kind == KG_FUNCTION_CALLER || f->kind == KG_FUNCTION_REGIONS ||
         f->kind == KG_FUNCTION_DEVICE || f->kind == KG_FUNCTION_SUM;
}

bool kg_function_uses_region(const kg_function *f)
{
  return f->kind == KG_FUNCTION_EXPRESSION && kg_expression_uses(f->expression, KG_OP_REGION);
}

static bool uses(const kg_function *f, kg_op variable)
{
  for (int t = 0; t < f->n_regions; ++t)
    if (uses(&f->regions[t].function, variable)) return true;
  return f->kind == KG_FUNCTION_EXPRESSION && kg_expression_uses(f->expression, variable);
}

bool kg_function_uses_z(const kg_function *f)
{
  return uses(f, KG_OP_Z);
}

bool kg_function_uses_t(const kg_function *f)
{
  return uses(f, KG_OP_T);
}

bool kg_function_jumps_in_time(const kg_function *f)
{
  for (int t = 0; t < f->n_regions; ++t)
    if (kg_function_jumps_in_time(&f->regions[t].function)) return true;
  return f->kind == KG_FUNCTION_EXPRESSION && kg_expression_jumps_in_time(f->expression);
}

bool kg_function_may_jump(const kg_function *f)
{
  for (int t = 0; t < f->n_regions; ++t)
    if (kg_function_may_jump(&f->regions[t].function)) return true;
  return (f->kind == KG_FUNCTION_CALLER && f->function != kedge_by_element) ||
         (f->kind == KG_FUNCTION_EXPRESSION && f->expression->may_jump);
}

bool kg_function_varies(const kg_function *f)
{
  bool any = f->kind == KG_FUNCTION_CALLER && !kg_function_by_element(f);
  for (int t = 0; t < f->n_regions; ++t) any = any || kg_function_varies(&f->regions[t].function);
  if (any) return true;
  if (f->kind != KG_FUNCTION_EXPRESSION) return false;
  return kg_expression_uses(f->expression, KG_OP_X) || kg_expression_uses(f->expression, KG_OP_Y) ||
         kg_function_uses_z(f);
}

kedge_status kg_function_import(kg_expression_builder *b, const kg_function *f, int32_t *root)
{
  if (f->kind == KG_FUNCTION_EXPRESSION) return kg_builder_import(b, f->expression, root);
  *root = kg_build_constant(b, f->kind == KG_FUNCTION_CONSTANT ? f->constant : 0.0);
  return KEDGE_OK;
}

kedge_status kg_functions_gather(kedge_context *ctx, int n_functions,
                                 const kg_function *const *functions, kg_expression_builder *b,
                                 int32_t **out)
{
  *out = NULL;
  KG_TRY(kg_builder_open(ctx, b));
  KG_TRY(kg_host_alloc(ctx, (size_t)n_functions, sizeof **out, out));
  int32_t *const roots = *out;
  for (int f = 0; f < n_functions; ++f) {
    KG_REQUIRE(b->ctx, !kg_function_of_caller(functions[f]), KEDGE_ERR_UNSUPPORTED,
               "a function of the calling program cannot be evaluated on the GPU");
    KG_TRY(kg_function_import(b, functions[f], &roots[f]));
  }
  KG_REQUIRE(b->ctx, !b->full, KEDGE_ERR_UNSUPPORTED,
             "more than %d terms and operations are too many for the GPU", KG_EXPRESSION_NODES);
  return KEDGE_OK;
}

int kg_functions_operations(int n_functions, const kg_function *const *functions)
{
  int operations = 0;
  for (int f = 0; f < n_functions; ++f)
    if (functions[f]->kind == KG_FUNCTION_EXPRESSION)
      operations += functions[f]->expression->program.n_instructions;
  return operations;
}

kedge_status kg_functions_compile(kedge_context *ctx, int n_functions,
                                  const kg_function *const *functions, kg_program *program)
{
  *program = (kg_program){0};
  kg_expression_builder builder;
  int32_t *roots;
  kedge_status status = kg_functions_gather(ctx, n_functions, functions, &builder, &roots);
  if (status == KEDGE_OK)
    status = kg_program_compile(ctx, builder.nodes, builder.n_nodes, roots, n_functions, program);
  free(roots);
  kg_builder_close(&builder);
  return status;
}
