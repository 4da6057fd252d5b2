// Settings by calls: text, and functions of the calling program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/problem.h"

/// The setting of a key to a caller's function; its value is NULL.
static kg_setting function_of(const char *section, const char *key, kedge_function *function,
                              void *user)
{
  return (kg_setting){.section = (char *)section,
                      .key = (char *)key,
                      .function = function,
                      .user = user,
                      .origin = KG_FROM_CALL};
}

static kg_setting text_of(const char *section, const char *key, const char *value)
{
  kg_setting s = function_of(section, key, NULL, NULL);
  s.value = (char *)value;
  return s;
}

/// Whether a key takes functions: those that take expressions, but for what moves the mesh.
static bool takes_function(const char *section, const char *key)
{
  static const char *const keys[][2] = {{"", "diffusion"},
                                        {"", "reaction"},
                                        {"", "source"},
                                        {"boundary", "value"},
                                        {"boundary", "coefficient"}};
  const bool boundary = kg_section_group(section, "boundary") != NULL;
  if (!boundary && strcmp(section, "equation") != 0 && !kg_section_group(section, "region"))
    return false;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (boundary == (keys[i][0][0] != '\0') && strcmp(key, keys[i][1]) == 0) return true;
  return false;
}

/// A setting of the caller as one to three of the problem.
/// @param[out] list  [3]
static kedge_status expand(const kedge_problem *problem, int index, const kedge_setting *given,
                           kg_setting *list, int *n)
{
  kedge_context *const ctx = problem->ctx;
  const char *const section = given->section, *const key = given->key;
  kedge_function *const *const function = given->function;
  const bool one = function[0] && !function[1] && !function[2];
  const bool three = function[0] && function[1] && function[2];
  KG_REQUIRE(ctx, section && key, KEDGE_ERR_ARG,
             "kedge_problem_set_all: settings[%d]: section or key is NULL", index);
  KG_REQUIRE(ctx, given->value ? !function[0] && !function[1] && !function[2] : one || three,
             KEDGE_ERR_ARG,
             "kedge_problem_set_all: settings[%d], [%s] %s: it has a value as text, or one "
             "function, or three",
             index, section, key);
  if (given->value) {
    const bool bare = kg_section_group(section, "region") && !*key && !*given->value;
    *list = text_of(section, key, bare ? NULL : given->value);  // bare: the section alone
    *n = 1;
    return KEDGE_OK;
  }
  const bool gradient = strcmp(section, "exact") == 0 && strcmp(key, "u") == 0;
  const bool tensor = takes_function(section, key) && strcmp(key, "diffusion") == 0;
  KG_REQUIRE(ctx, !one || takes_function(section, key), KEDGE_ERR_INPUT,
             "[%s] %s takes no function: diffusion, reaction and source of [equation] and [region "
             "NAME] do, and value and coefficient of [boundary NAME]%s",
             section, key, gradient ? "; u of [exact] takes three, with its gradient" : "");
  KG_REQUIRE(
      ctx, one || gradient || tensor, KEDGE_ERR_INPUT,
      "[%s] %s takes no three functions: diffusion of [equation] and [region NAME] does, and "
      "u of [exact]",
      section, key);
  const char *const keys[2][3] = {{"diffusion", "diffusion_xy", "diffusion_yy"},
                                  {"u", "du_dx", "du_dy"}};
  *n = one ? 1 : 3;
  for (int i = 0; i < *n; ++i)
    list[i] = function_of(section, one ? key : keys[gradient][i], function[i], given->user[i]);
  return KEDGE_OK;
}

