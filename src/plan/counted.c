// A mesh that is counted, not made: a smaller one of the same form stands for it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "mesh/generate.h"
#include "plan/plan.h"

static bool has_functions(const kedge_problem *problem)
{
  for (int i = 0; i < kedge_problem_setting_count(problem); ++i) {
    const char *section, *key, *value;
    if (kedge_problem_get_setting(problem, i, &section, &key, &value) != KEDGE_OK || !value)
      return true;
  }
  return false;
}

static int64_t elements_of(const kg_form_size *size)
{
  return size->elements[0] + size->elements[1];
}

/// How a smaller mesh is made.
typedef struct recipe {
  char words[KG_FORM_WORDS];
  int refine;
  kg_form_size size, whole;  ///< of the smaller mesh, and of the one that it stands for
} recipe;

static void refine_size(kg_form_size *size, int times)
{
  for (int k = 0; k < KG_BLOCKS_MAX; ++k) size->elements[k] <<= 2 * times;
  size->rim <<= times;
}

/// Find a mesh of 1/4, 1/16, ... of the elements, in which patches lie along the Hilbert curve as
/// they do in the whole one: with fewer refinements first, then of smaller numbers.
/// @return false: the mesh is to be made, because it is small, or to say what is wrong with it
static bool find_smaller(kedge_context *ctx, const kedge_problem *problem, int64_t from, recipe *r)
{
  const char *const words = problem->mesh_generate;
  kg_form_size size;
  int times = 0, fewer;
  if (!words || has_functions(problem) || kg_form_count(ctx, words, &size) != KEDGE_OK)
    return false;
  if (size.dimension == 3) return false;
  if (elements_of(&size) > (int64_t)KG_ELEMENTS_MAX >> 2 * problem->refine) return false;
  r->whole = size;
  refine_size(&r->whole, problem->refine);
  const int64_t n = elements_of(&r->whole);
  if (n < from) return false;
  while (n >> 2 * times > from / KG_COUNTED_PART) ++times;
  fewer = times < problem->refine ? times : problem->refine;
  r->refine = problem->refine - fewer;
  if (kg_form_smaller(ctx, words, times - fewer, r->words) != KEDGE_OK ||
      kg_form_count(ctx, r->words, &r->size) != KEDGE_OK)
    return false;
  refine_size(&r->size, r->refine);
  return true;
}

/// Counts of the whole mesh: V - E + F is the same for all meshes of a form.
static kedge_status stand_for(kedge_context *ctx, const kedge_problem *problem, const recipe *r,
                              kg_plan_mesh *m)
{
  kedge_mesh *const mesh = m->mesh;
  kedge_mesh_info *const info = &mesh->info;
  const int64_t euler = info->vertices - info->edges + info->elements;
  const int64_t triangles = r->whole.elements[0], wide = r->whole.elements[1];
  m->is_smaller = true;
  m->rim = r->size.rim;
  m->grown_rim = r->whole.rim;
  for (int k = 0; k < mesh->n_blocks; ++k)
    m->n_elements[k] = (int32_t)r->whole.elements[mesh->block[k].cell == &kg_quadrilateral];
  info->elements = triangles + wide;
  info->quadrilaterals = wide;
  info->boundary_edges = info->boundary_edges * m->grown_rim / m->rim;
  info->edges = (3 * triangles + 4 * wide + info->boundary_edges) / 2;
  info->vertices = euler + info->edges - info->elements;
  free(mesh->source);
  mesh->source = NULL;
  return kg_copy_text(ctx, problem->mesh_generate, strlen(problem->mesh_generate), &mesh->source);
}

kedge_status kg_plan_mesh_make(kedge_context *ctx, const kedge_problem *problem, int64_t from,
                               kg_plan_mesh *out)
{
  recipe r;
  *out = (kg_plan_mesh){0};
  if (find_smaller(ctx, problem, from, &r) &&
      kg_problem_generate(problem, r.words, r.refine, &out->mesh) == KEDGE_OK)
    return stand_for(ctx, problem, &r, out);
  ctx->error[0] = problem->ctx->error[0] = '\0';
  const kedge_status status = kedge_problem_mesh(problem, &out->mesh);
  if (status == KEDGE_OK || problem->ctx == ctx) return status;
  return KG_FAIL(ctx, status, "%s", kedge_context_error(problem->ctx));
}

kedge_status kg_plan_mesh_check(kedge_context *ctx, const kg_plan_mesh *of)
{
  const kedge_mesh *const mesh = of->mesh;
  if (!of->is_smaller) return KEDGE_OK;
  return kg_mesh_check_memory(ctx, mesh->source, mesh->block[mesh->n_blocks - 1].cell,
                              mesh->geometry, mesh->info.elements, false);
}

kedge_status kg_plan_mesh_grow(const kg_plan_mesh *to, kg_elliptic *p)
{
  const double times = (double)to->mesh->info.elements / to->mesh->n_elements;
  kg_trace_layout_grow(&p->space.cut->layout, to->n_elements, to->rim, to->grown_rim);
  kg_grouped_count *const grouped = &p->grouped.count;  // one region, so that runs are full
  grouped->n_facets = (int32_t)(grouped->n_facets * (double)to->grown_rim / (double)to->rim);
  grouped->n_runs = grouped->n_records = (int32_t)(grouped->n_runs * times) + 1;
  p->space.lines.n_steps = (int32_t)(p->space.lines.n_steps * times);
  p->space.lines.n_lines = (int32_t)(p->space.lines.n_lines * sqrt(times));
  return kg_elliptic_shape(p, p->equation.problem->operator_kind, &p->shape);
}
