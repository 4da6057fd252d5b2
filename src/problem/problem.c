#include "problem/problem.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/memory.h"
#include "core/text.h"
#include "mesh/mesh.h"
#include "problem/keys.h"

static const kedge_problem defaults = {
    .order = KEDGE_ORDER_MIN,
    .stabilization_scaling = KEDGE_SCALING_ONE,
    .equation = {.n_diffusion = 1,
                 .diffusion = {{.kind = KG_FUNCTION_CONSTANT, .constant = 1.0}},
                 .reaction = {.kind = KG_FUNCTION_CONSTANT},
                 .mass = {.kind = KG_FUNCTION_CONSTANT, .constant = 1.0}},
    .operator_kind = KEDGE_OPERATOR_MATRIX_FREE,
    .preconditioner = KEDGE_PRECONDITIONER_AUTO,
    .smoother = KEDGE_SMOOTHER_AUTO,
    .precision = KEDGE_PRECISION_DOUBLE,
    .tolerance = KG_TOLERANCE_AUTO,
    .accepts_rounding = true,
    .max_iterations = 100000,
    .time = {.scheme = KG_SCHEME_TRBDF2},
    .wave = {.upwind = 1.0, .cfl = 1.0, .single = true},
};

/// Free what a problem points to.
static void clear(kedge_problem *p)
{
  free(p->mesh_file);
  free(p->mesh_generate);
  free(p->output);
  free(p->boundary_output);
  for (int i = 0; i < p->n_probes; ++i) kg_probe_free(&p->probes[i]);
  free(p->probes);
  for (int k = 0; k < 3; ++k) kg_expression_free(p->map[k].expression);
  kg_coefficients_free(&p->equation);
  for (int i = 0; i < p->n_regions; ++i) kg_coefficients_free(&p->regions[i]);
  free(p->regions);
  kg_expression_free(p->exact_u.expression);
  kg_expression_free(p->exact_dx.expression);
  kg_expression_free(p->exact_dy.expression);
  kg_expression_free(p->exact_dz.expression);
  for (int i = 0; i < p->n_boundaries; ++i) {
    free(p->boundaries[i].group);
    kg_expression_free(p->boundaries[i].value.expression);
    kg_expression_free(p->boundaries[i].coefficient.expression);
    kg_wave_values_free(&p->boundaries[i].wave);
  }
  free(p->boundaries);
  for (int i = 0; i < p->n_integrals; ++i) {
    free(p->integrals[i].name);
    free(p->integrals[i].on);
    kg_expression_free(p->integrals[i].of);
  }
  free(p->integrals);
  kg_expression_free(p->initial.expression);
  kg_wave_values_free(&p->wave.initial);
  kg_wave_values_free(&p->wave.exact);
  free(p->time.events);
  free(p->time.outputs);
  free(p->parameters);
  kg_settings_free(&p->settings);
  *p = (kedge_problem){0};
}

/// Read a problem anew from settings, which it takes over; unchanged when that fails. The settings
/// are used up in any case.
static kedge_status renew(kedge_problem *problem, kg_settings *settings)
{
  kedge_problem next = defaults;
  next.ctx = settings->ctx;
  next.path = settings->name;
  next.version = problem->version + 1;
  next.t = problem->t;
  const kedge_status status = kg_settings_apply(settings, &next);
  next.settings = *settings;
  *settings = (kg_settings){0};
  if (status != KEDGE_OK) {
    clear(&next);
    return status;
  }
  clear(problem);
  *problem = next;
  kg_problem_set_time(problem, next.t);
  return KEDGE_OK;
}

kedge_status kedge_problem_create(kedge_context *ctx, kedge_problem **out)
{
  KG_REQUIRE(ctx, out != NULL, KEDGE_ERR_ARG, "kedge_problem_create: out is NULL");
  KG_TRY(kg_host_calloc(ctx, 1, sizeof **out, out));
  **out = defaults;
  (*out)->ctx = (*out)->settings.ctx = ctx;
  return KEDGE_OK;
}

void kedge_problem_destroy(kedge_problem *problem)
{
  if (problem == NULL) return;
  clear(problem);
  free(problem);
}

