#include "waves/waves.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"

enum {
  ELEMENTS_MAX = (1 << 29) - KG_WAVE_BLOCK,  ///< their sides are not negative as int32_t
};

static kedge_status find_law(kg_waves *w)
{
  const char *const word = kg_system_words[w->problem->wave.system];
  const kedge_mesh *const mesh = w->mesh;
  const kg_setting *const at = kg_settings_find(&w->problem->settings, "equation", "system");
  const char *shape = NULL;
  for (int i = 0; kg_laws[i]; ++i) {
    if (strcmp(kg_laws[i]->name, word) != 0) continue;
    if (kg_laws[i]->dimension == mesh->dimension) w->law = kg_laws[i];
    if (!shape || kg_laws[i]->dimension == mesh->dimension)
      shape = kg_laws[i]->dimension == 2 ? "triangles" : "tetrahedra";
  }
  if (!shape) return kg_problem_fail(w->ctx, w->problem, at, "system = %s is not there yet", word);
  if (!w->law || kg_mesh_quadrilaterals(mesh) > 0)
    return kg_problem_fail(
        w->ctx, w->problem, at, "system = %s takes meshes of %s, and %s is of %s", word, shape,
        mesh->source ? mesh->source : "the mesh",
        mesh->n_blocks > 1 ? "triangles and quadrilaterals" : kg_mesh_shapes(mesh, 2));
  KG_REQUIRE(w->ctx, mesh->n_elements <= ELEMENTS_MAX, KEDGE_ERR_UNSUPPORTED,
             "waves take meshes of at most %d elements, and the mesh has %d", ELEMENTS_MAX,
             mesh->n_elements);
  if (mesh->nodes)
    return kg_problem_fail(w->ctx, w->problem, at,
                           "waves need straight elements, and those of %s are curved: set geometry "
                           "= 1 in [mesh]",
                           mesh->source ? mesh->source : "the mesh");
  return KEDGE_OK;
}

/// [initial], or [exact] at the time 0 where there is none.
static const kg_wave_values *initial_of(const kg_waves *w)
{
  const kg_wave_values *const initial = &w->problem->wave.initial;
  for (int i = 0; i < KG_WAVE_FIELDS; ++i)
    if (initial->of[i].kind != KG_FUNCTION_NONE) return initial;
  return &w->problem->wave.exact;
}

/// Refuse what is no number, or none of single precision, with its place.
static kedge_status check_initial(const kg_waves *w, const kg_wave_values *values, int32_t e,
                                  double most, const double *u)
{
  const bool is_exact = values == &w->problem->wave.exact;
  for (int f = 0; f < w->law->n_fields; ++f)
    for (int i = 0; i < w->nodal.n; ++i) {
      const double value = u[f * w->nodal.n + i];
      if (fabs(value) <= most) continue;
      const char *const field = w->law->fields[f];
      char at[KG_PLACE_TEXT];
      kg_waves_place(w, e, i, at);
      return kg_problem_fail(
          w->ctx, w->problem,
          kg_settings_find(&w->problem->settings, is_exact ? "exact" : "initial", field),
          "initial %s is %g in element %d (from 0) at %s%s", field,
          isnan(value) ? (double)NAN : value, w->mesh->element_origin[e], at,
          fabs(value) <= DBL_MAX ? ", which single precision does not hold; take precision = "
                                   "double in [solver]"
                                 : "");
    }
  return KEDGE_OK;
}

/// Evaluate some elements and copy them to the device. @param[in] u, piece  room for them
static kedge_status put_elements(kg_waves *w, const kg_wave_values *values, int32_t first,
                                 int32_t n, double *u, kg_wave_piece *piece)
{
  const kg_wave_args *const a = &w->args;
  const kg_wave_data data = {.n = a->n, .n_functions = a->n_fields};
  const double most = a->number == KG_SINGLE ? FLT_MAX : DBL_MAX;
  const ptrdiff_t numbers = (ptrdiff_t)a->n_fields * a->n;
  const kg_function *functions[KG_WAVE_FIELDS_MAX];
  kg_waves_functions_of(w, values, functions);
  for (int32_t i = 0; i < n; ++i) piece[i] = (kg_wave_piece){first + i, -1};
  KG_TRY(kg_wave_data_evaluate(w, &data, functions, n, piece, u));
  for (int32_t i = 0; i < n; ++i)
    KG_TRY(check_initial(w, values, first + i, most, u + i * numbers));
  char *const to =
      (char *)w->state.data + (size_t)kg_wave_place(a, first, 0, 0) * kg_number_bytes(a->number);
  return kg_waves_put(w, to, u, n * numbers);
}

