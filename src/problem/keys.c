// One table of all keys and the functions that read them, which it alone names: they stand in one
// file, however many keys there are.
#include "problem/keys.h"

#include <ctype.h>
#include <float.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "basis/cell.h"
#include "basis/nodal.h"
#include "core/memory.h"
#include "expression/expression_tree.h"
#include "expression/nearest.h"
#include "problem/problem.h"
#include "problem/values.h"

#define TEXT_OF(number)       TEXT_OF_VALUE(number)
#define TEXT_OF_VALUE(number) #number

#define READER(name)                                                                            \
  static kedge_status name(kedge_problem *p, __attribute__((unused)) const kg_problem_key *key, \
                           const kg_settings *settings, const kg_setting *s)

static const char *const operators[] = {[KEDGE_OPERATOR_MATRIX_FREE] = "matrix-free",
                                        [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = "matrix-free-plain",
                                        [KEDGE_OPERATOR_ELL] = "ell"};
static const char *const preconditioners[] = {[KEDGE_PRECONDITIONER_AUTO] = "auto",
                                              [KEDGE_PRECONDITIONER_JACOBI] = "jacobi",
                                              [KEDGE_PRECONDITIONER_MULTIGRID] = "multigrid",
                                              [KEDGE_PRECONDITIONER_BLOCK_JACOBI] = "block-jacobi"};
static const char *const smoothers[] = {
    [KEDGE_SMOOTHER_EDGE] = "edge", [KEDGE_SMOOTHER_LINE] = "line", [KEDGE_SMOOTHER_AUTO] = "auto"};
/// The mass matrix of the flux (docs/math.md#cells).
static const char *const inverses[] = {[KG_INVERSE_AUTO] = "auto",
                                       [KG_INVERSE_ADJUSTED] = "adjusted",
                                       [KG_INVERSE_EXACT] = "exact",
                                       [KG_INVERSE_GRADIENT] = "gradient"};
static const char *const precisions[] = {[KEDGE_PRECISION_DOUBLE] = "double",
                                         [KEDGE_PRECISION_MIXED] = "mixed",
                                         [KEDGE_PRECISION_COMPACT] = "compact"};

static const char *word_of(const char *const *words, unsigned n, unsigned kind)
{
  return kind < n ? words[kind] : "unknown";
}

const char *kedge_operator_name(kedge_operator kind)
{
  return word_of(operators, KEDGE_OPERATOR_COUNT, (unsigned)kind);
}

const char *kedge_preconditioner_name(kedge_preconditioner kind)
{
  return word_of(preconditioners, KEDGE_PRECONDITIONER_COUNT, (unsigned)kind);
}

const char *kedge_smoother_name(kedge_smoother kind)
{
  return word_of(smoothers, KEDGE_SMOOTHER_COUNT, (unsigned)kind);
}

const char *kedge_precision_name(kedge_precision kind)
{
  return word_of(precisions, KEDGE_PRECISION_COUNT, (unsigned)kind);
}

/// The member of the problem that a key sets.
static void *member_of(kedge_problem *p, const kg_problem_key *key)
{
  return (char *)p + key->member;
}

/// A whole number from key->least to key->most.
READER(read_integer)
{
  int64_t value;
  KG_TRY(kg_value_integer(settings, s, key->least, key->most, &value));
  *(int *)member_of(p, key) = (int)value;
  return KEDGE_OK;
}

READER(read_order)
{
  if (!kg_settings_are_wave(settings)) return read_integer(p, key, settings, s);
  int64_t value;
  KG_TRY(kg_value_integer(settings, s, key->least, KG_NODAL_ORDER_MAX, &value));
  p->order = (int)value;
  return KEDGE_OK;
}

/// Read one of key->words into a member of an enumeration.
READER(read_word)
{
  int value;
  KG_TRY(kg_value_word(settings, s, key->words, key->most, &value));
  memcpy(member_of(p, key), &value, sizeof value);
  return KEDGE_OK;
}

/// Text; what may be empty stays NULL then.
READER(read_text)
{
  if (!s->value[0]) return KEDGE_OK;
  return kg_copy_text(settings->ctx, s->value, strlen(s->value), member_of(p, key));
}

READER(read_function)
{
  return kg_value_function(p, settings, s, member_of(p, key));
}

/// A relative path becomes one of the problem file's folder.
static kedge_status read_path(const kedge_problem *p, const kg_settings *settings,
                              const kg_setting *s, char **out)
{
  const char *const slash = p->path && s->value[0] != '/' ? strrchr(p->path, '/') : NULL;
  const size_t folder = slash ? (size_t)(slash + 1 - p->path) : 0, length = strlen(s->value);
  free(*out);
  KG_TRY(kg_host_alloc(settings->ctx, folder + length + 1, 1, out));
  if (folder > 0) memcpy(*out, p->path, folder);
  memcpy(*out + folder, s->value, length + 1);
  return KEDGE_OK;
}

READER(read_mesh_file)
{
  return read_path(p, settings, s, &p->mesh_file);
}

/// The points of a probe, in one way or another.
READER(read_probe)
{
  kg_probe *probe;
  KG_TRY(kg_probe_of(p, settings, s, &probe));
  probe->at = s;
  if (strcmp(key->name, "file") == 0) return read_path(p, settings, s, &probe->file);
  return (strcmp(key->name, "line") == 0 ? kg_probe_read_line : kg_probe_read_points)(settings, s,
                                                                                      probe);
}

READER(read_probe_output)
{
  kg_probe *probe;
  KG_TRY(kg_probe_of(p, settings, s, &probe));
  free(probe->output);
  return kg_copy_text(settings->ctx, s->value, strlen(s->value), &probe->output);
}

/// The value at h = 1, 2 and 4 tells a number from a number times h and a number over h; factors
/// that are powers of two are exact.
READER(read_stabilization)
{
  if (strcmp(s->value, "auto") == 0) return KEDGE_OK;
  kg_constant *constants;
  const int n = p->n_parameters + 1;
  KG_TRY(kg_host_alloc(settings->ctx, (size_t)n, sizeof *constants, &constants));
  for (int i = 1; i < n; ++i) constants[i] = p->parameters[i - 1];
  double tau[3] = {0};
  kedge_status status = KEDGE_OK;
  for (int k = 0; k < 3 && status == KEDGE_OK; ++k) {
    constants[0] = (kg_constant){"h", 1 << k};
    status = kg_value_constant(constants, n, settings, s, &tau[k]);
  }
  free(constants);
  KG_TRY(status);
  p->stabilization = tau[0];
  if (tau[1] == tau[0] && tau[2] == tau[0])
    p->stabilization_scaling = KEDGE_SCALING_ONE;
  else if (tau[1] == 2 * tau[0] && tau[2] == 4 * tau[0])
    p->stabilization_scaling = KEDGE_SCALING_H;
  else if (2 * tau[1] == tau[0] && 4 * tau[2] == tau[0])
    p->stabilization_scaling = KEDGE_SCALING_INVERSE_H;
  else
    return kg_setting_fail(settings, s,
                           "stabilization must be auto, a number, a number times h or a "
                           "number divided by h (h: the length of the edge), not '%s'",
                           s->value);
  if (tau[0] > 0) return KEDGE_OK;
  return kg_setting_fail(settings, s, "stabilization must be positive, not '%s'", s->value);
}

/// A value is in an interval; `range` names it.
static kedge_status check_constant(const kg_settings *settings, const kg_setting *s, double value,
                                   double least, double most, const char *range)
{
  if (value >= least && value <= most) return KEDGE_OK;
  if (value > 0 && value < DBL_MIN)
    return kg_setting_fail(settings, s,
                           "%s is too small: the least number of full precision is %.2e, not '%s'",
                           s->key, DBL_MIN, s->value);
  char *end;
  strtod(s->value, &end);
  if (*end)
    return kg_setting_fail(settings, s, "%s must be %s, not '%s', which is %g", s->key, range,
                           s->value, value);
  return kg_setting_fail(settings, s, "%s must be %s, not '%s'", s->key, range, s->value);
}

static kedge_status read_constant(const kedge_problem *p, const kg_settings *settings,
                                  const kg_setting *s, double least, double most, const char *range,
                                  double *out)
{
  KG_TRY(kg_value_constant(p->parameters, p->n_parameters, settings, s, out));
  return check_constant(settings, s, *out, least, most, range);
}

READER(read_positive)
{
  return read_constant(p, settings, s, DBL_MIN, DBL_MAX, "positive", member_of(p, key));
}

kedge_status kg_section_coefficients(kedge_problem *p, const kg_settings *settings,
                                     const kg_setting *s, kg_coefficients **out)
{
  const char *const group = kg_section_group(s->section, "region");
  *out = &p->equation;
  if (!group) return KEDGE_OK;
  for (int i = 0; i < p->n_regions; ++i) {
    *out = &p->regions[i];
    if (strcmp(p->regions[i].group, group) == 0) return KEDGE_OK;
  }
  kg_coefficients *const c = &p->regions[p->n_regions];
  *c = (kg_coefficients){.at = s};
  KG_TRY(kg_copy_text(settings->ctx, group, strlen(group), &c->group));
  ++p->n_regions;
  *out = c;
  return KEDGE_OK;
}

/// A function that, if it is a constant, is in an interval.
static kedge_status read_coefficient(const kedge_problem *p, const kg_settings *settings,
                                     const kg_setting *s, double least, const char *range,
                                     kg_function *out)
{
  kg_function f;
  KG_TRY(kg_value_function(p, settings, s, &f));
  if (f.kind == KG_FUNCTION_CONSTANT)
    KG_TRY(check_constant(settings, s, f.constant, least, DBL_MAX, range));
  *out = f;
  return KEDGE_OK;
}

kedge_status kg_region_add(kedge_problem *problem, const kg_settings *settings,
                           const kg_setting *section)
{
  kg_coefficients *c;
  return kg_section_coefficients(problem, settings, section, &c);
}

READER(read_diffusion)
{
  kg_coefficients *c;
  const char *comma[KG_LIST_MAX] = {0};
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  const int n = s->value ? kg_count_parts(s->value, comma) : 1;
  if (s->value && kg_is_bracketed(s->value))
    return kg_setting_fail(settings, s,
                           "a tensor is written xx, xy, yy, without brackets around them");
  for (int k = 0; k < KG_TENSOR_MAX; ++k) kg_expression_free(c->diffusion[k].expression);
  memset(c->diffusion, 0, sizeof c->diffusion);
  c->n_diffusion = n;
  if (n == 1) return read_coefficient(p, settings, s, DBL_MIN, "positive", &c->diffusion[0]);
  if (n != kg_tensor_numbers(2) && n != kg_tensor_numbers(3))
    return kg_setting_fail(settings, s,
                           "diffusion is one expression, or three of a tensor: xx, xy, yy, or six "
                           "in space: xx, xy, xz, yy, yz, zz; not %d",
                           n);
  for (int k = 0; k < n; ++k)
    KG_TRY(kg_value_function_part(p, settings, s, comma, n, k, &c->diffusion[k]));
  return KEDGE_OK;
}

const char *const kg_tensor_keys[2][KG_TENSOR_MAX] = {
    {"diffusion", "diffusion_xy", "diffusion_yy"},
    {"diffusion", "diffusion_xy", "diffusion_xz", "diffusion_yy", "diffusion_yz", "diffusion_zz"}};

/// The rest of a tensor of functions, of which xx is there already. That of space has zz.
READER(read_tensor_part)
{
  kg_coefficients *c;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  const int dimension = kg_settings_find(settings, s->section, "diffusion_zz") ? 3 : 2;
  int k = 1;
  while (strcmp(key->name, kg_tensor_keys[dimension - 2][k]) != 0) ++k;
  c->n_diffusion = kg_tensor_numbers(dimension);
  return kg_value_function(p, settings, s, &c->diffusion[k]);
}

/// X, Y, and Z in space: the place of every node. Regions meet at nodes, which have none.
READER(read_map)
{
  const char *comma[KG_LIST_MAX] = {0};
  const int n = kg_count_parts(s->value, comma);
  if (n != 2 && n != 3)
    return kg_setting_fail(settings, s,
                           "map is two expressions, X, Y, or in space three, X, Y, Z; not %d", n);
  for (int k = 0; k < 3; ++k) {
    kg_expression_free(p->map[k].expression);
    p->map[k] = (kg_function){0};
  }
  for (int k = 0; k < n; ++k) {
    KG_TRY(kg_value_function_part(p, settings, s, comma, n, k, &p->map[k]));
    if (kg_function_uses_region(&p->map[k]))
      return kg_setting_fail(settings, s, "map cannot depend on region: nodes lie between regions");
    if (kg_function_uses_t(&p->map[k]))
      return kg_setting_fail(settings, s, "map cannot depend on t: the mesh does not move in time");
    if (n == 2 && kg_function_uses_z(&p->map[k]))
      return kg_setting_fail(settings, s, "map names z, of which there is none in X, Y alone");
  }
  return KEDGE_OK;
}

READER(read_reaction)
{
  kg_coefficients *c;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  return read_coefficient(p, settings, s, 0, "zero or positive", &c->reaction);
}

READER(read_mass)
{
  kg_coefficients *c;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  return read_coefficient(p, settings, s, DBL_MIN, "positive", &c->mass);
}

READER(read_source)
{
  kg_coefficients *c;
  KG_TRY(kg_section_coefficients(p, settings, s, &c));
  return kg_value_function(p, settings, s, &c->source);
}

/// A word of no meaning here, for which an expression would offer names that nobody means.
static bool is_unknown_word(const kedge_problem *p, const char *text)
{
  if (!isalpha((unsigned char)text[0])) return false;
  for (const char *c = text; *c; ++c)
    if (!isalnum((unsigned char)*c) && *c != '_') return false;
  for (int i = 0; i < p->n_parameters; ++i)
    if (strcmp(p->parameters[i].name, text) == 0) return false;
  return !kg_expression_variable(text);
}

static kedge_status refuse_tolerance(const kedge_problem *p, const kg_settings *settings,
                                     const kg_setting *s)
{
  kg_nearest nearest = kg_nearest_to(s->value);
  kg_nearest_offer(&nearest, "auto");
  for (int i = 0; i < p->n_parameters; ++i) kg_nearest_offer(&nearest, p->parameters[i].name);
  const bool near = nearest.best != NULL;
  return kg_setting_fail(
      settings, s, "tolerance must be auto or a constant between 0 and 1, not '%s'%s%s%s", s->value,
      near ? "; did you mean '" : "", near ? nearest.best : "", near ? "'?" : "");
}

READER(read_tolerance)
{
  p->accepts_rounding = strcmp(s->value, "auto") == 0;
  if (p->accepts_rounding) {
    p->tolerance = KG_TOLERANCE_AUTO;
    return KEDGE_OK;
  }
  if (is_unknown_word(p, s->value)) return refuse_tolerance(p, settings, s);
  return read_constant(p, settings, s, DBL_MIN, 1 - DBL_EPSILON, "auto or between 0 and 1",
                       &p->tolerance);
}

READER(read_max_iterations)
{
  return kg_value_integer(settings, s, 1, INT64_MAX, &p->max_iterations);
}

READER(read_parameter)
{
  if (strspn(s->key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") !=
          strlen(s->key) ||
      (s->key[0] >= '0' && s->key[0] <= '9') || !s->key[0])
    return kg_setting_fail(settings, s,
                           "'%s' cannot name a parameter: use letters, digits and '_', "
                           "and a letter first",
                           s->key);
  if (kg_expression_reserved(s->key) || strcmp(s->key, "h") == 0)
    return kg_setting_fail(settings, s, "'%s' cannot name a parameter: it has a meaning already",
                           s->key);
  if (p->time.is_set && strcmp(s->key, "t") == 0)
    return kg_setting_fail(settings, s,
                           "'t' cannot name a parameter: with [time] it is the time; give the "
                           "parameter another name");
  double value;
  KG_TRY(kg_value_constant(p->parameters, p->n_parameters, settings, s, &value));
  p->parameters[p->n_parameters++] = (kg_constant){s->key, value};
  return KEDGE_OK;
}

kedge_status kg_section_boundary(kedge_problem *p, const kg_settings *settings, const kg_setting *s,
                                 kg_boundary **out)
{
  const char *const group = kg_section_group(s->section, "boundary");
  for (int i = 0; i < p->n_boundaries; ++i) {
    *out = &p->boundaries[i];
    if (strcmp(p->boundaries[i].group, group) == 0) return KEDGE_OK;
  }
  kg_boundary *const b = &p->boundaries[p->n_boundaries];
  *b = (kg_boundary){0};
  KG_TRY(kg_copy_text(settings->ctx, group, strlen(group), &b->group));
  ++p->n_boundaries;
  *out = b;
  return KEDGE_OK;
}

/// The integral that a setting belongs to, made when it is new.
static kedge_status integral_of(kedge_problem *p, const kg_settings *settings, const kg_setting *s,
                                kg_wanted_integral **out)
{
  const char *const name = kg_section_group(s->section, "integral");
  for (int i = 0; i < p->n_integrals; ++i) {
    *out = &p->integrals[i];
    if (strcmp(p->integrals[i].name, name) == 0) return KEDGE_OK;
  }
  kg_wanted_integral *const integral = &p->integrals[p->n_integrals];
  *integral = (kg_wanted_integral){0};
  KG_TRY(kg_copy_text(settings->ctx, name, strlen(name), &integral->name));
  ++p->n_integrals;
  *out = integral;
  return KEDGE_OK;
}

READER(read_integral_of)
{
  kg_wanted_integral *integral;
  KG_TRY(integral_of(p, settings, s, &integral));
  integral->of_at = s;
  return kg_value_of_fields(p, settings, s, kg_integral_names, &integral->of);
}

READER(read_integral_on)
{
  kg_wanted_integral *integral;
  KG_TRY(integral_of(p, settings, s, &integral));
  integral->on_at = s;
  if (strcmp(s->value, "all") == 0) return KEDGE_OK;
  return kg_copy_text(settings->ctx, s->value, strlen(s->value), &integral->on);
}

READER(read_integral_quadrature)
{
  kg_wanted_integral *integral;
  int64_t points;
  KG_TRY(integral_of(p, settings, s, &integral));
  KG_TRY(kg_value_integer(settings, s, 1, KG_INTEGRAL_POINTS_MAX, &points));
  integral->quadrature = (int)points;
  return KEDGE_OK;
}

const char *const kg_boundary_words[KG_BOUNDARY_TYPES] = {[KEDGE_BOUNDARY_DIRICHLET] = "dirichlet",
                                                          [KEDGE_BOUNDARY_NEUMANN] = "neumann",
                                                          [KEDGE_BOUNDARY_ROBIN] = "robin"};

READER(read_boundary_type)
{
  kg_boundary *b;
  int type;
  KG_TRY(kg_section_boundary(p, settings, s, &b));
  if (strcmp(s->value, "periodic") == 0) return kg_periodic_refuse(settings, s);
  b->type_at = s;
  KG_TRY(kg_wave_type(settings, s, &b->wave_type));
  if (b->wave_type >= 0) return KEDGE_OK;
  KG_TRY(kg_value_word(settings, s, kg_boundary_words, KG_BOUNDARY_TYPES, &type));
  b->type = (kedge_boundary_type)type;
  return KEDGE_OK;
}

/// The value or the coefficient.
READER(read_boundary_function)
{
  kg_boundary *b;
  const bool is_value = strcmp(key->name, "value") == 0;
  KG_TRY(kg_section_boundary(p, settings, s, &b));
  *(is_value ? &b->value_at : &b->coefficient_at) = s;
  return kg_value_function(p, settings, s, is_value ? &b->value : &b->coefficient);
}

/// Text is differentiated; a function of the caller comes with the functions of its derivatives.
READER(read_exact_u)
{
  if (s->value == NULL) return kg_value_function(p, settings, s, &p->exact_u);
  kedge_context *const ctx = settings->ctx;
  kg_function *const d[3] = {&p->exact_dx, &p->exact_dy, &p->exact_dz};
  KG_TRY(kg_value_expression(p, settings, s, &p->exact_u.expression));
  p->exact_u.kind = KG_FUNCTION_EXPRESSION;
  for (int k = 0; k < 3; ++k) {
    const char variable = "xyz"[k];
    const kedge_status status =
        kg_expression_differentiate(ctx, p->exact_u.expression, variable, &d[k]->expression);
    if (status == KEDGE_ERR_INPUT)
      return kg_setting_fail(settings, s,
                             "the derivative of u by %c needs more than %d terms and "
                             "operations; write u more simply",
                             variable, KG_EXPRESSION_NODES);
    KG_TRY(status);
    d[k]->kind = KG_FUNCTION_EXPRESSION;
  }
  return KEDGE_OK;
}

const char *const kg_scheme_words[KG_SCHEMES] = {
    [KG_SCHEME_EULER] = "euler", [KG_SCHEME_TRBDF2] = "trbdf2", [KG_SCHEME_ESDIRK4] = "esdirk4"};
static const char *const untils[KG_UNTILS] = {[KG_UNTIL_END] = "end", [KG_UNTIL_STEADY] = "steady"};

/// Times that ascend.
/// @param[in] with_begin  0 may be one of them
/// @param[in] positive    how they are, for the sentence
static kedge_status read_times(const kedge_problem *p, const kg_settings *settings,
                               const kg_setting *s, bool with_begin, const char *positive, int *n,
                               double **out)
{
  free(*out);
  KG_TRY(kg_value_constants(p->parameters, p->n_parameters, settings, s, n, out));
  for (int i = 0; i < *n; ++i) {
    const double time = (*out)[i];
    if (!(time > 0.0) && !(with_begin && time == 0.0))
      return kg_setting_fail(settings, s, "%s in [%s] has %g; times are %s", s->key, s->section,
                             time, positive);
    if (i > 0 && !(time > (*out)[i - 1]))
      return kg_setting_fail(settings, s, "%s in [%s] has %g behind %g; write times that ascend",
                             s->key, s->section, time, (*out)[i - 1]);
  }
  return KEDGE_OK;
}

READER(read_events)
{
  return read_times(p, settings, s, false, "positive", &p->time.n_events, &p->time.events);
}

READER(read_output_times)
{
  const bool is_wave = kg_settings_are_wave(settings);
  return read_times(p, settings, s, is_wave,
                    is_wave ? "0 or later" : "positive, as the first step makes the first solution",
                    &p->time.n_outputs, &p->time.outputs);
}

/// A length, or `auto`, which waves alone have and which stays 0.
READER(read_step)
{
  if (strcmp(s->value, "auto") == 0) return KEDGE_OK;
  if (kg_settings_are_wave(settings) && is_unknown_word(p, s->value))
    return kg_setting_fail(settings, s, "step must be auto or a constant > 0, not '%s'", s->value);
  return read_constant(p, settings, s, DBL_MIN, DBL_MAX, "positive", &p->time.step);
}

READER(read_steps)
{
  int64_t steps;
  KG_TRY(kg_value_integer(settings, s, 1, KG_STEPS_MAX, &steps));
  p->time.steps = steps;
  return KEDGE_OK;
}

READER(read_precision)
{
  bool is_wave;
  KG_TRY(kg_wave_read_precision(&p->wave, settings, s, &is_wave));
  return is_wave ? KEDGE_OK : read_word(p, key, settings, s);
}

READER(read_fields)
{
  static const char *const words[] = {"full", "cells"};
  int value;
  KG_TRY(kg_value_word(settings, s, words, 2, &value));
  p->cells_only = value == 1;
  return KEDGE_OK;
}

#define MEMBER(name) offsetof(kedge_problem, name)
#define WORDS(list, name) \
  .words = (list), .most = sizeof(list) / sizeof *(list), .member = MEMBER(name)

// clang-format off
const kg_problem_key kg_problem_keys[] = {
  {"mesh", "file", "a Gmsh file, .msh", read_mesh_file},
  {"mesh", "generate", "square N, quads N, mixed N, lshape N, ring N M, disk N or cube N",
   read_text, .member = MEMBER(mesh_generate)},
  {"mesh", "geometry", "1 to 5", read_integer,
   .member = MEMBER(geometry), .least = 1, .most = KG_GEOMETRY_MAX},
  {"mesh", "join", "a constant > 0", read_positive, true, .member = MEMBER(join)},
  {"mesh", "map", "two expressions, X, Y, or in space X, Y, Z", read_map, true},
  {"mesh", "refine", "0 to " TEXT_OF(KEDGE_REFINE_MAX), read_integer,
   .member = MEMBER(refine), .most = KEDGE_REFINE_MAX},
  {"space", "order", TEXT_OF(KEDGE_ORDER_MIN) " to " TEXT_OF(KEDGE_ORDER_MAX), read_order,
   .member = MEMBER(order), .least = KEDGE_ORDER_MIN, .most = KEDGE_ORDER_MAX},
  {"space", "inverse", "auto, adjusted, gradient or exact", read_word, WORDS(inverses, inverse)},
  {"space", "quadrature", "order + 2 or more", read_integer,
   .member = MEMBER(quadrature), .least = KEDGE_ORDER_MIN + 2, .most = KG_QUADRATURE_MAX},
  {"space", "stabilization", "auto, a number, number*h or number/h", read_stabilization, true},
  {"space", "length", "a constant > 0", read_positive, true, .member = MEMBER(length)},
  {"equation", "diffusion", "an expression > 0, or three: xx, xy, yy", read_diffusion, true},
  {"equation", "reaction", "an expression >= 0", read_reaction, true},
  {"equation", "mass", "an expression > 0", read_mass, true},
  {"equation", "source", "an expression", read_source, true},
  {"equation", "quadrature", "order + 2 or more", read_integer,
   .member = MEMBER(load_quadrature), .least = KEDGE_ORDER_MIN + 2, .most = KG_QUADRATURE_MAX},
  {"region NAME", "diffusion", "an expression > 0, or three: xx, xy, yy", read_diffusion, true},
  {"region NAME", "reaction", "an expression >= 0", read_reaction, true},
  {"region NAME", "mass", "an expression > 0", read_mass, true},
  {"region NAME", "source", "an expression", read_source, true},
  {"parameters", "NAME", "a constant", read_parameter, true},
  {"boundary NAME", "type", "dirichlet, neumann or robin", read_boundary_type},
  {"boundary NAME", "coefficient", "an expression", read_boundary_function, true},
  {"boundary NAME", "value", "an expression", read_boundary_function, true},
  {"integral NAME", "of", "an expression", read_integral_of, true},
  {"integral NAME", "on", "a group, a region or all", read_integral_on},
  {"integral NAME", "quadrature", "1 to " TEXT_OF(KG_INTEGRAL_POINTS_MAX),
   read_integral_quadrature},
  {"exact", "u", "an expression", read_exact_u, true},
  {"exact", "quadrature", "order + 2 or more", read_integer,
   .member = MEMBER(exact_quadrature), .least = KEDGE_ORDER_MIN + 2, .most = KG_QUADRATURE_MAX},
  {"time", "end", "a constant > 0", read_positive, true, .member = MEMBER(time.end)},
  {"time", "step", "a constant > 0", read_step, true},
  {"time", "steps", "at least 1", read_steps},
  {"time", "tolerance", "a constant > 0", read_positive, true, .member = MEMBER(time.tolerance)},
  {"time", "scheme", "euler, trbdf2 or esdirk4", read_word, WORDS(kg_scheme_words, time.scheme)},
  {"time", "events", "constants > 0, t1, t2, ...", read_events, true},
  {"time", "until", "end or steady", read_word, WORDS(untils, time.until)},
  {"time", "steady_tolerance", "a constant > 0", read_positive, true,
   .member = MEMBER(time.steady_tolerance)},
  {"initial", "u", "an expression", read_function, true, .member = MEMBER(initial)},
  {"solver", "operator", "matrix-free, matrix-free-plain or ell", read_word,
   WORDS(operators, operator_kind)},
  {"solver", "preconditioner", "auto, jacobi, block-jacobi or multigrid", read_word,
   WORDS(preconditioners, preconditioner)},
  {"solver", "smoother", "auto, edge or line", read_word, WORDS(smoothers, smoother)},
  {"solver", "smoothing_steps", "1 to " TEXT_OF(KEDGE_SMOOTHING_STEPS_MAX), read_integer,
   .member = MEMBER(smoothing_steps), .least = 1, .most = KEDGE_SMOOTHING_STEPS_MAX},
  {"solver", "precision", "double, mixed or compact", read_precision, WORDS(precisions, precision)},
  {"solver", "tolerance", "auto or a constant between 0 and 1", read_tolerance, true},
  {"solver", "max_iterations", "at least 1", read_max_iterations},
  {"output", "file", "a file, .vtkhdf or .hdf", read_text, .may_be_empty = true,
   .member = MEMBER(output)},
  {"output", "boundary", "a file, .vtkhdf or .hdf", read_text, .may_be_empty = true,
   .member = MEMBER(boundary_output)},
  {"output", "fields", "full or cells", read_fields},
  {"output", "every", "a constant > 0", read_positive, true, .member = MEMBER(time.every)},
  {"output", "at", "constants > 0, t1, t2, ...", read_output_times, true},
  {"probe NAME", "points", "x y, x y, ..., in space x y z, ...", read_probe, true},
  {"probe NAME", "line", "x0 y0, x1 y1, n, in space x0 y0 z0, ...", read_probe},
  {"probe NAME", "file", "a CSV file with columns x, y, in space z", read_probe},
  {"probe NAME", "output", "a CSV file", read_probe_output},
  {NULL},
};

const kg_problem_key kg_function_keys[] = {
  {"exact", "du_dx", "", read_function, .member = MEMBER(exact_dx)},
  {"exact", "du_dy", "", read_function, .member = MEMBER(exact_dy)},
  {"exact", "du_dz", "", read_function, .member = MEMBER(exact_dz)},
  {"equation", "diffusion_xy", "", read_tensor_part},
  {"equation", "diffusion_xz", "", read_tensor_part},
  {"equation", "diffusion_yy", "", read_tensor_part},
  {"equation", "diffusion_yz", "", read_tensor_part},
  {"equation", "diffusion_zz", "", read_tensor_part},
  {"region NAME", "diffusion_xy", "", read_tensor_part},
  {"region NAME", "diffusion_xz", "", read_tensor_part},
  {"region NAME", "diffusion_yy", "", read_tensor_part},
  {"region NAME", "diffusion_yz", "", read_tensor_part},
  {"region NAME", "diffusion_zz", "", read_tensor_part},
  {"equation", "current_y", "", kg_read_current_part},
  {"equation", "current_z", "", kg_read_current_part},
  {"region NAME", "current_y", "", kg_read_current_part},
  {"region NAME", "current_z", "", kg_read_current_part},
  {NULL},
};
// clang-format on