/// A file has no second call in which a type, or an expression, could follow.
/// @param[in] places  settings, or the sections of the file
static kedge_status check_types(const kedge_problem *p, const kg_settings *places)
{
  char list[120];
  for (int i = 0; i < places->n; ++i) {
    const kg_setting *s = &places->items[i];
    if (kg_section_group(s->section, "boundary") &&
        kg_settings_find(&p->settings, s->section, "type") == NULL)
      return kg_setting_fail(&p->settings, s, "[%s] has no type; add type = %s", s->section,
                             kg_boundary_types(&p->settings, list));
    if (kg_section_group(s->section, "integral") &&
        kg_settings_find(&p->settings, s->section, "of") == NULL)
      return kg_setting_fail(&p->settings, s, "[%s] has no expression; add of = u, for example",
                             s->section);
  }
  return KEDGE_OK;
}

/// Files that are handed over by mistake.
static kedge_status refuse_other_file(kedge_context *ctx, const char *name, const char *text,
                                      size_t bytes)
{
  static const char mesh_mark[] = "$MeshFormat", hdf5_mark[] = "\x89HDF";
  const size_t length = strlen(name);
  const bool is_mesh = bytes > strlen(mesh_mark) && memcmp(text, mesh_mark, strlen(mesh_mark)) == 0;
  KG_REQUIRE(ctx, !is_mesh, KEDGE_ERR_INPUT,
             "%s is a Gmsh mesh; a problem file is expected, which names the mesh in [mesh] file",
             name);
  const bool is_geometry = length > 4 && strcmp(name + length - 4, ".geo") == 0;
  KG_REQUIRE(ctx, !is_geometry, KEDGE_ERR_INPUT,
             "%s is a Gmsh geometry; mesh it with: gmsh -2 %s, and solve a problem file that names "
             "the mesh in [mesh] file",
             name, name);
  const bool is_hdf5 = bytes > strlen(hdf5_mark) && memcmp(text, hdf5_mark, strlen(hdf5_mark)) == 0;
  KG_REQUIRE(ctx, !is_hdf5, KEDGE_ERR_INPUT,
             "%s is an HDF5 file, as outputs are; a problem file is expected", name);
  return KEDGE_OK;
}

kedge_status kg_problem_parse(kedge_context *ctx, const char *name, const char *text, size_t bytes,
                              const char *const *overrides, int n_overrides, kedge_problem **out)
{
  kedge_problem *problem = NULL;
  kg_settings settings = {.ctx = ctx}, sections = {.ctx = ctx};
  *out = NULL;
  KG_TRY(refuse_other_file(ctx, name, text, bytes));
  kedge_status status = kg_copy_text(ctx, name, strlen(name), &settings.name);
  if (status == KEDGE_OK) status = kg_settings_read(&settings, &sections, text, bytes);
  for (int i = 0; i < n_overrides && status == KEDGE_OK; ++i)
    status = kg_settings_override(&settings, overrides[i]);
  if (status == KEDGE_OK) status = kedge_problem_create(ctx, &problem);
  if (status == KEDGE_OK) status = renew(problem, &settings);
  if (status == KEDGE_OK) status = kg_settings_check_parameters(&problem->settings);
  if (status == KEDGE_OK) status = kg_problem_check_time(ctx, problem);
  if (status == KEDGE_OK) status = check_types(problem, &problem->settings);
  if (status == KEDGE_OK) status = check_types(problem, &sections);
  if (status == KEDGE_OK) status = kg_probes_check_file(problem, &problem->settings);
  if (status == KEDGE_OK) status = kg_probes_check_file(problem, &sections);
  kg_settings_free(&sections);
  kg_settings_free(&settings);
  if (status != KEDGE_OK) kedge_problem_destroy(problem), problem = NULL;
  *out = problem;
  return status;
}

kedge_status kedge_problem_read(kedge_context *ctx, const char *path, const char *const *overrides,
                                int n_overrides, kedge_problem **out)
{
  KG_REQUIRE(ctx, out != NULL && path != NULL && (overrides != NULL || n_overrides <= 0),
             KEDGE_ERR_ARG, "kedge_problem_read: path, overrides or out is NULL");
  *out = NULL;
  for (int i = 0; i < n_overrides; ++i)
    KG_REQUIRE(ctx, overrides[i] != NULL, KEDGE_ERR_ARG,
               "kedge_problem_read: overrides[%d] is NULL", i);
  char *text;
  size_t bytes;
  KG_TRY(kg_file_read(ctx, path, &text, &bytes));
  const kedge_status status = kg_problem_parse(ctx, path, text, bytes, overrides, n_overrides, out);
  free(text);
  return status;
}

