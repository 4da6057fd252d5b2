#include "core/target.h"
#include "io/json.h"
#include "kedge/march.h"

typedef struct list {
  int64_t n;
  const char *const *names;
  const double *times;
} list;

static void put(FILE *stream, void *user)
{
  const list *const l = user;
  kg_json json = {.stream = stream};
  kg_json_object(&json, NULL);
  kg_json_string(&json, "file-series-version", "1.0");
  kg_json_array(&json, "files");
  for (int64_t i = 0; i < l->n; ++i) {
    kg_json_object(&json, NULL);
    kg_json_string(&json, "name", l->names[i]);
    kg_json_number(&json, "time", l->times[i]);
    kg_json_close(&json);
  }
  kg_json_close(&json);
  kg_json_close(&json);
}

kedge_status kedge_series_write(kedge_context *ctx, const char *path, int64_t n,
                                const char *const *names, const double *times)
{
  KG_REQUIRE(ctx, path && n >= 0 && (n == 0 || (names && times)), KEDGE_ERR_ARG,
             "kedge_series_write: path, names or times is NULL, or n is negative");
  list l = {n, names, times};
  return kg_target_stream_passing(ctx, path, "list of outputs", put, &l);
}
