#include "ops/waves/stage_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basis/sectors.h"
#include "core/file.h"
#include "core/number.h"
#include "device/backend.h"
#include "device/context.h"
#include "device/cuda_nvrtc.h"

// The text of source files, which CMakeLists.txt makes into strings.
extern const char kg_wave_side_text[], kg_wave_stage_args_text[], kg_wave_stage_node_text[],
    kg_wave_stage_fused_text[], kg_wave_stage_straight_text[], kg_wave_stage_loops_text[];

/// What the files need of others. Copies to shared memory are of single numbers.
static const char types[] =
    "typedef signed int int32_t;\n"
    "typedef unsigned int uint32_t;\n"
    "typedef signed long int64_t;\n"
    "typedef int kg_number;\n"
    "#undef UINT32_MAX\n"
    "#define UINT32_MAX 0xffffffffu\n"
    "#define KG_INLINE static constexpr __host__ __device__ __forceinline__\n"
    "#ifdef __CUDACC_RTC__\n"
    "#define KG_SHARED(type, name) extern __shared__ type name[]\n"
    "__device__ __forceinline__ void copy_async(kg_real *to, const kg_real *from)\n"
    "{\n"
    "#if __CUDA_ARCH__ >= 800 && COPIES_AHEAD\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\" ::\"r\"(\n"
    "                   (uint32_t)__cvta_generic_to_shared(to)),\n"
    "               \"l\"(from), \"n\"(sizeof(kg_real)) : \"memory\");\n"
    "#else\n"
    "  *to = *from;\n"
    "#endif\n"
    "}\n"
    "__device__ __forceinline__ void copies_commit()\n"
    "{\n"
    "#if __CUDA_ARCH__ >= 800 && COPIES_AHEAD\n"
    "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n"
    "#endif\n"
    "}\n"
    "template <int LEFT>\n"
    "__device__ __forceinline__ void copies_wait()\n"
    "{\n"
    "#if __CUDA_ARCH__ >= 800 && COPIES_AHEAD\n"
    "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(LEFT) : \"memory\");\n"
    "#endif\n"
    "}\n"
    "__device__ __forceinline__ void prefetch(const void *from, uint32_t bytes)\n"
    "{\n"
    "#if __CUDA_ARCH__ >= 900 && COPIES_AHEAD\n"
    "  asm volatile(\"cp.async.bulk.prefetch.L2.global [%0], %1;\" ::\"l\"(from), \"r\"(bytes)\n"
    "               : \"memory\");\n"
    "#endif\n"
    "}\n"
    "#endif\n";

static void put_integers(FILE *out, const char *name, int rows, int columns, const int32_t *value,
                         int stride)
{
  fprintf(out, "static __device__ constexpr int %s[%d][%d] = {\n", name, rows, columns);
  for (int i = 0; i < rows; ++i) {
    fprintf(out, "{");
    for (int k = 0; k < columns; ++k) fprintf(out, "%d,", value[i * stride + k]);
    fprintf(out, "},\n");
  }
  fprintf(out, "};\n");
}

static void put_list(FILE *out, const char *name, int n, const int32_t *value)
{
  fprintf(out, "static __device__ constexpr int %s[%d] = {", name, n);
  for (int i = 0; i < n; ++i) fprintf(out, "%d,", value[i]);
  fprintf(out, "};\n");
}

static void put_number(FILE *out, double value)
{
  char text[32];
  kg_number_print(text, value);
  fprintf(out, "(kg_real)%s,", text);
}

static void put_numbers(FILE *out, const char *name, int n, const double *value)
{
  fprintf(out, "static __device__ constexpr kg_real %s[%d] = {\n", name, n);
  for (int i = 0; i < n; ++i) {
    put_number(out, value[i]);
    fputc('\n', out);
  }
  fprintf(out, "};\n");
}

/// Where a neighbour has the values at the nodes of each of its facets, as this side has them: in
/// the plane they run against each other. The last row is for values that lie as this side has
/// them.
static void put_others(FILE *out, const kg_nodal *nodal, int fields)
{
  const int m = nodal->n_facet;
  fprintf(out, "static __device__ constexpr int OTHER[FACETS + 1][FACET_ROW] = {\n");
  for (int l = 0; l < nodal->cell->n_facets; ++l) {
    fprintf(out, "{");
    for (int f = 0; f < fields; ++f)
      for (int j = 0; j < m; ++j) {
        const int k = nodal->cell->dimension == 2 ? m - 1 - j : j;
        fprintf(out, "%d,", f * nodal->n + nodal->facet_node[l * m + k]);
      }
    fprintf(out, "},\n");
  }
  fprintf(out, "{");
  for (int j = 0; j < m; ++j) fprintf(out, "%d,", j);
  fprintf(out, "}\n");
  fprintf(out, "};\n");
}

/// Nodes of all facets of an element, at most.
enum { COLUMNS_MAX = 4 * (KG_NODAL_ORDER_MAX + 1) * (KG_NODAL_ORDER_MAX + 2) / 2 };

