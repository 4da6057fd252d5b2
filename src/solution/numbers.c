#include "solution/numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis/quadrature.h"
#include "basis/polynomials.h"
#include "core/memory.h"
#include "solution/values.h"

void kg_numbers_free(kg_numbers *numbers)
{
  free(numbers->group);
  free(numbers->region);
  free(numbers->groups);
  free(numbers->regions);
  free(numbers->side);
  free(numbers->edge);
  free(numbers->facets);
  *numbers = (kg_numbers){0};
}

/// Entries of a group of edges: one that has some on the boundary and some inside has two.
static int entries_of(const kedge_mesh *mesh, const kg_group *group)
{
  return kg_is_edge_group(mesh, group) ? (group->count > 0) + (group->n_inner > 0) : 1;
}

/// Count the entries of edges and of regions.
/// @param[out] entry  [mesh group]: the first of the group; or NULL
static void count_entries(const kedge_mesh *mesh, int *entry, int *groups, int *regions)
{
  *groups = *regions = 0;
  for (int g = 0; g < mesh->n_groups; ++g) {
    int *const n = kg_is_edge_group(mesh, &mesh->groups[g]) ? groups : regions;
    if (entry) entry[g] = *n;
    *n += entries_of(mesh, &mesh->groups[g]);
  }
}

static kedge_status have_memory(kedge_solution *s)
{
  kg_numbers *const n = &s->numbers;
  if (n->groups) return KEDGE_OK;
  count_entries(s->mesh, NULL, &n->n_groups, &n->n_regions);
  const size_t g = (size_t)n->n_groups, r = (size_t)n->n_regions;
  KG_TRY(kg_host_alloc(s->ctx, g, sizeof *n->group, &n->group));
  KG_TRY(kg_host_alloc(s->ctx, r, sizeof *n->region, &n->region));
  KG_TRY(kg_host_alloc(s->ctx, r, sizeof *n->regions, &n->regions));
  KG_TRY(kg_host_alloc(s->ctx, g, sizeof *n->groups, &n->groups));
  for (size_t i = 0; i < g; ++i) n->groups[i] = &n->group[i];
  for (size_t i = 0; i < r; ++i) n->regions[i] = &n->region[i];
  return KEDGE_OK;
}

/// The entries in the order of the mesh's groups, without sums.
static void begin(kedge_solution *s)
{
  const kedge_mesh *const mesh = s->mesh;
  kedge_group_values *group = s->numbers.group;
  kedge_region_values *region = s->numbers.region;
  for (const kg_group *g = mesh->groups; g < mesh->groups + mesh->n_groups; ++g) {
    if (!kg_is_edge_group(mesh, g)) {
      *region = (kedge_region_values){.size = sizeof *region,
                                      .name = g->name,
                                      .tag = g->tag,
                                      .elements = g->count,
                                      .least = INFINITY,
                                      .most = -INFINITY};
      ++region;
      continue;
    }
    for (int inside = 0; inside < 2; ++inside) {
      const int64_t edges = inside ? g->n_inner : g->count;
      if (edges == 0) continue;
      *group++ = (kedge_group_values){
          .size = sizeof *group, .name = g->name, .tag = g->tag, .inside = inside, .edges = edges};
    }
  }
}

/// A rule along curved edges, and the modes of the trace at its points.
typedef struct edge_rule {
  int n;
  double t[KEDGE_ORDER_MAX + 1 + KG_GEOMETRY_MAX], w[KEDGE_ORDER_MAX + 1 + KG_GEOMETRY_MAX];
  double psi[KEDGE_ORDER_MAX + 1 + KG_GEOMETRY_MAX][KEDGE_ORDER_MAX + 1];
} edge_rule;

/// Faces are not curved, and need none.
static edge_rule rule_of(const kedge_mesh *mesh, int m)
{
  edge_rule rule = {.n = kg_mesh_in_space(mesh) ? 0 : m + KG_GEOMETRY_MAX};
  if (rule.n == 0) return rule;
  kg_gauss_jacobi(rule.n, 0, rule.t, rule.w);
  for (int q = 0; q < rule.n; ++q) kg_legendre(m - 1, rule.t[q], rule.psi[q]);
  return rule;
}

