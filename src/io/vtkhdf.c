#include "io/vtkhdf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/target.h"

// Values go to the file as they lie in memory.
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "VTKHDF files are little-endian here");

enum {
  MAX_DATASETS = 48,
  BLOCK = 1 << 16,           // entries of the buffer from which the topology is written
  METADATA_BYTES = 1 << 16,  // more than HDF5 adds to the values
};

// The datasets that every file has come first.
enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, COUNTS, FIRST_FIELD = COUNTS + 3 };

/// The writer of a dataset's values: the caller, cells by cells or points by points, or this file.
typedef enum role { ROLE_CELLS, ROLE_POINTS, ROLE_TOPOLOGY, ROLE_NUMBER } role;

/// Shapes of cells, and what VTK calls them: where points are shared, linear ones.
enum { TRIANGLE, QUADRILATERAL, SHAPES };
static const unsigned char linear_type[SHAPES] = {5, 9};      // VTK_TRIANGLE, VTK_QUAD
static const unsigned char lagrange_type[SHAPES] = {69, 70};  // VTK_LAGRANGE_TRIANGLE, ..
static const unsigned char line_type[SHAPES] = {68};          // VTK_LAGRANGE_CURVE, by itself
static const unsigned char space_type[2][SHAPES] = {{71},
                                                    {10}};  // VTK_LAGRANGE_TETRAHEDRON, VTK_TETRA

struct kg_vtkhdf {
  kedge_context *ctx;
  const kg_hdf5 *hdf5;
  kg_target target;
  int descriptor;  ///< of the temporary file
  bool laid_out;
  int order, n_nodes[SHAPES];  ///< of a cell
  int64_t n_cells, n_quadrilaterals, n_points;
  int64_t *first_node;  ///< [cell + 1], counted through all cells; NULL: all are of one shape
  bool shared;          ///< points: numbered and written for themselves, not as those of cells
  const unsigned char *type;  ///< [SHAPES]
  int n_datasets;
  kg_hdf5_dataset datasets[MAX_DATASETS];
  role roles[MAX_DATASETS];
  int64_t written[MAX_DATASETS];  ///< cells, or points
  double numbers[MAX_DATASETS];   ///< values of ROLE_NUMBER
};

/// Nodes of the cells before one; that of the cell behind the last counts all.
static int64_t nodes_before(const kg_vtkhdf *file, int64_t cell)
{
  if (file->first_node) return file->first_node[cell];
  return cell * file->n_nodes[file->n_quadrilaterals > 0 ? QUADRILATERAL : TRIANGLE];
}

static void add_dataset(kg_vtkhdf *file, role r, const char *group, const char *name, kg_item item,
                        int64_t rows, int components)
{
  assert(file->n_datasets < MAX_DATASETS && !file->laid_out);
  file->roles[file->n_datasets] = r;
  kg_hdf5_dataset *d = &file->datasets[file->n_datasets++];
  *d = (kg_hdf5_dataset){.item = item, .rows = rows, .components = components};
  snprintf(d->path, sizeof d->path, "%s/%s", group, name);
}

void kg_vtkhdf_point_field(kg_vtkhdf *file, const char *name, int components)
{
  add_dataset(file, file->shared ? ROLE_POINTS : ROLE_CELLS, "VTKHDF/PointData", name, KG_ITEM_F64,
              file->n_points, components);
}

void kg_vtkhdf_cell_field(kg_vtkhdf *file, const char *name, kg_item item, int components)
{
  add_dataset(file, ROLE_CELLS, "VTKHDF/CellData", name, item, file->n_cells, components);
}

void kg_vtkhdf_number(kg_vtkhdf *file, const char *name, double value)
{
  file->numbers[file->n_datasets] = value;
  add_dataset(file, ROLE_NUMBER, "VTKHDF/FieldData", name, KG_ITEM_F64, 1, 1);
}

static int64_t item_size(kg_item item)
{
  return item == KG_ITEM_U8 ? 1 : item == KG_ITEM_I32 ? 4 : 8;
}