kedge_status kg_problem_set_all(kedge_problem *problem, const kg_setting *list, int n)
{
  kg_settings settings;
  KG_TRY(kg_settings_copy(&problem->settings, &settings));
  kedge_status status = KEDGE_OK;
  for (int i = 0; i < n && status == KEDGE_OK; ++i)
    status = kg_settings_replace(&settings, &list[i]);
  if (status == KEDGE_OK) status = renew(problem, &settings);
  kg_settings_free(&settings);
  return status;
}

kedge_status kg_problem_clone(const kedge_problem *problem, kedge_problem **copy)
{
  kg_settings settings;
  kedge_problem *made = *copy;
  KG_TRY(kg_settings_copy(&problem->settings, &settings));
  kedge_status status = made ? KEDGE_OK : kedge_problem_create(problem->ctx, &made);
  if (status == KEDGE_OK) status = renew(made, &settings);
  kg_settings_free(&settings);
  if (status != KEDGE_OK && !*copy)
    kedge_problem_destroy(made);
  else
    *copy = made;
  return status;
}

kedge_status kedge_problem_assign(kedge_problem *problem, const kedge_problem *from)
{
  KG_REQUIRE(NULL, problem && from, KEDGE_ERR_ARG, "kedge_problem_assign: a problem is NULL");
  return kg_problem_clone(from, &problem);
}

int kedge_problem_setting_count(const kedge_problem *problem)
{
  return problem ? problem->settings.n : 0;
}

kedge_status kedge_problem_get_setting(const kedge_problem *problem, int index,
                                       const char **section, const char **key, const char **value)
{
  KG_REQUIRE(NULL, problem && section && key && value, KEDGE_ERR_ARG,
             "kedge_problem_get_setting: an argument is NULL");
  const int n = kedge_problem_setting_count(problem);
  KG_REQUIRE(problem->ctx, index >= 0 && index < n, KEDGE_ERR_ARG,
             "kedge_problem_get_setting: index is %d and there are %d settings", index, n);
  const kg_setting *const s = &problem->settings.items[index];
  *section = s->section, *key = s->key, *value = s->value;
  return KEDGE_OK;
}