/// The places of columns in a row [facet][field][node].
static void place_columns(const kg_law *law, const kg_nodal *nodal, const kg_sectors *sectors,
                          int32_t (*place)[KG_SECTORS_MAX])
{
  const int m = nodal->n_facet;
  for (int c = 0; c < sectors->n_columns; ++c)
    for (int g = 0; g < sectors->n; ++g) {
      const int column = sectors->column[c][g];
      place[c][g] = column / m * m * law->n_fields + column % m;
    }
}

/// What both kernels read.
static void put_tables(FILE *out, const kg_law *law, const kg_nodal *nodal,
                       const kg_sectors *sectors, const int32_t (*column)[KG_SECTORS_MAX])
{
  const int d = nodal->cell->dimension, columns = nodal->cell->n_facets * nodal->n_facet;
  put_list(out, "SHIFT", d, sectors->shift);
  put_list(out, "FACET_NODE", columns, nodal->facet_node);
  put_integers(out, "ORBIT", sectors->n_orbits, sectors->n, sectors->orbit[0], KG_SECTORS_MAX);
  put_integers(out, "COLUMN", sectors->n_columns, sectors->n, column[0], KG_SECTORS_MAX);
  put_others(out, nodal, law->n_fields);
  fprintf(out, "static __device__ constexpr kg_real COMBINE[%d][%d] = {", d, d);
  for (int b = 0; b < d; ++b) {
    fprintf(out, "{");
    for (int a = 0; a < d; ++a) put_number(out, sectors->combine[b][a]);
    fprintf(out, "},");
  }
  fprintf(out, "};\n");
}

/// What stage_straight.cuh alone reads.
static void put_matrices(FILE *out, const kg_nodal *nodal, const kg_sectors *sectors)
{
  put_list(out, "BEGIN", sectors->n + 1, sectors->begin);
  put_integers(out, "PLACE", sectors->n_orbits, sectors->n, sectors->row[0], KG_SECTORS_MAX);
  put_numbers(out, "DERIVATIVE", sectors->n_orbits * nodal->cell->dimension * nodal->n,
              sectors->derivative);
  put_numbers(out, "LIFT", sectors->n_columns * nodal->n, sectors->lift);
}

/// Where the values of each sector lie in a row, one sector behind the other: NAME_SLOT of them,
/// and NAME_BEGIN of the sectors. Behind the last is one that is read and not used.
static void put_slots(FILE *out, const char *name, int sectors, int orbits,
                      const int32_t (*orbit)[KG_SECTORS_MAX],
                      const int32_t (*place)[KG_SECTORS_MAX])
{
  int32_t begin[KG_SECTORS_MAX + 1] = {0};
  fprintf(out, "static __device__ constexpr int %s_SLOT[] = {", name);
  for (int s = 0; s < sectors; ++s) {
    begin[s + 1] = begin[s];
    for (int o = 0; o < orbits; ++o) {
      if (!kg_sector_has_part(orbit[o], s)) continue;
      fprintf(out, "%d,", place[o][s]);
      ++begin[s + 1];
    }
  }
  fprintf(out, "0};\nstatic __device__ constexpr int %s_BEGIN[] = {", name);
  for (int s = 0; s <= sectors; ++s) fprintf(out, "%d,", begin[s]);
  fprintf(out, "};\n");
}

static void put_row(FILE *out, const double *from, int count, int width)
{
  for (int p = 0; p < width; ++p) put_number(out, p < count ? from[p] : 0.0);
  fputc('\n', out);
}

/// The rows of a part of a sector, in the order of slots. @return how many
static int put_part(FILE *out, const kg_nodal *nodal, const kg_sectors *sectors, int sector,
                    int first, int count, int width)
{
  const int d = nodal->cell->dimension, n = nodal->n;
  int rows = 0;
  for (int b = 0; b < d; ++b)
    for (int o = 0; o < sectors->n_orbits; ++o) {
      if (!kg_sector_has_part(sectors->orbit[o], sector ^ sectors->shift[b])) continue;
      put_row(out, sectors->derivative + (o * d + b) * n + first, count, width);
      ++rows;
    }
  for (int c = 0; c < sectors->n_columns; ++c) {
    if (!kg_sector_has_part(sectors->column[c], sector)) continue;
    put_row(out, sectors->lift + c * n + first, count, width);
    ++rows;
  }
  return rows;
}

/// The parts of sectors, and their table, with a row behind its last that is read and not used.
static void put_parts(FILE *out, const kg_nodal *nodal, const kg_sectors *sectors, int places,
                      int width)
{
  int32_t part[KG_NODAL_MAX][3];  // sector, first place, first row
  int parts = 0, rows = 0;
  fprintf(out, "alignas(16) static __device__ constexpr kg_real TABLE[] = {\n");
  for (int s = 0; s < sectors->n; ++s)
    for (int first = sectors->begin[s]; first < sectors->begin[s + 1]; first += places) {
      const int left = sectors->begin[s + 1] - first;
      memcpy(part[parts++], (int32_t[]){s, first, rows}, sizeof *part);
      rows += put_part(out, nodal, sectors, s, first, left < places ? left : places, width);
    }
  put_row(out, NULL, 0, width);
  fprintf(out, "};\n");
  put_integers(out, "PART", parts, 3, part[0], 3);
  fprintf(out, "enum { PARTS = %d };\n", parts);
}

