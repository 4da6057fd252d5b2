/// @file
/// An expression while it is read: the place in its text, and the error when a rule of the grammar
/// (grammar.c) does not find at that place what it expects.
#pragma once
#include "expression/expression_tree.h"

typedef struct kg_parser {
  const char *text, *at;
  const kg_constant *constants;
  int n_constants;
  const char *const *fields;  ///< names of fields, ends with NULL; NULL: none
  int nesting;
  bool failed;
  kg_expression_builder builder;
  kg_syntax_error *error;
} kg_parser;

/// The next character that is no white space; the parser moves to it.
char kg_parser_peek(kg_parser *p);
/// Move past `token` when it is next.
bool kg_parser_take(kg_parser *p, const char *token);
/// Bytes of the name that a text begins with, or 0.
size_t kg_name_length(const char *text);
/// The operation that a function name stands for, or KG_OP_COUNT.
kg_op kg_function_named(const char *name, size_t length);

/// The first failure stands. The text is moved to its end, so that every rule returns; all of these
/// return node 0.
__attribute__((format(printf, 4, 5))) int32_t kg_parser_fail(kg_parser *p, const char *where,
                                                             const char *hint, const char *format,
                                                             ...);
int32_t kg_parser_unexpected(kg_parser *p, const char *expected);
/// `partner` is missing; what it belongs to stands at `opening`.
int32_t kg_parser_unclosed(kg_parser *p, const char *partner, const char *opening);
int32_t kg_parser_unknown_function(kg_parser *p, const char *name, int length);
int32_t kg_parser_unknown_name(kg_parser *p, const char *name, int length);
