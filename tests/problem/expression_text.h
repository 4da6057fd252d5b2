/// @file
/// Expressions from text and as text, for tests of what parsing, derivatives and simplification
/// make.
#pragma once
#include "expression/expression.h"

/// Text that parses back to the same tree; snprintf's conventions, -1 without memory or an end.
int expression_print(const kg_expression *e, char *text, size_t size);

/// Parse; the sentence of a failure gives line and column.
/// @param[in] constants  named parameters, beside x, y and pi
kedge_status expression_parse(kedge_context *ctx, const char *text, const kg_constant *constants,
                              int n_constants, kg_expression **out);