/// Write rows [first, first + rows) of a dataset.
static kedge_status write_rows(kg_vtkhdf *file, int dataset, int64_t first, int64_t rows,
                               const void *values)
{
  const kg_hdf5_dataset *d = &file->datasets[dataset];
  const int64_t row_bytes = item_size(d->item) * d->components;
  return kg_target_write(&file->target, file->descriptor, d->offset + first * row_bytes,
                         rows * row_bytes, values);
}

/// Called by the first write: all fields are known.
static kedge_status lay_out(kg_vtkhdf *file)
{
  if (file->laid_out) return KEDGE_OK;
  int64_t bytes = METADATA_BYTES;
  for (int i = 0; i < file->n_datasets; ++i) {
    const kg_hdf5_dataset *d = &file->datasets[i];
    bytes += d->rows * d->components * item_size(d->item);
  }
  KG_TRY(kg_target_reserve(&file->target, file->descriptor, bytes));
  kg_hdf5_reason why;
  if (!file->hdf5->lay_out(file->target.temporary, file->order, file->datasets, file->n_datasets,
                           &why))
    return kg_target_fail(&file->target, why.text);
  file->laid_out = true;
  struct stat info;
  if (fstat(file->descriptor, &info) != 0) return kg_target_fail(&file->target, strerror(errno));
  KG_TRY(kg_target_reserve(&file->target, file->descriptor,
                           info.st_size));  // HDF5 began with an empty file

  const int64_t counts[FIRST_FIELD - COUNTS] = {file->n_points, file->n_cells,
                                                nodes_before(file, file->n_cells)};
  for (int i = COUNTS; i < FIRST_FIELD; ++i) KG_TRY(write_rows(file, i, 0, 1, &counts[i - COUNTS]));
  for (int i = FIRST_FIELD; i < file->n_datasets; ++i)
    if (file->roles[i] == ROLE_NUMBER) KG_TRY(write_rows(file, i, 0, 1, &file->numbers[i]));
  return KEDGE_OK;
}

/// Count the points or cells that a dataset describes.
static int64_t units(const kg_vtkhdf *file, int dataset)
{
  return file->roles[dataset] == ROLE_POINTS ? file->n_points : file->n_cells;
}

static kedge_status write_units(kg_vtkhdf *file, int dataset, int64_t first, int64_t count,
                                const void *values)
{
  assert(first >= 0 && count >= 0 && count <= units(file, dataset) - first);
  KG_TRY(lay_out(file));
  int64_t begin = first, end = first + count;  // rows
  if (file->datasets[dataset].rows != units(file, dataset)) {
    begin = nodes_before(file, begin);
    end = nodes_before(file, end);
  }
  KG_TRY(write_rows(file, dataset, begin, end - begin, values));
  file->written[dataset] += count;
  return KEDGE_OK;
}

kedge_status kg_vtkhdf_write_points(kg_vtkhdf *file, int64_t first, int64_t count,
                                    const double *xyz)
{
  return write_units(file, POINTS, first, count, xyz);
}

kedge_status kg_vtkhdf_write_corners(kg_vtkhdf *file, int64_t first, int64_t count,
                                     const int32_t *points)
{
  assert(file->shared && first >= 0 && count >= 0 && count <= file->n_cells - first);
  KG_TRY(lay_out(file));
  const int64_t begin = nodes_before(file, first), all = nodes_before(file, first + count) - begin;
  int64_t *block;
  KG_TRY(kg_host_alloc(file->ctx, BLOCK, sizeof *block, &block));
  kedge_status status = KEDGE_OK;
  for (int64_t at = 0; at < all && status == KEDGE_OK; at += BLOCK) {
    const int64_t n = all - at < BLOCK ? all - at : BLOCK;
    for (int64_t i = 0; i < n; ++i) block[i] = points[at + i];
    status = write_rows(file, CONNECTIVITY, begin + at, n, block);
  }
  free(block);
  file->written[CONNECTIVITY] += count;
  return status;
}

kedge_status kg_vtkhdf_write(kg_vtkhdf *file, const char *name, int64_t first, int64_t count,
                             const void *values)
{
  int dataset = FIRST_FIELD;
  while (dataset < file->n_datasets &&
         strcmp(strrchr(file->datasets[dataset].path, '/') + 1, name) != 0)
    ++dataset;
  assert(dataset < file->n_datasets);
  return write_units(file, dataset, first, count, values);
}

