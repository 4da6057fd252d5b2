/// @file
/// The words of settings that choose one of a few things, in the order of their enumerations.
#pragma once
#include "kedge/problem.h"

typedef struct kg_words {
  const char *const *word;
  int n;
} kg_words;

extern const kg_words kg_operator_words, kg_preconditioner_words, kg_smoother_words,
    kg_precision_words;
