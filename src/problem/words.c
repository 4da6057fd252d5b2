#include "problem/words.h"

static const char *const operator_words[] = {
    [KEDGE_OPERATOR_MATRIX_FREE] = "matrix-free",
    [KEDGE_OPERATOR_MATRIX_FREE_PLAIN] = "matrix-free-plain",
    [KEDGE_OPERATOR_ELL] = "ell"};

static const char *const preconditioner_words[] = {
    [KEDGE_PRECONDITIONER_AUTO] = "auto",
    [KEDGE_PRECONDITIONER_JACOBI] = "jacobi",
    [KEDGE_PRECONDITIONER_MULTIGRID] = "multigrid",
    [KEDGE_PRECONDITIONER_BLOCK_JACOBI] = "block-jacobi"};

static const char *const smoother_words[] = {
    [KEDGE_SMOOTHER_EDGE] = "edge", [KEDGE_SMOOTHER_LINE] = "line", [KEDGE_SMOOTHER_AUTO] = "auto"};

static const char *const precision_words[] = {[KEDGE_PRECISION_DOUBLE] = "double",
                                              [KEDGE_PRECISION_MIXED] = "mixed",
                                              [KEDGE_PRECISION_COMPACT] = "compact"};

const kg_words kg_operator_words = {operator_words, KEDGE_OPERATOR_COUNT};
const kg_words kg_preconditioner_words = {preconditioner_words, KEDGE_PRECONDITIONER_COUNT};
const kg_words kg_smoother_words = {smoother_words, KEDGE_SMOOTHER_COUNT};
const kg_words kg_precision_words = {precision_words, KEDGE_PRECISION_COUNT};

static const char *word_of(const kg_words *words, unsigned kind)
{
  return kind < (unsigned)words->n ? words->word[kind] : "unknown";
}

const char *kedge_operator_name(kedge_operator kind)
{
  return word_of(&kg_operator_words, (unsigned)kind);
}

const char *kedge_preconditioner_name(kedge_preconditioner kind)
{
  return word_of(&kg_preconditioner_words, (unsigned)kind);
}

const char *kedge_smoother_name(kedge_smoother kind)
{
  return word_of(&kg_smoother_words, (unsigned)kind);
}

const char *kedge_precision_name(kedge_precision kind)
{
  return word_of(&kg_precision_words, (unsigned)kind);
}