/// The length of an edge, or the area of a face, and the integral of the trace over it from its
/// modes.
static void measure_edge(const kedge_mesh *mesh, const edge_rule *rule, kg_side side, int m,
                         const double *modes, double *length, double *integral)
{
  int32_t ends[2];
  if (kg_mesh_in_space(mesh)) {
    *length = kg_space_area(mesh, kg_side_edge(mesh, side));
    *integral = *length * sqrt(0.5) * modes[0];
    return;
  }
  kg_side_ends(mesh, side, ends);
  if (!mesh->nodes) {
    const double *const a = mesh->vertices + 2 * (int64_t)ends[0];
    const double *const b = mesh->vertices + 2 * (int64_t)ends[1];
    *length = hypot(b[0] - a[0], b[1] - a[1]);
    *integral = *length * sqrt(0.5) * modes[0];
    return;
  }
  *length = *integral = 0.0;
  for (int q = 0; q < rule->n; ++q) {
    const double t = ends[0] > ends[1] ? -rule->t[q] : rule->t[q];
    double at[2], along[2], value = 0.0;
    kg_side_point(mesh, side, t, at, along);
    for (int k = 0; k < m; ++k) value += rule->psi[q][k] * modes[k];
    const double weight = rule->w[q] * hypot(along[0], along[1]);
    *length += weight;
    *integral += weight * value;
  }
}

/// Keep the numbers of each facet, for output.
static kedge_status keep_facets(kedge_solution *s, const kg_group_sums *sums)
{
  kg_numbers *const n = &s->numbers;
  const kg_grouped *const grouped = sums->grouped;
  const size_t facets = (size_t)grouped->count.n_facets, row = 1 + (size_t)s->m;
  n->n_facets = 0;
  if (n->room < facets * row) {
    free(n->facets);
    n->facets = NULL;
    n->room = 0;
    KG_TRY(kg_host_alloc(s->ctx, facets * row, sizeof *n->facets, &n->facets));
    n->room = facets * row;
  }
  if (!n->side) KG_TRY(kg_host_alloc(s->ctx, facets, sizeof *n->side, &n->side));
  if (!n->edge) KG_TRY(kg_host_alloc(s->ctx, facets, sizeof *n->edge, &n->edge));
  memcpy(n->side, grouped->side, facets * sizeof *n->side);
  memcpy(n->edge, grouped->edge, facets * sizeof *n->edge);
  memcpy(n->facets, sums->facets, facets * row * sizeof *n->facets);
  for (size_t i = 0; i < facets; ++i) n->facets[i * row] /= s->scale;
  n->n_facets = grouped->count.n_facets;
  return KEDGE_OK;
}

static void add_facets(kedge_solution *s, const kg_group_sums *sums, const int *entry)
{
  const kedge_mesh *const mesh = s->mesh;
  const int m = s->m;
  const edge_rule rule = rule_of(mesh, m);
  for (int32_t i = 0; i < sums->grouped->count.n_facets; ++i) {
    double length, integral;
    const int32_t edge = sums->grouped->edge[i], mark = mesh->edge_group[edge];
    const int g = kg_group_of_edge(mark);
    const bool both = mark < 0 && mesh->groups[g].count > 0;
    kedge_group_values *const v = &s->numbers.group[entry[g] + both];
    const double *const of = sums->facets + (int64_t)i * (1 + m);
    measure_edge(mesh, &rule, sums->grouped->side[i], m, of + 1, &length, &integral);
    v->length += length;
    v->integral += integral;
    v->flux += of[0] / s->scale;
  }
  for (int i = 0; i < s->numbers.n_groups; ++i) {
    kedge_group_values *const v = &s->numbers.group[i];
    v->mean = v->integral / v->length;
    if (!v->inside) s->report.balance.flux += v->flux;
  }
}

/// Place a node of order P of a tetrahedron.
static void place_in_space(const kedge_solution *s, const int32_t at[2], double xyz[3])
{
  enum { NODES_MAX = KG_SPACE_FLUX_MAX / 3 };
  const int32_t *const v = kg_element_vertices(s->mesh, at[0]);
  double r[NODES_MAX], t[NODES_MAX], h[NODES_MAX];
  long double map[16];
  kg_tetrahedron.nodes(s->size.order, (double *const[]){r, t, h});
  kg_tetrahedron.map(1, (const long double[]){r[at[1]], t[at[1]], h[at[1]]}, map);
  for (int k = 0; k < 3; ++k) {
    xyz[k] = 0.0;
    for (int l = 0; l < 4; ++l) xyz[k] += (double)map[l] * s->mesh->vertices[3 * (int64_t)v[l] + k];
  }
}

/// Place a node of order P of an element of the plane.
static void place_node(const kedge_solution *s, const int32_t at[2], double xy[2])
{
  enum { NODES_MAX = (KEDGE_ORDER_MAX + 1) * (KEDGE_ORDER_MAX + 1) };
  const kg_cell *const cell = kg_block_of(s->mesh, at[0])->cell;
  double x[KG_NODES_MAX], y[KG_NODES_MAX], r[NODES_MAX], t[NODES_MAX];
  long double map[3 * KG_NODES_MAX];
  const int n = kg_nodes_of(s->mesh, at[0], x, y);
  cell->nodes(s->size.order, (double *const[]){r, t});
  cell->map(s->mesh->geometry, (const long double[]){r[at[1]], t[at[1]]}, map);
  xy[0] = xy[1] = 0.0;
  for (int v = 0; v < n; ++v) {
    xy[0] += (double)map[v] * x[v];
    xy[1] += (double)map[v] * y[v];
  }
}

