// These functions check that settings of the trace solve go together. Multigrid and its smoother
// are made from the packed local matrices, and single precision works in multigrid alone.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "problem/problem.h"

enum { SETTING_BYTES = 64 };

/// The cycle, which block-jacobi has not: "smoothing_steps = 2"; "" when its settings are the
/// defaults.
static const char *setting_of_cycle(const kedge_problem *p, char text[SETTING_BYTES])
{
  text[0] = '\0';
  if (p->smoothing_steps > 1)
    snprintf(text, SETTING_BYTES, "smoothing_steps = %d", p->smoothing_steps);
  return text;
}

/// The first setting that only multigrid has, or of a smoother, which block-jacobi has too; "" when
/// there is none.
static const char *setting_of_multigrid(const kedge_problem *p, char text[SETTING_BYTES])
{
  if (p->precision != KEDGE_PRECISION_DOUBLE)
    snprintf(text, SETTING_BYTES, "precision = %s", kedge_precision_name(p->precision));
  else if (p->smoother != KEDGE_SMOOTHER_AUTO)
    snprintf(text, SETTING_BYTES, "smoother = %s", kedge_smoother_name(p->smoother));
  else
    setting_of_cycle(p, text);
  return text;
}

bool kg_problem_asks_multigrid(const kedge_problem *p)
{
  char text[SETTING_BYTES];
  if (p->preconditioner != KEDGE_PRECONDITIONER_AUTO)
    return p->preconditioner == KEDGE_PRECONDITIONER_MULTIGRID;
  return setting_of_multigrid(p, text)[0] != '\0';
}

/// Refuse the setting that a sentence begins with, "smoother = line ...", with its place in the
/// problem file.
static kedge_status conflict(kedge_context *ctx, const kedge_problem *p, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static kedge_status conflict(kedge_context *ctx, const kedge_problem *p, const char *format, ...)
{
  char sentence[500], key[SETTING_BYTES];
  va_list args;
  va_start(args, format);
  vsnprintf(sentence, sizeof sentence, format, args);
  va_end(args);
  snprintf(key, sizeof key, "%.*s", (int)strcspn(sentence, " "), sentence);
  return kg_problem_fail(ctx, p, kg_settings_find(&p->settings, "solver", key), "%s", sentence);
}

/// Fail where a preconditioner that is made from packed local matrices meets an operator that does
/// not keep them.
static kedge_status check_operator(kedge_context *ctx, const kedge_problem *p)
{
  if (p->operator_kind == KEDGE_OPERATOR_MATRIX_FREE) return KEDGE_OK;
  const char *const operator_name = kedge_operator_name(p->operator_kind);
  char text[SETTING_BYTES];
  if (p->preconditioner == KEDGE_PRECONDITIONER_MULTIGRID ||
      p->preconditioner == KEDGE_PRECONDITIONER_BLOCK_JACOBI)
    return conflict(ctx, p,
                    "preconditioner = %s needs operator = matrix-free: it is made from the packed "
                    "local matrices, which operator = %s does not keep; change one of the two",
                    kedge_preconditioner_name(p->preconditioner), operator_name);
  if (kg_problem_asks_multigrid(p))
    return conflict(ctx, p,
                    "%s is a setting of multigrid, which needs operator = matrix-free: it is made "
                    "from the packed local matrices, which operator = %s does not keep; change one "
                    "of the two",
                    setting_of_multigrid(p, text), operator_name);
  return KEDGE_OK;
}

/// Refuse a number of points a direction, unless it is 0, that is too little for the order.
static kedge_status check_quadrature(kedge_context *ctx, const kedge_problem *p,
                                     const char *section, int rows)
{
  if (rows == 0 || rows >= p->order + 2) return KEDGE_OK;
  return kg_problem_fail(ctx, p, kg_settings_find(&p->settings, section, "quadrature"),
                         "[%s] quadrature = %d is too little for order %d: take %d points a "
                         "direction or more",
                         section, rows, p->order, p->order + 2);
}

/// Refuse a length where a stabilization is given, which has none.
static kedge_status check_length(kedge_context *ctx, const kedge_problem *p)
{
  if (p->length == 0.0 || p->stabilization == 0.0) return KEDGE_OK;
  return kg_problem_fail(ctx, p, kg_settings_find(&p->settings, "space", "length"),
                         "length has no effect beside stabilization = %s; leave one of them out",
                         kg_settings_find(&p->settings, "space", "stabilization")->value);
}

kedge_status kg_problem_check_solver(kedge_context *ctx, const kedge_problem *p)
{
  KG_TRY(check_length(ctx, p));
  KG_TRY(check_quadrature(ctx, p, "space", p->quadrature));
  KG_TRY(check_quadrature(ctx, p, "equation", p->load_quadrature));
  KG_TRY(check_quadrature(ctx, p, "exact", p->exact_quadrature));
  KG_TRY(check_operator(ctx, p));
  if (p->preconditioner == KEDGE_PRECONDITIONER_AUTO || kg_problem_asks_multigrid(p))
    return KEDGE_OK;
  const char *const name = kedge_preconditioner_name(p->preconditioner);
  if (p->precision != KEDGE_PRECISION_DOUBLE)
    return conflict(ctx, p,
                    "precision = %s needs preconditioner = multigrid: only that works in single "
                    "precision; with preconditioner = %s leave precision = double",
                    kedge_precision_name(p->precision), name);
  const bool smooths = p->preconditioner == KEDGE_PRECONDITIONER_BLOCK_JACOBI;
  char text[SETTING_BYTES];
  const char *const unread = smooths ? setting_of_cycle(p, text) : setting_of_multigrid(p, text);
  if (unread[0] != '\0')
    return conflict(ctx, p,
                    "%s is a setting of multigrid, and preconditioner = %s would not read it; "
                    "leave it out, or take preconditioner = multigrid",
                    unread, name);
  return KEDGE_OK;
}
