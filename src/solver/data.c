#include "solver/data.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "core/sized.h"
#include "expression/nearest.h"
#include "problem/values.h"
#include "solver/unknowns.h"

/// Make a function of a value that the caller gives as text or as a C function.
/// @param[in] function      the name of the called function, for error messages
/// @param[in] section, key  where the value belongs; key is "source" or "value"
static kedge_status read(const kg_elliptic *p, const char *function, const char *section,
                         const char *key, const kedge_boundary_value *from, kg_function *out)
{
  KG_REQUIRE(p->ctx, !from->text != !from->function, KEDGE_ERR_ARG,
             "%s: the %s of %s needs a text or a function, one of them", function, key, section);
  const kg_setting setting = {.section = (char *)section,
                              .key = (char *)key,
                              .value = (char *)from->text,
                              .function = from->function,
                              .user = from->user,
                              .origin = KG_FROM_CALL};
  KG_TRY(kg_value_function(p->equation.problem, &p->equation.problem->settings, &setting, out));
  if (p->equation.problem->time.is_set || !kg_function_uses_t(out)) return KEDGE_OK;
  kg_function_free(out);
  return KG_FAIL(p->ctx, KEDGE_ERR_INPUT,
                 "%s: the %s of %s names t, the time, and the problem has no [time]", function, key,
                 section);
}

/// The boundary group that data name.
static kedge_status find_group(const kg_elliptic *p, const char *function, const char *name,
                               int *group)
{
  const kedge_mesh *mesh = p->mesh;
  KG_REQUIRE(p->ctx, name, KEDGE_ERR_ARG, "%s: a boundary value has no group", function);
  int n_lines = 0;
  while (n_lines < mesh->n_groups && kg_is_edge_group(mesh, &mesh->groups[n_lines])) ++n_lines;
  *group = kg_group_named(n_lines, mesh->groups, name);
  if (*group >= 0) return KEDGE_OK;
  for (int g = 0; g < n_lines; ++g)
    KG_REQUIRE(p->ctx, strcmp(mesh->groups[g].name, name) != 0, KEDGE_ERR_INPUT,
               "a value is given for '%s', a group of lines inside the domain, where there are no "
               "boundary conditions",
               name);
  kg_nearest nearest = kg_nearest_to(name);
  for (int g = 0; g < n_lines; ++g)
    if (mesh->groups[g].count > 0) kg_nearest_offer(&nearest, mesh->groups[g].name);
  return KG_FAIL(p->ctx, KEDGE_ERR_INPUT, "the mesh has no boundary group '%s'%s%s%s", name,
                 nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                 nearest.best ? "'?" : "");
}

static bool is_given(const kg_data_made *made, const kg_function *value)
{
  for (int i = 1; i < made->n_functions; ++i)
    if (value == &made->function[i]) return true;
  return false;
}

static kedge_status put_value(kg_elliptic *p, const char *function,
                              const kedge_boundary_value *from, kg_data_made *made)
{
  kg_function *const value = &made->function[made->n_functions];
  int group = -1;
  KG_TRY(find_group(p, function, from->group, &group));
  struct kg_resolved_boundary *const to = &made->resolved.boundaries[group];
  KG_REQUIRE(p->ctx, !is_given(made, to->value), KEDGE_ERR_INPUT,
             "the boundary group '%s' is given two values; keep one of them", from->group);
  KG_TRY(read(p, function, from->group, "value", from, value));
  ++made->n_functions;
  to->value = value;
  to->at = NULL;
  return KEDGE_OK;
}

/// A value of [boundary default]: of all its groups that no other value names.
static kedge_status put_rest(kg_elliptic *p, const char *function, const kedge_boundary_value *from,
                             kg_data_made *made)
{
  kg_function *const value = &made->function[made->n_functions];
  int n = 0;
  for (int g = 0; g < p->mesh->n_groups; ++g) {
    struct kg_resolved_boundary *const to = &made->resolved.boundaries[g];
    if (!to->is_rest || is_given(made, to->value)) continue;
    to->value = value;
    to->at = NULL;
    ++n;
  }
  KG_REQUIRE(p->ctx, n > 0, KEDGE_ERR_INPUT,
             "a value is given for 'default', and no boundary group is left to it");
  KG_TRY(read(p, function, from->group, "value", from, value));
  ++made->n_functions;
  return KEDGE_OK;
}

