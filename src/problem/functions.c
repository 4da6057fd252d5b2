// Functions of the calling program in place of text.
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

kedge_status kedge_problem_set_source(kedge_problem *problem, kedge_function *function, void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_source: problem is NULL");
  KG_REQUIRE(problem->ctx, function != NULL, KEDGE_ERR_ARG,
             "kedge_problem_set_source: function is NULL");
  const kg_setting s = function_of("equation", "source", function, user);
  return kg_problem_set_all(problem, &s, 1);
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

kedge_status kedge_problem_set_function(kedge_problem *problem, const char *section,
                                        const char *key, kedge_function *function, void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_function: problem is NULL");
  KG_REQUIRE(problem->ctx, section && key && function, KEDGE_ERR_ARG,
             "kedge_problem_set_function: section, key or function is NULL");
  KG_REQUIRE(problem->ctx, takes_function(section, key), KEDGE_ERR_INPUT,
             "[%s] %s takes no function: diffusion, reaction and source of [equation] and [region "
             "NAME] do, and value and coefficient of [boundary NAME]",
             section, key);
  const kg_setting s = function_of(section, key, function, user);
  return kg_problem_set_all(problem, &s, 1);
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
  const kg_setting list[3] = {function_of(section, "diffusion", functions[0], users[0]),
                              function_of(section, "diffusion_xy", functions[1], users[1]),
                              function_of(section, "diffusion_yy", functions[2], users[2])};
  return kg_problem_set_all(problem, list, 3);
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
  const kg_setting list[3] = {function_of("exact", "u", u, user),
                              function_of("exact", "du_dx", du_dx, user),
                              function_of("exact", "du_dy", du_dy, user)};
  return kg_problem_set_all(problem, list, 3);
}
