// A unit square of two regions: two thirds are whole squares, one third is squares in halves, so
// that there are as many quadrilaterals as triangles.
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "core/clock.h"

enum { FIRST_REGION = 1, LAST_REGION = 2 };

/// Columns [first, first + n) of the 3 k columns of squares; those from 2 k on are in halves.
typedef struct part {
  int64_t k, first, n;
} part;

static void put_corners(const kg_raw_mesh *raw, int64_t element, int32_t region,
                        const int64_t corner[4])
{
  for (int l = 0; l < raw->width; ++l) raw->corners[raw->width * element + l] = (int32_t)corner[l];
  raw->regions[element] = region;
}

/// The squares of a column, from element `element` on; returns the one behind them.
static int64_t put_column(const part *p, const kg_raw_mesh *raw, int64_t i, int64_t element)
{
  const int64_t w = p->n + 1;
  for (int64_t j = 0; j < 3 * p->k; ++j) {
    const int64_t a = j * w + i, b = a + 1, c = b + w, d = a + w;
    if (p->first + i < 2 * p->k) {
      put_corners(raw, element++, FIRST_REGION, (int64_t[]){a, b, c, d});
      continue;
    }
    put_corners(raw, element++, LAST_REGION, (int64_t[]){a, b, c, -1});
    put_corners(raw, element++, LAST_REGION, (int64_t[]){a, c, d, -1});
  }
  return element;
}

static kedge_status fill(kedge_context *ctx, const part *p, kg_raw_mesh *raw)
{
  const int64_t rows = 3 * p->k, w = p->n + 1;
  const int64_t wholes = p->first < 2 * p->k ? 2 * p->k : 0, halves = p->n - wholes;
  KG_TRY(kg_raw_mesh_alloc(ctx, 2, w * (rows + 1), rows * (wholes + 2 * halves), wholes ? 4 : 3, 0,
                           raw));
  for (int64_t v = 0; v < raw->n_vertices; ++v) {
    raw->vertices[2 * v] = (double)(p->first + v % w) / (double)rows;
    raw->vertices[2 * v + 1] = (double)(v / w) / (double)rows;
  }
  int64_t element = 0;
  for (int64_t i = 0; i < p->n; ++i) element = put_column(p, raw, i, element);
  KG_TRY(kg_raw_mesh_name(ctx, raw, 2, FIRST_REGION, "squares", strlen("squares")));
  return kg_raw_mesh_name(ctx, raw, 2, LAST_REGION, "halves", strlen("halves"));
}

bool bench_halves_wanted(const char *words)
{
  return strncmp(words, "halves ", 7) == 0;
}

kedge_status bench_halves(kedge_context *ctx, const char *words, kedge_mesh **out)
{
  const double began = kg_seconds();
  int k = 0, read = 0;
  const bool known = sscanf(words, "halves %d%n", &k, &read) == 1 && k >= 1 && k <= 4096;
  const char *const which = words + read;
  const bool squares = strcmp(which, " squares") == 0, triangles = strcmp(which, " triangles") == 0;
  KG_REQUIRE(
      ctx, known && (squares || triangles || !*which), KEDGE_ERR_INPUT,
      "\"%s\" is no mesh: it is \"halves K\", \"halves K squares\" or \"halves K triangles\"",
      words);
  const part p = {k, triangles ? 2 * k : 0, squares ? 2 * k : triangles ? k : 3 * k};
  kg_raw_mesh raw = {0};
  kedge_status status = fill(ctx, &p, &raw);
  if (status == KEDGE_OK) status = kg_mesh_build(ctx, &raw, words, out);
  kg_raw_mesh_free(&raw);
  if (status == KEDGE_OK) (*out)->seconds = kg_seconds() - began;
  return status;
}
