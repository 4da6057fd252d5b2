/// @file
/// Expressions as text, for tests of what parsing, derivatives and simplification make.
#pragma once
#include "problem/expression.h"

/// Text that parses back to the same tree; snprintf's conventions, -1 without memory or an end.
int expression_print(const kg_expression *e, char *text, size_t size);