kedge_status kedge_problem_set_all(kedge_problem *problem, int n, const kedge_setting *settings)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_all: problem is NULL");
  KG_REQUIRE(problem->ctx, n >= 0 && (n == 0 || settings), KEDGE_ERR_ARG,
             "kedge_problem_set_all: n is %d, or settings is NULL", n);
  kg_setting *list;
  int count = 0;
  KG_TRY(kg_host_alloc(problem->ctx, (size_t)n * 3, sizeof *list, &list));
  kedge_status status = KEDGE_OK;
  for (int i = 0; i < n && status == KEDGE_OK; ++i) {
    int more = 0;
    status = expand(problem, i, &settings[i], list + count, &more);
    count += more;
  }
  if (status == KEDGE_OK) status = kg_problem_set_all(problem, list, count);
  free(list);
  return status;
}

kedge_status kedge_problem_set(kedge_problem *problem, const char *section, const char *key,
                               const char *value)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set: problem is NULL");
  KG_REQUIRE(problem->ctx, section && key && value, KEDGE_ERR_ARG,
             "kedge_problem_set: section, key or value is NULL");
  return kedge_problem_set_all(problem, 1, &(kedge_setting){section, key, value, {NULL}, {NULL}});
}

kedge_status kedge_problem_set_function(kedge_problem *problem, const char *section,
                                        const char *key, kedge_function *function, void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_function: problem is NULL");
  KG_REQUIRE(problem->ctx, section && key && function, KEDGE_ERR_ARG,
             "kedge_problem_set_function: section, key or function is NULL");
  return kedge_problem_set_all(problem, 1,
                               &(kedge_setting){section, key, NULL, {function}, {user}});
}

kedge_status kedge_problem_set_source(kedge_problem *problem, kedge_function *function, void *user)
{
  return kedge_problem_set_function(problem, "equation", "source", function, user);
}

kedge_status kedge_problem_set_tensor(kedge_problem *problem, const char *section,
                                      kedge_function *const *functions, void *const *users)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_tensor: problem is NULL");
  KG_REQUIRE(problem->ctx, section && functions && users, KEDGE_ERR_ARG,
             "kedge_problem_set_tensor: section, functions or users is NULL");
  KG_REQUIRE(problem->ctx,
             takes_function(section, "diffusion") && functions[0] && functions[1] && functions[2],
             KEDGE_ERR_INPUT,
             "kedge_problem_set_tensor: [%s] takes no diffusion, or a function is NULL", section);
  const kedge_setting tensor = {.section = section,
                                .key = "diffusion",
                                .function = {functions[0], functions[1], functions[2]},
                                .user = {users[0], users[1], users[2]}};
  return kedge_problem_set_all(problem, 1, &tensor);
}

kedge_status kedge_problem_set_boundary(kedge_problem *problem, const char *group,
                                        kedge_boundary_type type, kedge_function *function,
                                        void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_boundary: problem is NULL");
  kedge_context *const ctx = problem->ctx;
  const bool known = (int)type >= 0 && (int)type < KG_BOUNDARY_TYPES;
  KG_REQUIRE(ctx, group && group[0] && function && known, KEDGE_ERR_ARG,
             "kedge_problem_set_boundary: no group, no function or an unknown type");
  char *section;
  const size_t size = sizeof "boundary " + strlen(group);
  KG_TRY(kg_host_alloc(ctx, size, 1, &section));
  snprintf(section, size, "boundary %s", group);
  const kg_setting list[2] = {text_of(section, "type", kg_boundary_words[type]),
                              function_of(section, "value", function, user)};
  const kedge_status status = kg_problem_set_all(problem, list, 2);
  free(section);
  return status;
}

kedge_status kedge_problem_set_exact(kedge_problem *problem, kedge_function *u,
                                     kedge_function *du_dx, kedge_function *du_dy, void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_exact: problem is NULL");
  KG_REQUIRE(problem->ctx, u && du_dx && du_dy, KEDGE_ERR_ARG,
             "kedge_problem_set_exact: u and both derivatives are needed");
  const kedge_setting exact = {
      .section = "exact", .key = "u", .function = {u, du_dx, du_dy}, .user = {user, user, user}};
  return kedge_problem_set_all(problem, 1, &exact);
}