/// Elements that fill the last group stay zero.
static kedge_status put_initial(kg_waves *w)
{
  const kg_wave_values *const values = initial_of(w);
  const int32_t all = w->mesh->n_elements;
  const size_t run = (size_t)kg_waves_run(w);
  double *u;
  kg_wave_piece *piece = NULL;
  KG_TRY(kg_host_alloc(w->ctx, run * (size_t)(w->args.n_fields * w->args.n), sizeof *u, &u));
  kedge_status status = kg_host_alloc(w->ctx, run, sizeof *piece, &piece);
  kg_problem_set_time(w->problem, 0.0);
  for (int32_t first = 0; first < all && status == KEDGE_OK; first += KG_WAVE_RUN)
    status = put_elements(w, values, first, all - first < KG_WAVE_RUN ? all - first : KG_WAVE_RUN,
                          u, piece);
  free(piece);
  free(u);
  return status;
}

static kedge_status allocate(kg_waves *w)
{
  kg_wave_args *const a = &w->args;
  const size_t n = (size_t)kg_wave_state(a), bytes = n * kg_number_bytes(a->number);
  KG_TRY(kg_alloc(w->ctx, 3 * bytes, 1, &w->state));
  KG_TRY(kg_zero(w->ctx, w->state.data, w->state.bytes));
  char *const all = w->state.data;
  a->u = (kg_real *)(void *)all;
  a->next = (kg_real *)(void *)(all + bytes);
  a->residual = (kg_real *)(void *)(all + 2 * bytes);
  return KEDGE_OK;
}

/// System, order and sizes.
static kedge_status begin(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                          kg_waves *w)
{
  KG_TRY(kg_problem_clone(problem, &w->problem));
  KG_TRY(find_law(w));
  const kg_cell *const cell = mesh->block[0].cell;
  const int order = problem->order;
  KG_TRY(kg_nodal_create(ctx, cell, order, &w->nodal));
  w->args = (kg_wave_args){.number = problem->wave.single ? KG_SINGLE : KG_DOUBLE,
                           .n_groups = kg_wave_groups(mesh->n_elements),
                           .n = w->nodal.n,
                           .n_facet = w->nodal.n_facet,
                           .n_facets = cell->n_facets,
                           .dimension = mesh->dimension,
                           .n_fields = w->law->n_fields,
                           .n_numbers = w->law->n_numbers};
  return KEDGE_OK;
}

static int64_t max_of(int64_t a, int64_t b)
{
  return a > b ? a : b;
}

/// What is made of a run of elements, and the tables that it is made with: the file and the errors.
static int64_t run_bytes(const kg_waves *w)
{
  const int64_t d = w->mesh->dimension, n = w->nodal.n, numbers = w->law->n_fields * n;
  const int64_t run = kg_waves_run(w), nodes = 2 * n * (d + n);
  const int64_t rule = kg_cell_rule_points(w->nodal.cell, w->nodal.order + 6) * (n + 3 * (d + 1));
  const int64_t begin = run * (numbers + (w->args.number == KG_SINGLE ? numbers / 2 : 0));
  const int64_t file = run * (numbers + 3 * n + 4) + nodes;
  const int64_t sums = run * (numbers + w->law->n_fields) + rule;
  const int64_t number = (int64_t)sizeof(double);
  return max_of(max_of(begin, sums) * number, file * number + KG_RESERVE);  // for HDF5
}