/// Write 0, step, 2 step, ... into a dataset of int64.
static kedge_status write_sequence(kg_vtkhdf *file, int dataset, int64_t step, int64_t *block)
{
  const int64_t n = file->datasets[dataset].rows;
  for (int64_t first = 0; first < n; first += BLOCK) {
    const int64_t count = n - first < BLOCK ? n - first : BLOCK;
    for (int64_t i = 0; i < count; ++i) block[i] = (first + i) * step;
    KG_TRY(write_rows(file, dataset, first, count, block));
  }
  return KEDGE_OK;
}

/// Write VTK's types of all cells.
static kedge_status write_types(kg_vtkhdf *file, unsigned char *block)
{
  const unsigned char *const type = file->type;
  const bool all = !file->first_node && file->n_quadrilaterals > 0;
  memset(block, type[all ? QUADRILATERAL : TRIANGLE], BLOCK);
  for (int64_t first = 0; first < file->n_cells; first += BLOCK) {
    const int64_t rest = file->n_cells - first, count = rest < BLOCK ? rest : BLOCK;
    const int64_t *const node = file->first_node ? file->first_node + first : NULL;
    for (int64_t i = 0; node && i < count; ++i)
      block[i] = type[node[i + 1] - node[i] == file->n_nodes[QUADRILATERAL]];
    KG_TRY(write_rows(file, TYPES, first, count, block));
  }
  return KEDGE_OK;
}

/// Write connectivity, offsets and types. Connectivity counts 0, 1, 2, ... unless cells share
/// points.
static kedge_status write_topology(kg_vtkhdf *file)
{
  int64_t *block;
  KG_TRY(kg_host_alloc(file->ctx, BLOCK, sizeof *block, &block));
  kedge_status status = file->shared ? KEDGE_OK : write_sequence(file, CONNECTIVITY, 1, block);
  if (status == KEDGE_OK)
    status = file->first_node ? write_rows(file, OFFSETS, 0, file->n_cells + 1, file->first_node)
                              : write_sequence(file, OFFSETS, nodes_before(file, 1), block);
  if (status == KEDGE_OK) status = write_types(file, (unsigned char *)block);
  free(block);
  return status;
}

static kedge_status check_complete(const kg_vtkhdf *file)
{
  for (int i = 0; i < file->n_datasets; ++i) {
    const bool by_caller = file->roles[i] == ROLE_CELLS || file->roles[i] == ROLE_POINTS;
    KG_REQUIRE(file->ctx, !by_caller || file->written[i] == units(file, i), KEDGE_ERR_INTERNAL,
               "%s of %s was written for %lld of %lld %ss", file->datasets[i].path,
               file->target.path, (long long)file->written[i], (long long)units(file, i),
               file->roles[i] == ROLE_POINTS ? "point" : "cell");
  }
  return KEDGE_OK;
}

static void add_topology(kg_vtkhdf *file)
{
  const int64_t n_cells = file->n_cells;
  add_dataset(file, file->shared ? ROLE_POINTS : ROLE_CELLS, "VTKHDF", "Points", KG_ITEM_F64,
              file->n_points, 3);
  add_dataset(file, file->shared ? ROLE_CELLS : ROLE_TOPOLOGY, "VTKHDF", "Connectivity",
              KG_ITEM_I64, nodes_before(file, n_cells), 1);
  add_dataset(file, ROLE_TOPOLOGY, "VTKHDF", "Offsets", KG_ITEM_I64, n_cells + 1, 1);
  add_dataset(file, ROLE_TOPOLOGY, "VTKHDF", "Types", KG_ITEM_U8, n_cells, 1);
  add_dataset(file, ROLE_TOPOLOGY, "VTKHDF", "NumberOfPoints", KG_ITEM_I64, 1, 1);
  add_dataset(file, ROLE_TOPOLOGY, "VTKHDF", "NumberOfCells", KG_ITEM_I64, 1, 1);
  add_dataset(file, ROLE_TOPOLOGY, "VTKHDF", "NumberOfConnectivityIds", KG_ITEM_I64, 1, 1);
}

