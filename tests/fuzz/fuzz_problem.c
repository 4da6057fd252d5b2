// Any bytes as a problem file, with an override and a later call on top. What is taken meets a
// small mesh of two regions: nodes are moved, conditions and coefficients matched.
#include <stdlib.h>
#include <string.h>

#include "device/context.h"
#include "mesh/mesh.h"
#include "problem/problem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/// A square in two triangles, of the regions 1 and 2, with boundary groups 1 to 3 and "left".
static kedge_mesh *make_mesh(void)
{
  static const double vertices[] = {0, 0, 1, 0, 1, 1, 0, 1};
  static const int32_t triangles[] = {0, 1, 2, 0, 2, 3}, regions[] = {1, 2};
  static const int32_t lines[] = {0, 1, 1, 2, 2, 3, 3, 0}, tags[] = {1, 2, 3, 4}, named[] = {4};
  static const char *const names[] = {"left"};
  const kedge_mesh_arrays arrays = {.n_vertices = 4,
                                    .vertices = vertices,
                                    .n_triangles = 2,
                                    .triangles = triangles,
                                    .regions = regions,
                                    .n_lines = 4,
                                    .lines = lines,
                                    .line_tags = tags,
                                    .n_names = 1,
                                    .name_tags = named,
                                    .names = names};
  struct kedge_context ctx = {.threads = 1};
  kedge_mesh *mesh;
  if (kedge_mesh_create(&ctx, &arrays, &mesh) != KEDGE_OK) abort();
  return mesh;
}

static void check_sentence(const char *sentence)
{
  if (sentence[0] == '\0') abort();
}

static void meet(const kedge_problem *problem, const kedge_mesh *mesh)
{
  struct kedge_context ctx = {.threads = 1};
  kedge_mesh *moved = NULL;
  kg_resolved resolved;
  const bool moves = problem->map[0].kind != KG_FUNCTION_NONE;
  if (moves && kg_mesh_map(&ctx, mesh, problem->geometry, &problem->map[0], &problem->map[1],
                           &moved) != KEDGE_OK)
    check_sentence(ctx.error);
  if (kg_problem_resolve(&ctx, problem, moved ? moved : mesh, &resolved) == KEDGE_OK)
    kg_resolved_free(&resolved);
  else
    check_sentence(ctx.error);
  kedge_mesh_destroy(moved);
}

/// What came from a file is written as a file that gives it back.
static void write_and_read(const kedge_problem *problem)
{
  const kg_settings *const before = &problem->settings;
  kg_settings after = {0}, sections = {0};
  char *text;
  size_t bytes;
  if (kg_settings_text(before, &text, &bytes) != KEDGE_OK) abort();
  if (kg_settings_read(&after, &sections, text, bytes) != KEDGE_OK) abort();
  if (after.n != before->n) abort();
  for (int i = 0; i < after.n; ++i) {
    const kg_setting *const s = &before->items[i];
    const kg_setting *const same = kg_settings_find(&after, s->section, s->key);
    if (!same || !s->value != !same->value || (s->value && strcmp(s->value, same->value) != 0))
      abort();
  }
  kg_settings_free(&after);
  kg_settings_free(&sections);
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  static const char *const overrides[] = {"space.order=3"};
  static kedge_mesh *mesh;
  if (!mesh) mesh = make_mesh();
  kedge_problem *problem;
  char *text = malloc(size ? size : 1);  // exactly: nothing may be read behind it
  if (text == NULL) return 0;
  if (size > 0) memcpy(text, data, size);
  const int n_overrides = size % 2 == 0 ? 1 : 0;
  const kedge_status status =
      kg_problem_parse(NULL, "fuzz.ini", text, size, overrides, n_overrides, &problem);
  if (status == KEDGE_OK) {
    const double x = 0.25, y = 0.75, region = 1.0;
    const kedge_points at = {.n = 1, .x = &x, .y = &y, .region = &region};
    double value;
    kg_function_evaluate(&problem->equation.source, &at, &value);
    write_and_read(problem);
    meet(problem, mesh);
    if (kedge_problem_set(problem, "space", "order", "2") != KEDGE_OK) abort();
    kedge_problem_destroy(problem);
  } else {
    check_sentence(kedge_context_error(NULL));
  }
  free(text);
  return 0;
}