/// What stage_loops.cuh alone reads.
/// @param[in] step  numbers of 16 bytes, at multiples of which rows of the table begin
static void put_loops(FILE *out, const kg_nodal *nodal, const kg_sectors *sectors,
                      const int32_t (*column)[KG_SECTORS_MAX], const kg_wave_tiling *tiling,
                      int step)
{
  const int width = (tiling->places + step - 1) / step * step;
  put_slots(out, "NODE", sectors->n, sectors->n_orbits, sectors->orbit, sectors->orbit);
  put_slots(out, "COLUMN", sectors->n, sectors->n_columns, sectors->column, column);
  put_parts(out, nodal, sectors, tiling->places, width);
  fprintf(out, "enum { PLACES = %d, WIDTH = %d };\n", tiling->places, width);
}

kedge_status kg_wave_kernel_source(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                   kg_number number, const kg_wave_tiling *tiling, char **source)
{
  kg_sectors sectors;
  int32_t column[COLUMNS_MAX][KG_SECTORS_MAX];
  size_t size;
  *source = NULL;
  KG_TRY(kg_sectors_create(ctx, nodal, tiling->splits ? KG_SECTORS_MAX : 1, &sectors));
  place_columns(law, nodal, &sectors, column);
  FILE *const out = open_memstream(source, &size);
  if (out) {
    fprintf(
        out, KG_NVRTC_FUSED "typedef %s kg_real;\n#define COPIES_AHEAD %d\n%s%s\n%s\n%s%s\n%s\n",
        number == KG_SINGLE ? "float" : "double", tiling->copies_ahead, types, kg_wave_side_text,
        kg_wave_stage_args_text, law->text[0], law->text[1], kg_wave_stage_node_text);
    fprintf(out,
            "enum { NODES = %d, FACETS = %d, FACET_NODES = %d, SECTORS = %d, ORBITS = %d,\n"
            "COLUMN_ORBITS = %d, ELEMENTS = %d, THREADS = %d, BLOCKS = %d, HOLDS = %d,\n"
            "FACET_ROW = FACET_NODES * KG_LAW_FIELDS };\n",
            nodal->n, nodal->cell->n_facets, nodal->n_facet, sectors.n, sectors.n_orbits,
            sectors.n_columns, tiling->elements, tiling->threads, tiling->blocks, tiling->holds);
    put_tables(out, law, nodal, &sectors, column);
    if (tiling->straight)
      put_matrices(out, nodal, &sectors);
    else
      put_loops(out, nodal, &sectors, column, tiling, 16 / (int)kg_number_bytes(number));
    fputs(kg_wave_stage_fused_text, out);
    fputs(tiling->straight ? kg_wave_stage_straight_text : kg_wave_stage_loops_text, out);
  }
  kg_sectors_free(&sectors);
  return kg_text_end(ctx, out, "the source of a kernel", source);
}

kedge_status kg_wave_kernel_find(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                 kg_wave_args *args, char text[KG_WAVE_KERNEL_TEXT])
{
  static kedge_status (*const create)(kedge_context *, const kg_law *, const kg_nodal *, kg_number,
                                      const kg_wave_tiling *, kg_wave_kernel **) =
      KG_IF_CUDA(kg_wave_kernel_create);
  static int (*const block)(const kg_wave_kernel *) = KG_IF_CUDA(kg_wave_kernel_block);
  args->kernel = NULL;
  args->block = 0;
  snprintf(text, KG_WAVE_KERNEL_TEXT, "host");
  if (ctx->backend != KEDGE_BACKEND_CUDA) return KEDGE_OK;
  const kg_wave_tiling tiling = kg_wave_tiling_of(law, nodal, args->number);
  const kedge_status status = create(ctx, law, nodal, args->number, &tiling, &args->kernel);
  if (status == KEDGE_OK) {
    args->block = block(args->kernel);
    snprintf(text, KG_WAVE_KERNEL_TEXT, "compiled");
    return KEDGE_OK;
  }
  if (status != KEDGE_ERR_UNSUPPORTED && status != KEDGE_ERR_INTERNAL) return status;
  snprintf(text, KG_WAVE_KERNEL_TEXT, "plain: %s", ctx->error);
  ctx->error[0] = '\0';
  return KEDGE_OK;
}

void kg_wave_kernel_drop(kg_wave_kernel *kernel)
{
  static void (*const release)(kg_wave_kernel *) = KG_IF_CUDA(kg_wave_kernel_free);
  if (kernel) release(kernel);
}
