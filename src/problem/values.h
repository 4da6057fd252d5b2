/// @file
/// Values of settings: whole numbers, constants, functions, words. What a value must not be is
/// KEDGE_ERR_INPUT, with the place of the setting and what it may be.
#pragma once
#include "problem/problem.h"

kedge_status kg_value_integer(const kg_settings *settings, const kg_setting *s, int64_t least,
                              int64_t most, int64_t *out);
/// The number of the word among `words`.
kedge_status kg_value_word(const kg_settings *settings, const kg_setting *s,
                           const char *const *words, int n_words, int *out);
/// An expression with the parameters of the problem; an error gives line and column.
kedge_status kg_value_expression(const kedge_problem *problem, const kg_settings *settings,
                                 const kg_setting *s, kg_expression **out);
/// Likewise an expression that may name fields (kg_expression_parse_fields()).
kedge_status kg_value_of_fields(const kedge_problem *problem, const kg_settings *settings,
                                const kg_setting *s, const char *const *fields,
                                kg_expression **out);
/// Evaluates an expression with given constants; refused when it depends on x or y or is not
/// finite.
kedge_status kg_value_constant(const kg_constant *constants, int n_constants,
                               const kg_settings *settings, const kg_setting *s, double *out);
/// Constants, one behind the other, with commas between. @param[out] out  [*n], to be freed
kedge_status kg_value_constants(const kg_constant *constants, int n_constants,
                                const kg_settings *settings, const kg_setting *s, int *n,
                                double **out);
/// The bytes [begin, end) of a value that is a list, with blanks in place of the others: columns
/// stay what they are.
/// @param[out] part  its value is to be freed, and is NULL on failure
kedge_status kg_value_part(const kg_settings *settings, const kg_setting *s, size_t begin,
                           size_t end, kg_setting *part);
enum { KG_LIST_MAX = KG_TENSOR_MAX };  ///< expressions of a list
/// How many expressions a list has: commas outside of brackets stand between.
/// @param[out] comma  the first ones
int kg_count_parts(const char *text, const char *comma[KG_LIST_MAX]);
/// Whether a list stands within brackets: (1, 0, 1).
bool kg_is_bracketed(const char *text);
/// Part k of n of a list, as a function.
kedge_status kg_value_function_part(const kedge_problem *problem, const kg_settings *settings,
                                    const kg_setting *s, const char *const *comma, int n, int k,
                                    kg_function *out);
/// A constant, an expression or the caller's function.
kedge_status kg_value_function(const kedge_problem *problem, const kg_settings *settings,
                               const kg_setting *s, kg_function *out);
