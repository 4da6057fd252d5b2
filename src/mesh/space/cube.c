// The unit cube.
#include "device/loop.h"
#include "mesh/generate.h"

enum { PARTS = 6 };  ///< tetrahedra of a small cube: one for each order of the axes

static const char *const names[] = {"x0", "x1", "y0", "y1", "z0", "z1"};

/// The steps along the axes from vertex (i, j, k), whose number is i + j w + k w^2.
typedef struct lattice {
  int64_t n, step[3];
} lattice;

static void put_vertices(kedge_context *ctx, const lattice *on, kg_raw_mesh *raw)
{
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_vertices, 1))
  for (int64_t v = 0; v < raw->n_vertices; ++v)
    for (int d = 0; d < 3; ++d)
      raw->vertices[3 * v + d] = (double)(v / on->step[d] % on->step[1]) / (double)on->n;
}

/// A path along three edges of a small cube, from its lowest vertex to its highest, for each order
/// of the axes: its vertices are a tetrahedron. All small cubes are cut alike, so that neighbours
/// fit.
static void put_elements(kedge_context *ctx, const lattice *on, kg_raw_mesh *raw)
{
  static const int axis[PARTS][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int64_t n = on->n;
#pragma omp parallel for num_threads(kg_loop_threads(ctx, raw->n_elements, 1))
  for (int64_t c = 0; c < n * n * n; ++c) {
    const int64_t first = c % n * on->step[0] + c / n % n * on->step[1] + c / (n * n) * on->step[2];
    for (int part = 0; part < PARTS; ++part) {
      int32_t *const corner = raw->corners + 4 * (PARTS * c + part);
      int64_t v = first;
      corner[0] = (int32_t)v;
      for (int i = 0; i < 3; ++i) corner[i + 1] = (int32_t)(v += on->step[axis[part][i]]);
      raw->regions[PARTS * c + part] = KG_FORM_REGION;
    }
  }
}

/// Both triangles of the squares on a side of the cube, which paths along its two axes make.
static void put_side(const lattice *on, int across, int64_t first, int32_t tag, kg_raw_mesh *raw)
{
  const int64_t a = on->step[across == 0 ? 1 : 0], b = on->step[across == 2 ? 1 : 2];
  for (int64_t j = 0; j < on->n; ++j)
    for (int64_t i = 0; i < on->n; ++i)
      for (int part = 0; part < 2; ++part) {
        int32_t *const facet = raw->lines + 3 * raw->n_lines;
        const int64_t v = first + i * a + j * b;
        facet[0] = (int32_t)v;
        facet[1] = (int32_t)(v + (part ? b : a));
        facet[2] = (int32_t)(v + a + b);
        raw->line_tags[raw->n_lines++] = tag;
      }
}

kedge_status kg_form_cube(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw)
{
  const int64_t n = args->n, w = n + 1;
  const lattice on = {n, {1, w, w * w}};
  KG_TRY(kg_raw_mesh_alloc(ctx, 3, w * w * w, PARTS * n * n * n, 4, 12 * n * n, raw));
  raw->n_lines = 0;
  put_vertices(ctx, &on, raw);
  put_elements(ctx, &on, raw);
  for (int side = 0; side < 6; ++side)
    put_side(&on, side / 2, side % 2 ? n * on.step[side / 2] : 0, side + 1, raw);
  return kg_form_names(ctx, raw, names, 6);
}