/// Open the temporary file, so that a folder that is missing or read-only is reported at once.
static kedge_status open_temporary(kg_vtkhdf *file, const char *path)
{
  KG_TRY(kg_target_open(file->ctx, path, "output", true, &file->target));
  file->descriptor = open(file->target.temporary, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file->descriptor < 0) return kg_target_fail(&file->target, strerror(errno));
  return KEDGE_OK;
}

/// Find where the nodes of each cell begin, if cells differ in their number of nodes.
static kedge_status count_nodes(kg_vtkhdf *file, const kg_vtkhdf_cells *cells)
{
  if (cells->n_quadrilaterals == 0 || cells->n_quadrilaterals == cells->n) return KEDGE_OK;
  KG_TRY(kg_host_alloc(file->ctx, (size_t)cells->n + 1, sizeof(int64_t), &file->first_node));
  file->first_node[0] = 0;
  for (int64_t c = 0; c < cells->n; ++c)
    file->first_node[c + 1] = file->first_node[c] + file->n_nodes[cells->is_quadrilateral[c]];
  return KEDGE_OK;
}

/// A grid of one kind or the other, whose fields are still to be declared.
/// @param[in] n_points  those that are shared, or 0: every cell has its own
static kedge_status create(kedge_context *ctx, const char *path, int order,
                           const kg_vtkhdf_cells *cells, int64_t n_points, kg_vtkhdf **out)
{
  kg_vtkhdf *file;
  *out = NULL;
  assert(order >= 1 && order <= KG_VTKHDF_ORDER_MAX && cells->n > 0);
  KG_TRY(kg_host_alloc(ctx, 1, sizeof *file, &file));
  *file = (kg_vtkhdf){.ctx = ctx,
                      .descriptor = -1,
                      .order = order,
                      .n_nodes = {(order + 1) * (order + 2) / 2, (order + 1) * (order + 1)},
                      .n_cells = cells->n,
                      .n_quadrilaterals = cells->n_quadrilaterals,
                      .shared = n_points > 0,
                      .type = cells->lines        ? line_type
                              : cells->tetrahedra ? space_type[n_points > 0]
                              : n_points > 0      ? linear_type
                                                  : lagrange_type};
  // Where there is one shape alone, it takes the place of the first.
  if (cells->lines) file->n_nodes[TRIANGLE] = order + 1;
  if (cells->tetrahedra) file->n_nodes[TRIANGLE] = (order + 1) * (order + 2) * (order + 3) / 6;
  kedge_status status = kg_output_open(ctx, "writing", &file->hdf5);
  if (status == KEDGE_OK) status = count_nodes(file, cells);
  if (status == KEDGE_OK) {
    file->n_points = n_points > 0 ? n_points : nodes_before(file, cells->n);
    add_topology(file);
    status = open_temporary(file, path);
  }
  if (status == KEDGE_OK)
    *out = file;
  else
    kg_vtkhdf_abandon(file);
  return status;
}

kedge_status kg_vtkhdf_create(kedge_context *ctx, const char *path, int order,
                              const kg_vtkhdf_cells *cells, kg_vtkhdf **out)
{
  return create(ctx, path, order, cells, 0, out);
}

kedge_status kg_vtkhdf_create_shared(kedge_context *ctx, const char *path,
                                     const kg_vtkhdf_cells *cells, int64_t n_points,
                                     kg_vtkhdf **out)
{
  return create(ctx, path, 1, cells, n_points, out);
}

static kedge_status complete(kg_vtkhdf *file)
{
  KG_TRY(check_complete(file));
  KG_TRY(write_topology(file));
  const int closed = close(file->descriptor);
  file->descriptor = -1;
  if (closed != 0) return kg_target_fail(&file->target, strerror(errno));
  return kg_target_commit(&file->target);
}

kedge_status kg_vtkhdf_finish(kg_vtkhdf *file)
{
  const kedge_status status = complete(file);
  kg_vtkhdf_abandon(file);  // after the renaming there is no temporary file left to remove
  return status;
}

void kg_vtkhdf_abandon(kg_vtkhdf *file)
{
  if (file == NULL) return;
  if (file->descriptor >= 0) close(file->descriptor);
  kg_target_close(&file->target);
  free(file->first_node);
  free(file);
}