static bool is_rest(const kedge_boundary_value *value)
{
  return value->group && strcmp(value->group, "default") == 0;
}

/// A source as an array in device memory.
static kedge_status take_array(kedge_solver *s, const char *function, const kedge_data *from,
                               kg_data_made *made)
{
  kg_elliptic *const p = s->elliptic;
  KG_REQUIRE(p->ctx, !from->source && !from->source_function, KEDGE_ERR_ARG,
             "%s: the source needs a text, a function or an array, one of them", function);
  KG_TRY(kg_element_order_upload(s));
  made->data.origin = s->element_order.data;
  return kg_function_of_device(p->ctx, from->source_by_element, p->mesh->n_elements,
                               &made->function[0]);
}

static kedge_status put_source(kedge_solver *s, const char *function, const kedge_data *from,
                               kg_data_made *made)
{
  kg_elliptic *const p = s->elliptic;
  const kedge_boundary_value source = {NULL, from->source, from->source_function,
                                       from->source_user};
  made->n_functions = 1;
  if (from->source_by_element)
    KG_TRY(take_array(s, function, from, made));
  else if (source.text || source.function)
    KG_TRY(read(p, function, "the equation", "source", &source, &made->function[0]));
  else
    return KEDGE_OK;
  KG_TRY(kg_function_take_device(p->ctx, p->mesh->n_elements, &made->function[0]));
  made->resolved.equation.source = made->function[0];
  made->resolved.derives_source = false;
  // Whether the problem's own source is read does not matter to this solve, and no note says so.
  const char *const unread = made->resolved.unread;
  if (unread && strcmp(unread, "source") == 0) made->resolved.unread = NULL;
  made->data.gives_source = true;
  return KEDGE_OK;
}

static kedge_status make(kedge_solver *s, const char *function, const kedge_data *from,
                         kg_data_made *made)
{
  kg_elliptic *const p = s->elliptic;
  const size_t n = (size_t)p->mesh->n_groups * sizeof *made->resolved.boundaries;
  KG_REQUIRE(p->ctx, from->n_values >= 0 && (from->n_values == 0 || from->values), KEDGE_ERR_ARG,
             "%s: %d boundary values without an array", function, from->n_values);
  KG_TRY(kg_host_alloc(p->ctx, n, 1, &made->resolved.boundaries));
  memcpy(made->resolved.boundaries, p->equation.resolved.boundaries, n);
  KG_TRY(
      kg_host_calloc(p->ctx, (size_t)from->n_values + 1, sizeof *made->function, &made->function));
  made->start = from->start;
  made->n_device = from->n_device;
  made->device = from->device;
  KG_TRY(put_source(s, function, from, made));
  for (int i = 0; i < from->n_values; ++i)
    if (!is_rest(&from->values[i])) KG_TRY(put_value(p, function, &from->values[i], made));
  for (int i = 0; i < from->n_values; ++i)
    if (is_rest(&from->values[i])) KG_TRY(put_rest(p, function, &from->values[i], made));
  return KEDGE_OK;
}

kedge_data kg_data_all(const kedge_data *data)
{
  kedge_data all = KEDGE_DATA_INIT;
  if (data) memcpy(&all, data, data->size < sizeof all ? data->size : sizeof all);
  return all;
}

kedge_status kg_data_make(kedge_solver *s, const char *function, const kedge_data *from,
                          kg_data_made *made)
{
  *made = (kg_data_made){.data = kg_elliptic_data(s->elliptic)};
  if (!from) return KEDGE_OK;
  KG_TRY(kg_check_sized(s->elliptic->ctx, "KEDGE_DATA_INIT", from->size));
  const kedge_data all = kg_data_all(from);
  made->resolved = s->elliptic->equation.resolved;
  made->resolved.boundaries = NULL;
  made->data.resolved = &made->resolved;
  return make(s, function, &all, made);
}

void kg_data_free(kg_data_made *made)
{
  for (int i = 0; i < made->n_functions; ++i) kg_function_free(&made->function[i]);
  free(made->function);
  free(made->resolved.boundaries);
  *made = (kg_data_made){.n_device = 0};
}
