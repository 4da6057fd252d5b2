// The file of a state. Its cells are in the caller's order, the elements of a run are not: those
// that follow each other in both are written at once, and they are many, as meshes and the curve
// along which elements lie both keep near what is near.
#include <stdlib.h>

#include "core/memory.h"
#include "core/writable.h"
#include "device/context.h"
#include "device/loop.h"
#include "io/vtkhdf.h"
#include "mesh/radix.h"
#include "waves/waves.h"

/// Work of one writer, which goes from run to run.
typedef struct writer {
  kg_waves *w;
  kg_wave_look look;
  kg_vtkhdf *file;
  kg_pair *cell;   ///< [cell of the run], ascending: its number in the file, its element
  double *values;  ///< [cell of the run][node][3]
} writer;

static kedge_status sort_cells(writer *o)
{
  const kg_wave_look *const l = &o->look;
  for (int32_t i = 0; i < l->n; ++i) {
    const int32_t e = l->first + i;
    o->cell[i] = (kg_pair){(uint64_t)o->w->mesh->element_origin[e], e};
  }
  return kg_radix_sort(o->w->ctx, &o->cell, (size_t)l->n, 32);
}

/// Write what cells of the run have. @param[in] name  of a field; NULL: it is their points
static kedge_status put(const writer *o, const char *name, const void *values, size_t bytes)
{
  for (int32_t i = 0, n; i < o->look.n; i += n) {
    const int64_t first = (int64_t)o->cell[i].key;
    const void *const from = (const char *)values + (size_t)i * bytes;
    for (n = 1; i + n < o->look.n && (int64_t)o->cell[i + n].key == first + n;) ++n;
    KG_TRY(name ? kg_vtkhdf_write(o->file, name, first, n, from)
                : kg_vtkhdf_write_points(o->file, first, n, from));
  }
  return KEDGE_OK;
}

static kedge_status put_points(const writer *o)
{
  const int n = o->look.n_points;
#pragma omp parallel for schedule(static) num_threads(kg_loop_threads(o->w->ctx, o->look.n, 16 * n))
  for (int32_t i = 0; i < o->look.n; ++i) {
    double *const xyz = o->values + (ptrdiff_t)3 * n * i;
    kg_waves_look_places(&o->look, (int32_t)o->cell[i].value, 3, xyz);
    for (int q = 0; !kg_mesh_in_space(o->w->mesh) && q < n; ++q) xyz[3 * q + 2] = 0.0;
  }
  return put(o, NULL, o->values, (size_t)(3 * n) * sizeof *o->values);
}

static kedge_status put_field(const writer *o, int f)
{
  const int n = o->look.n_points;
#pragma omp parallel for schedule(static) \
    num_threads(kg_loop_threads(o->w->ctx, o->look.n, (int64_t)n * o->w->nodal.n))
  for (int32_t i = 0; i < o->look.n; ++i)
    kg_waves_look_values(&o->look, (int32_t)o->cell[i].value, f, o->values + (ptrdiff_t)n * i);
  return put(o, o->w->law->fields[f], o->values, (size_t)n * sizeof *o->values);
}

static kedge_status put_regions(const writer *o)
{
  int32_t *const region = (int32_t *)(void *)o->values;
  for (int32_t i = 0; i < o->look.n; ++i) region[i] = o->w->mesh->element_region[o->cell[i].value];
  return put(o, "region", region, sizeof *region);
}

static kedge_status write_all(writer *o, double t)
{
  const kg_waves *const w = o->w;
  for (int f = 0; f < w->law->n_fields; ++f) kg_vtkhdf_point_field(o->file, w->law->fields[f], 1);
  kg_vtkhdf_cell_field(o->file, "region", KG_ITEM_I32, 1);
  kg_vtkhdf_number(o->file, "order", w->nodal.order);
  kg_vtkhdf_number(o->file, "t", t);
  for (int32_t first = 0; first < w->mesh->n_elements; first += KG_WAVE_RUN) {
    KG_TRY(kg_waves_look_at(&o->look, first));
    KG_TRY(sort_cells(o));
    KG_TRY(put_points(o));
    for (int f = 0; f < w->law->n_fields; ++f) KG_TRY(put_field(o, f));
    KG_TRY(put_regions(o));
  }
  return KEDGE_OK;
}

static kedge_status begin(kg_waves *w, writer *o)
{
  const size_t cells = (size_t)kg_waves_run(w);
  KG_TRY(kg_waves_look(w, &o->look));
  KG_TRY(kg_waves_look_nodes(&o->look, w->nodal.order));
  KG_TRY(
      kg_host_alloc(w->ctx, 3 * cells * (size_t)o->look.n_points, sizeof *o->values, &o->values));
  return kg_host_alloc(w->ctx, cells, sizeof *o->cell, &o->cell);
}

kedge_status kg_waves_write(kg_waves *w, double t, const char *path)
{
  const int order = w->nodal.order;
  const kg_vtkhdf_cells cells = {.n = w->mesh->n_elements, .tetrahedra = kg_mesh_in_space(w->mesh)};
  kg_writable to = {.path = path, .what = "output"};
  writer o = {.w = w};
  KG_REQUIRE(w->ctx, kg_writable_named(&to, ".vtkhdf", ".hdf"), KEDGE_ERR_ARG, "%s", to.sentence);
  kedge_status status = begin(w, &o);
  if (status == KEDGE_OK) status = kg_vtkhdf_create(w->ctx, path, order, &cells, &o.file);
  if (status == KEDGE_OK) status = write_all(&o, t);
  if (status == KEDGE_OK)
    status = kg_vtkhdf_finish(o.file);
  else
    kg_vtkhdf_abandon(o.file);
  kg_waves_look_free(&o.look);
  free(o.values);
  free(o.cell);
  return status;
}