/// The most of the host's memory that is held at once. @param[in] settled  bytes of the device
static int64_t host_bytes(const kg_waves *w, int64_t settled)
{
  const kedge_mesh *const mesh = w->mesh;
  const int64_t d = mesh->dimension, elements = mesh->n_elements, number = (int64_t)sizeof(double);
  const int64_t lanes = (int64_t)w->args.n_groups * KG_WAVE_LANES, numbers = w->law->n_numbers;
  const int64_t pieces = max_of(elements, mesh->n_boundary_edges);
  const int64_t own = (int64_t)kg_number_bytes(w->args.number), facet = lanes * (d + 1) * (d + 1);
  const bool single = w->args.number == KG_SINGLE;
  // kg_waves_set_up(), kg_waves_settle() and what both leave, data of stages as doubles among it.
  const int64_t set_up = (elements + lanes * d * d + facet) * number + (single ? facet * own : 0) +
                         (lanes * (d + 1) + mesh->n_edges) * (int64_t)sizeof(int32_t);
  const int64_t data = (settled - lanes * numbers * own) / own * number;
  const int64_t left = elements * (1 + numbers) * number + data;
  const int64_t settle = lanes * numbers * number +
                         (single ? max_of(lanes * numbers * own, data / 2) : 0) +
                         2 * mesh->n_boundary_edges * (int64_t)sizeof(kg_wave_side) +
                         pieces * (int64_t)(sizeof(kg_wave_piece) + 2 * sizeof(int32_t)) +
                         elements * (int64_t)(sizeof(int32_t) + sizeof(double));
  return max_of(set_up, left + max_of(settle, run_bytes(w)));
}

/// Whether a march looks at steps of waves that nothing drives. @param[in] longest  0: it is found
static kedge_status may_grow(const kg_waves *w, double longest, bool *may)
{
  const double step = w->problem->time.step;
  kg_waves_memory found = {.longest = longest};
  *may = kg_waves_is_longer(w->problem->wave.cfl, 1.0);
  if (step <= 0.0) return KEDGE_OK;
  if (longest <= 0.0) KG_TRY(kg_waves_find_longest(w, &found));
  *may = kg_waves_is_longer(step, found.longest);
  return KEDGE_OK;
}

/// Memory that is taken, and refuse what does not fit.
static kedge_status need(const kg_waves *w, kg_waves_memory *memory)
{
  const size_t state = (size_t)kg_wave_state(&w->args);
  const bool separate = w->ctx->backend == KEDGE_BACKEND_CUDA;
  int64_t settled;
  bool may;
  KG_TRY(kg_waves_settled_bytes(w, &settled));
  KG_TRY(may_grow(w, memory->longest, &may));
  memory->device = (int64_t)kg_rounded(3 * state * kg_number_bytes(w->args.number)) +
                   kg_waves_mesh_bytes(w) + settled;
  if (may) memory->device += (int64_t)kg_rounded(state * kg_number_bytes(w->args.number));
  memory->host = host_bytes(w, settled);
  memory->unknowns = (int64_t)w->mesh->n_elements * w->nodal.n * w->law->n_fields;
  memory->needed = memory->device + (separate ? 0 : memory->host);
  memory->free = kg_free_bytes(w->ctx);
  KG_REQUIRE(w->ctx, memory->needed <= memory->free, KEDGE_ERR_MEMORY,
             "these waves need %.2f GB of memory on %s (%d elements, order %d, precision %s) and "
             "%.2f GB are free; see `kedge plan`, and take %sfewer elements or a lower order",
             1e-9 * (double)memory->needed, w->ctx->device, w->mesh->n_elements, w->nodal.order,
             w->args.number == KG_SINGLE ? "single" : "double", 1e-9 * (double)memory->free,
             w->args.number == KG_SINGLE ? "" : "precision = single, ");
  return KEDGE_OK;
}

kedge_status kg_waves_plan(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                           kg_waves_memory *memory)
{
  kg_waves w = {.ctx = ctx, .mesh = mesh};
  *memory = (kg_waves_memory){0};
  kedge_status status = begin(ctx, mesh, problem, &w);
  if (status == KEDGE_OK) status = kg_waves_find_longest(&w, memory);
  if (status == KEDGE_OK) status = need(&w, memory);
  if (status != KEDGE_OK && memory->needed == 0) *memory = (kg_waves_memory){0};
  kg_waves_free(&w);
  return status;
}