kedge_status kg_problem_fail(kedge_context *ctx, const kedge_problem *problem,
                             const kg_setting *setting, const char *format, ...)
{
  char sentence[900], place[KG_PLACE_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  kg_setting_place(&problem->settings, setting, place);
  return KG_FAIL(ctx, KEDGE_ERR_INPUT, "%s%s", place, sentence);
}

void kedge_problem_place(const kedge_problem *problem, const char *section, const char *key,
                         char *text, size_t size)
{
  char place[KG_PLACE_BYTES] = "";
  if (problem && section && key)
    kg_setting_place(&problem->settings, kg_settings_find(&problem->settings, section, key), place);
  kg_text_show(place, text, size);
}

/// Put the place of a key of [mesh] before the sentence of a failure, whose status is kept.
/// @param[in] beside  add what a relative path is relative to
static kedge_status blame(const kedge_problem *p, const char *key, kedge_status status, bool beside)
{
  char sentence[800];
  snprintf(sentence, sizeof sentence, "%s", kedge_context_error(p->ctx));
  (void)kg_setting_fail(&p->settings, kg_settings_find(&p->settings, "mesh", key), "%s%s", sentence,
                        beside ? "; the path is relative to the problem file" : "");
  return status;
}

/// The mesh of the file, or of words, before its nodes move.
static kedge_status first_mesh(const kedge_problem *p, const char *words, kedge_mesh **out)
{
  if (p->mesh_file) {
    const kedge_status status = kedge_mesh_read(p->ctx, p->mesh_file, out);
    const bool beside = p->path && p->mesh_file[0] != '/';
    return status == KEDGE_ERR_IO ? blame(p, "file", status, beside) : status;
  }
  const kedge_status status = kg_mesh_generate(p->ctx, words, p->geometry, out);
  return status == KEDGE_ERR_INPUT ? blame(p, "generate", status, false) : status;
}

/// The mesh of the file or of the words, with its vertices joined where that is asked for.
static kedge_status joined_mesh(const kedge_problem *p, const char *words, kedge_mesh **out)
{
  kedge_mesh *mesh;
  if (!(p->join > 0.0)) return first_mesh(p, words, out);
  KG_TRY(first_mesh(p, words, &mesh));
  const kedge_status status = kedge_mesh_join(p->ctx, mesh, p->join, out);
  kedge_mesh_destroy(mesh);
  return status == KEDGE_ERR_INPUT ? blame(p, "join", status, false) : status;
}

/// Move the nodes of a mesh, which has as many coordinates as the map expressions.
static kedge_status map_mesh(const kedge_problem *p, const kedge_mesh *mesh, kedge_mesh **out)
{
  const int n = p->map[2].kind == KG_FUNCTION_NONE ? 2 : 3;
  KG_REQUIRE(
      p->ctx, n == mesh->dimension, KEDGE_ERR_INPUT,
      n == 2 ? "%s is a mesh in space: write X, Y, Z" : "%s is a mesh of the plane: write X, Y",
      mesh->source);
  return n == 3 ? kg_space_map(p->ctx, mesh, p->geometry, p->map, out)
                : kg_mesh_map(p->ctx, mesh, p->geometry, &p->map[0], &p->map[1], out);
}

/// What is generated without a map has the order that it can have, and tetrahedra are straight.
static kedge_status coarse_mesh(const kedge_problem *p, const char *words, kedge_mesh **out)
{
  kedge_mesh *mesh;
  const bool moves = p->map[0].kind != KG_FUNCTION_NONE;
  KG_TRY(joined_mesh(p, words, &mesh));
  const bool in_space = mesh->dimension == 3;
  kedge_status status = KEDGE_OK;
  if (in_space && p->geometry > 1) {
    status = kg_setting_fail(&p->settings, kg_settings_find(&p->settings, "mesh", "geometry"),
                             "%s is of tetrahedra, which are straight: leave geometry out",
                             mesh->source);
  } else if (!moves && (p->mesh_generate || p->geometry == 0 || in_space)) {
    *out = mesh;
    return KEDGE_OK;
  } else {
    status =
        moves ? map_mesh(p, mesh, out) : kg_mesh_map(p->ctx, mesh, p->geometry, NULL, NULL, out);
    if (status == KEDGE_ERR_INPUT) (void)blame(p, moves ? "map" : "geometry", status, false);
  }
  kedge_mesh_destroy(mesh);
  return status;
}

kedge_status kedge_problem_mesh(const kedge_problem *problem, kedge_mesh **out)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_mesh: problem is NULL");
  const kedge_problem *const p = problem;
  KG_REQUIRE(p->ctx, out != NULL, KEDGE_ERR_ARG, "kedge_problem_mesh: out is NULL");
  *out = NULL;
  KG_REQUIRE(p->ctx, p->mesh_file || p->mesh_generate, KEDGE_ERR_INPUT,
             "%s names no mesh: add file = NAME.msh or generate = square 40 to [mesh]",
             p->path ? p->path : "the problem");
  return kg_problem_generate(p, p->mesh_generate, p->refine, out);
}

kedge_status kg_problem_generate(const kedge_problem *p, const char *words, int refine,
                                 kedge_mesh **out)
{
  kedge_mesh *mesh;
  KG_TRY(coarse_mesh(p, words, &mesh));
  if (refine == 0) {
    *out = mesh;
    return KEDGE_OK;
  }
  const kedge_status status = kedge_mesh_refine(p->ctx, mesh, refine, out);
  kedge_mesh_destroy(mesh);
  return status;
}

const char *kedge_problem_mesh_file(const kedge_problem *problem)
{
  return problem ? problem->mesh_file : NULL;
}

const char *kedge_problem_integral(const kedge_problem *problem, int index)
{
  return problem && index >= 0 && index < problem->n_integrals ? problem->integrals[index].name
                                                               : NULL;
}

const char *kedge_problem_output(const kedge_problem *problem)
{
  return problem ? problem->output : NULL;
}

const char *kedge_problem_boundary_output(const kedge_problem *problem)
{
  return problem ? problem->boundary_output : NULL;
}
