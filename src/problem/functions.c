// Settings by calls: text, and functions of the calling program.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "problem/keys.h"
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
  static const char *const keys[][2] = {{"", "diffusion"},     {"", "reaction"},
                                        {"", "source"},        {"", "mass"},
                                        {"boundary", "value"}, {"boundary", "coefficient"}};
  const bool boundary = kg_section_group(section, "boundary") != NULL;
  if (kg_wave_takes_function(section, key)) return true;
  if (strcmp(section, "initial") == 0) return strcmp(key, "u") == 0;
  if (!boundary && strcmp(section, "equation") != 0 && !kg_section_group(section, "region"))
    return false;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (boundary == (keys[i][0][0] != '\0') && strcmp(key, keys[i][1]) == 0) return true;
  return false;
}

enum { FUNCTIONS_MAX = sizeof((kedge_setting *)0)->function / sizeof(kedge_function *) };

/// How many functions a setting has; -1: some stand behind one that is missing.
static int functions_of(const kedge_setting *given)
{
  int n = 0;
  while (n < FUNCTIONS_MAX && given->function[n]) ++n;
  for (int i = n; i < FUNCTIONS_MAX; ++i)
    if (given->function[i]) return -1;
  return n;
}

/// The keys of the functions that a setting has, as many as it has; NULL: it takes no such number.
static const char *const *keys_of(const kedge_setting *given, int n)
{
  static const char *const exact[] = {"u", "du_dx", "du_dy", "du_dz"};
  const bool takes = takes_function(given->section, given->key);
  if (n == 1) return takes ? &given->key : NULL;
  if (strcmp(given->section, "exact") == 0 && strcmp(given->key, "u") == 0)
    return n == 3 || n == 4 ? exact : NULL;
  if (n == KG_CURRENTS && takes && strcmp(given->key, "current") == 0) return kg_current_keys;
  for (int dimension = 2; dimension <= 3; ++dimension)
    if (n == kg_tensor_numbers(dimension) && takes && strcmp(given->key, "diffusion") == 0)
      return kg_tensor_keys[dimension - 2];
  return NULL;
}

/// A setting of the caller as those of the problem.
/// @param[out] list  [FUNCTIONS_MAX]
static kedge_status expand(const kedge_problem *problem, int index, const kedge_setting *given,
                           kg_setting *list, int *n)
{
  kedge_context *const ctx = problem->ctx;
  const char *const section = given->section, *const key = given->key;
  const int functions = functions_of(given);
  KG_REQUIRE(ctx, section && key, KEDGE_ERR_ARG,
             "kedge_problem_set_all: settings[%d]: section or key is NULL", index);
  const bool some = functions == 1 || functions == 3 || functions == 4 || functions == 6;
  KG_REQUIRE(ctx, given->value ? functions == 0 : some, KEDGE_ERR_ARG,
             "kedge_problem_set_all: settings[%d], [%s] %s: it has a value as text, or one "
             "function, or three, four or six",
             index, section, key);
  if (given->value) {
    const bool bare = kg_section_group(section, "region") && !*key && !*given->value;
    *list = text_of(section, key, bare ? NULL : given->value);  // bare: the section alone
    *n = 1;
    return KEDGE_OK;
  }
  const char *const *const keys = keys_of(given, functions);
  const bool gradient = strcmp(section, "exact") == 0 && strcmp(key, "u") == 0;
  KG_REQUIRE(ctx, keys || functions > 1, KEDGE_ERR_INPUT,
             "[%s] %s takes no function: diffusion, reaction and source of [equation] and [region "
             "NAME] do, value and coefficient of [boundary NAME], and u of [initial]%s",
             section, key,
             gradient ? "; u of [exact] takes three, with its gradient, in space four" : "");
  KG_REQUIRE(ctx, keys, KEDGE_ERR_INPUT,
             "[%s] %s takes no %s functions: diffusion of [equation] and [region NAME] takes "
             "three, in space six, and u of [exact] three, in space four",
             section, key,
             functions == 3   ? "three"
             : functions == 4 ? "four"
                              : "six");
  for (int i = 0; i < functions; ++i)
    list[i] = function_of(section, keys[i], given->function[i], given->user[i]);
  *n = functions;
  return KEDGE_OK;
}

kedge_status kedge_problem_set_all(kedge_problem *problem, int n, const kedge_setting *settings)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "kedge_problem_set_all: problem is NULL");
  KG_REQUIRE(problem->ctx, n >= 0 && (n == 0 || settings), KEDGE_ERR_ARG,
             "kedge_problem_set_all: n is %d, or settings is NULL", n);
  kg_setting *list;
  int count = 0;
  KG_TRY(kg_host_alloc(problem->ctx, (size_t)n * FUNCTIONS_MAX, sizeof *list, &list));
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

/// @param[in] caller  the function that was called, for sentences
static kedge_status set_tensor(kedge_problem *problem, const char *caller, int dimension,
                               const char *section, kedge_function *const *functions,
                               void *const *users)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG, "%s: problem is NULL", caller);
  KG_REQUIRE(problem->ctx, section && functions && users, KEDGE_ERR_ARG,
             "%s: section, functions or users is NULL", caller);
  bool all = takes_function(section, "diffusion");
  kedge_setting tensor = {.section = section, .key = "diffusion"};
  for (int k = 0; k < kg_tensor_numbers(dimension); ++k) {
    all = all && functions[k];
    tensor.function[k] = functions[k];
    tensor.user[k] = users[k];
  }
  KG_REQUIRE(problem->ctx, all, KEDGE_ERR_INPUT,
             "%s: [%s] takes no diffusion, or a function is NULL", caller, section);
  return kedge_problem_set_all(problem, 1, &tensor);
}

kedge_status kedge_problem_set_tensor(kedge_problem *problem, const char *section,
                                      kedge_function *const *functions, void *const *users)
{
  return set_tensor(problem, "kedge_problem_set_tensor", 2, section, functions, users);
}

kedge_status kedge_problem_set_tensor_space(kedge_problem *problem, const char *section,
                                            kedge_function *const *functions, void *const *users)
{
  return set_tensor(problem, "kedge_problem_set_tensor_space", 3, section, functions, users);
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

kedge_status kedge_problem_set_exact_space(kedge_problem *problem, kedge_function *u,
                                           kedge_function *du_dx, kedge_function *du_dy,
                                           kedge_function *du_dz, void *user)
{
  KG_REQUIRE(NULL, problem != NULL, KEDGE_ERR_ARG,
             "kedge_problem_set_exact_space: problem is NULL");
  KG_REQUIRE(problem->ctx, u && du_dx && du_dy && du_dz, KEDGE_ERR_ARG,
             "kedge_problem_set_exact_space: u and all three derivatives are needed");
  const kedge_setting exact = {.section = "exact",
                               .key = "u",
                               .function = {u, du_dx, du_dy, du_dz},
                               .user = {user, user, user, user}};
  return kedge_problem_set_all(problem, 1, &exact);
}