/// Place an extremum, where there is one.
static void place(const kedge_solution *s, const int32_t at[2], double xy[2], double *z)
{
  double xyz[3] = {0.0, 0.0, 0.0};
  if (at[0] < 0) return;
  if (kg_mesh_in_space(s->mesh))
    place_in_space(s, at, xyz);
  else
    place_node(s, at, xyz);
  xy[0] = xyz[0];
  xy[1] = xyz[1];
  *z = xyz[2];
}

static void add_regions(kedge_solution *s, const kg_group_sums *sums, const int *entry,
                        kg_region_sums *of)
{
  const kg_grouped *const grouped = sums->grouped;
  const int n = s->numbers.n_regions;
  for (int i = 0; i < n; ++i) of[i] = kg_no_region_sums();
  for (int32_t k = 0; k < grouped->count.n_records; ++k)
    kg_region_sums_join(&sums->records[k], &of[entry[grouped->region[k]]]);
  for (int i = 0; i < n; ++i) {
    kedge_region_values *const v = &s->numbers.region[i];
    v->area = of[i].area;
    v->integral = of[i].u;
    v->mean = of[i].u / of[i].area;
    v->energy = of[i].energy / s->scale;
    v->source = of[i].source / s->scale;
    v->reaction = of[i].reaction / s->scale;
    v->storage = 0.0;
    v->least = of[i].least;
    v->most = of[i].most;
    place(s, of[i].least_at, v->least_at, &v->least_z);
    place(s, of[i].most_at, v->most_at, &v->most_z);
    s->report.balance.source += v->source;
    s->report.balance.reaction += v->reaction;
  }
}

/// Conductance from the flux of a group, and from the energy with the part of the stabilization.
static void add_conductance(kedge_solution *s, const kg_conductor *conductor, const int *entry,
                            const kg_region_sums *of)
{
  kedge_report *const r = &s->report;
  const double difference = conductor->difference;
  double energy = 0.0;
  r->conductance = r->energy_conductance = NAN;
  if (!conductor->there) return;
  for (int i = 0; i < s->numbers.n_regions; ++i) energy += (of[i].energy + of[i].jump) / s->scale;
  r->conductance = s->numbers.group[entry[conductor->group]].flux / difference;
  r->energy_conductance = energy / (difference * difference);
}

/// @param[out] of  work: [region]
static void fill(kedge_solution *s, const kg_group_sums *sums, const int *entry, kg_region_sums *of)
{
  kedge_report *const r = &s->report;
  r->balance = (kedge_balance){0};
  begin(s);
  add_facets(s, sums, entry);
  add_regions(s, sums, entry, of);
  add_conductance(s, &sums->conductor, entry, of);
  r->balance.remainder = r->balance.reaction - r->balance.source - r->balance.flux;
  r->n_groups = s->numbers.n_groups;
  r->n_regions = s->numbers.n_regions;
  r->groups = s->numbers.groups;
  r->regions = s->numbers.regions;
}

kedge_status kg_numbers_make(kedge_solution *s, const kg_group_sums *sums)
{
  int *entry = NULL, groups, regions;
  kg_region_sums *of = NULL;
  kedge_status status = have_memory(s);
  if (status == KEDGE_OK)
    status = kg_host_alloc(s->ctx, (size_t)s->mesh->n_groups, sizeof *entry, &entry);
  if (status == KEDGE_OK)
    status = kg_host_alloc(s->ctx, (size_t)s->numbers.n_regions, sizeof *of, &of);
  if (status == KEDGE_OK) status = keep_facets(s, sums);
  if (status == KEDGE_OK) {
    count_entries(s->mesh, entry, &groups, &regions);
    fill(s, sums, entry, of);
  }
  free(entry);
  free(of);
  return status;
}

/// The region of an element.
static kedge_region_values *region_of(kedge_solution *s, int32_t element)
{
  kedge_region_values *v = s->numbers.region;
  while (v->tag != s->mesh->element_region[element]) ++v;
  return v;
}

void kg_numbers_move(kedge_solution *s, const double *of_u, const double *of_base)
{
  kedge_balance *const b = &s->report.balance;
  for (int i = 0; i < s->numbers.n_regions; ++i) s->numbers.region[i].storage = 0.0;
  s->report.storage = b->reaction = b->source = 0.0;
  for (int32_t e = 0; e < s->mesh->n_elements; ++e) {
    kedge_region_values *const v = region_of(s, e);
    v->storage += of_u[e] - of_base[e];
    v->reaction -= of_u[e];
    v->source -= of_base[e];
  }
  for (int i = 0; i < s->numbers.n_regions; ++i) {
    const kedge_region_values *const v = &s->numbers.region[i];
    s->report.storage += v->storage;
    b->reaction += v->reaction;
    b->source += v->source;
  }
}