kedge_status kg_waves_create(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, kg_waves *w)
{
  kg_waves_memory memory = {0};
  *w = (kg_waves){.ctx = ctx, .mesh = mesh};
  KG_TRY(begin(ctx, mesh, problem, w));
  KG_TRY(need(w, &memory));
  KG_TRY(kg_wave_kernel_find(ctx, w->law, &w->nodal, &w->args, w->kernel));
  KG_TRY(kg_waves_set_up(w));
  KG_TRY(kg_waves_settle(w));
  KG_TRY(allocate(w));
  return put_initial(w);
}

kedge_status kg_waves_put(const kg_waves *w, void *there, const double *here, int64_t n)
{
  float *single;
  if (w->args.number == KG_DOUBLE) return kg_copy_in(w->ctx, there, here, (size_t)n * sizeof *here);
  KG_TRY(kg_host_alloc(w->ctx, (size_t)n, sizeof *single, &single));
  for (int64_t i = 0; i < n; ++i) single[i] = (float)here[i];
  const kedge_status status = kg_copy_in(w->ctx, there, single, (size_t)n * sizeof *single);
  free(single);
  return status;
}

kedge_status kg_waves_get_elements(const kg_waves *w, int32_t first, int32_t count, double *state)
{
  const kg_wave_args *const a = &w->args;
  const size_t n = (size_t)count * (size_t)(a->n_fields * a->n), bytes = kg_number_bytes(a->number);
  const char *const from = (const char *)a->u + (size_t)kg_wave_place(a, first, 0, 0) * bytes;
  if (a->number == KG_DOUBLE) return kg_copy_out(w->ctx, state, from, n * bytes);
  // The numbers lie in the upper half first, and are read before doubles overwrite them.
  float *const single = (float *)(void *)state + n;
  KG_TRY(kg_copy_out(w->ctx, single, from, n * bytes));
  for (size_t i = 0; i < n; ++i) {
    float value;
    memcpy(&value, single + i, sizeof value);
    const double wide = (double)value;
    memcpy(state + i, &wide, sizeof wide);
  }
  return KEDGE_OK;
}

kedge_status kg_waves_renew(const kg_waves *w, const kedge_problem *problem, kg_waves *next)
{
  const kedge_problem *const old = w->problem;
  const char *const what = problem->wave.system != old->wave.system   ? "system"
                           : problem->order != old->order             ? "order"
                           : problem->wave.single != old->wave.single ? "precision"
                                                                      : NULL;
  KG_REQUIRE(w->ctx, !what, KEDGE_ERR_INPUT,
             "kedge_march_update: the %s of the problem has changed; begin another march", what);
  KG_TRY(kg_problem_check_waves(w->ctx, problem));
  *next = *w;
  kg_waves_forget(next);
  kedge_status status = kg_problem_clone(problem, &next->problem);
  if (status == KEDGE_OK) {
    kg_problem_set_time(next->problem, old->t);
    status = kg_waves_settle(next);
  }
  if (status != KEDGE_OK) kg_waves_unsettle(next);
  return status;
}

void kg_waves_free(kg_waves *w)
{
  kg_waves_unsettle(w);
  kg_wave_kernel_drop(w->args.kernel);
  kg_free(w->ctx, &w->tables);
  kg_free(w->ctx, &w->state);
  kg_free(w->ctx, &w->spare);
  kg_wave_probes_free(w->ctx, &w->probes);
  kg_free(w->ctx, &w->nodes);
  kg_free(w->ctx, &w->to);
  kg_nodal_free(&w->nodal);
  free(w->jacobian);
  *w = (kg_waves){0};
}

bool kg_waves_has_exact(const kg_waves *w, int field)
{
  bool any = false;
  for (int f = 0; f < w->law->n_fields; ++f) {
    const int place = kg_word_among(kg_wave_fields, KG_WAVE_FIELDS, w->law->fields[f]);
    any = any ||
          ((field < 0 || f == field) && w->problem->wave.exact.of[place].kind != KG_FUNCTION_NONE);
  }
  return any;
}

int kg_waves_field(const kg_waves *w, const char *name)
{
  return kg_word_among(w->law->fields, w->law->n_fields, name);
}
