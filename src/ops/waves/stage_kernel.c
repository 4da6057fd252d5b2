#include "ops/waves/stage_kernel.h"

#include <stdio.h>
#include <stdlib.h>

#include "basis/sectors.h"
#include "core/file.h"
#include "core/number.h"
#include "device/backend.h"
#include "device/context.h"
#include "device/cuda_nvrtc.h"

// The text of source files, which CMakeLists.txt makes into strings.
extern const char kg_wave_side_text[], kg_wave_stage_args_text[], kg_wave_stage_node_text[],
    kg_wave_stage_fused_text[];

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

static void put_tables(FILE *out, const kg_law *law, const kg_nodal *nodal,
                       const kg_sectors *sectors)
{
  const int m = nodal->n_facet;
  const int d = nodal->cell->dimension, columns = nodal->cell->n_facets * nodal->n_facet;
  put_list(out, "BEGIN", sectors->n + 1, sectors->begin);
  put_list(out, "SHIFT", d, sectors->shift);
  put_list(out, "FACET_NODE", columns, nodal->facet_node);
  put_integers(out, "ORBIT", sectors->n_orbits, sectors->n, sectors->orbit[0], KG_SECTORS_MAX);
  put_integers(out, "PLACE", sectors->n_orbits, sectors->n, sectors->row[0], KG_SECTORS_MAX);
  fprintf(out, "static __device__ constexpr int COLUMN[%d][%d] = {\n", sectors->n_columns,
          sectors->n);
  for (int c = 0; c < sectors->n_columns; ++c) {  // places of a row [facet][field][node]
    fprintf(out, "{");
    for (int g = 0; g < sectors->n; ++g)
      fprintf(out, "%d,",
              sectors->column[c][g] / m * m * law->n_fields + sectors->column[c][g] % m);
    fprintf(out, "},\n");
  }
  fprintf(out, "};\n");
  put_others(out, nodal, law->n_fields);
  fprintf(out, "static __device__ constexpr kg_real COMBINE[%d][%d] = {", d, d);
  for (int b = 0; b < d; ++b) {
    fprintf(out, "{");
    for (int a = 0; a < d; ++a) put_number(out, sectors->combine[b][a]);
    fprintf(out, "},");
  }
  fprintf(out, "};\n");
  put_numbers(out, "DERIVATIVE", sectors->n_orbits * d * nodal->n, sectors->derivative);
  put_numbers(out, "LIFT", sectors->n_columns * nodal->n, sectors->lift);
}

kedge_status kg_wave_kernel_source(kedge_context *ctx, const kg_law *law, const kg_nodal *nodal,
                                   kg_number number, const kg_wave_tiling *tiling, char **source)
{
  kg_sectors sectors;
  size_t size;
  *source = NULL;
  KG_TRY(kg_sectors_create(ctx, nodal, tiling->splits ? KG_SECTORS_MAX : 1, &sectors));
  FILE *const out = open_memstream(source, &size);
  if (out) {
    fprintf(
        out, KG_NVRTC_FUSED "typedef %s kg_real;\n#define COPIES_AHEAD %d\n%s%s\n%s\n%s%s\n%s\n",
        number == KG_SINGLE ? "float" : "double", tiling->copies_ahead, types, kg_wave_side_text,
        kg_wave_stage_args_text, law->text[0], law->text[1], kg_wave_stage_node_text);
    fprintf(out,
            "enum { NODES = %d, FACETS = %d, FACET_NODES = %d, SECTORS = %d, ORBITS = %d,\n"
            "COLUMN_ORBITS = %d, ELEMENTS = %d, BLOCKS = %d, STRAIGHT = %d, HOLDS = %d,\n"
            "FACET_ROW = FACET_NODES * KG_LAW_FIELDS };\n",
            nodal->n, nodal->cell->n_facets, nodal->n_facet, sectors.n, sectors.n_orbits,
            sectors.n_columns, tiling->elements, tiling->blocks, tiling->straight, tiling->holds);
    put_tables(out, law, nodal, &sectors);
    fputs(kg_wave_stage_fused_text, out);
  }
  kg_sectors_free(&sectors);
  return kg_text_end(ctx, out, "the source of a kernel", source);
}

enum {
  SHARED = 227 << 10,   // of a multiprocessor, and of a block, from sm_90 on
  REGISTERS = 1 << 16,  // of a multiprocessor
  STRAIGHT_MAX = 4000,  // products of a thread, by words: more code does not stay in the caches
};

static size_t shared_bytes(const kg_law *law, const kg_nodal *nodal, size_t real, int elements)
{
  const size_t columns = (size_t)(nodal->cell->n_facets * nodal->n_facet);
  const size_t fields = (size_t)law->n_fields;
  return (size_t)elements * ((fields * (size_t)nodal->n | 1) + (fields * columns | 1)) * real;
}

kg_wave_tiling kg_wave_tiling_of(const kg_law *law, const kg_nodal *nodal, kg_number number,
                                 int elements)
{
  const size_t real = kg_number_bytes(number);
  const int words = (int)(real / sizeof(int32_t));
  const int columns = nodal->cell->n_facets * nodal->n_facet, sectors = law->dimension == 3 ? 4 : 1;
  const int products = nodal->n * (law->dimension * nodal->n + columns) / sectors;
  kg_wave_tiling t = {.elements = elements > 0 ? elements : KG_WAVE_BLOCK,
                      .straight = products * words <= STRAIGHT_MAX,
                      .splits = sectors > 1,
                      .copies_ahead = true};
  // Two blocks at least, since one waits for memory where it begins and ends.
  while (elements == 0 && t.elements > KG_WAVE_BLOCK / 2 &&
         2 * (shared_bytes(law, nodal, real, t.elements) + 1024) > SHARED + 1024)
    t.elements /= 2;
  t.shared = shared_bytes(law, nodal, real, t.elements);
  const int threads = law->n_fields * t.elements;
  t.holds = t.straight && nodal->n * words <= 40;
  // What threads want beside their sums, and what is given out: to pairs of warps, in eights.
  const int needed = 24 + 16 * words + nodal->n * words * (t.holds ? 2 : 1);
  const int given = needed < 255 ? (needed + 7) / 8 * 8 : 256;
  const int by_registers = REGISTERS / ((threads + 63) / 64 * 64 * given);
  const int by_shared = (int)((SHARED + 1024) / (t.shared + 1024));
  t.blocks = by_shared < by_registers ? by_shared : by_registers;
  if (t.blocks < 1) t.blocks = 1;
  if (t.blocks > 32) t.blocks = 32;
  return t;
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
  const kg_wave_tiling tiling = kg_wave_tiling_of(law, nodal, args->number, 0);
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
