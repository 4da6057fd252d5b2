/// @file
/// Whether a file can be written, before it is: the library and the command refuse with one
/// sentence.
#pragma once
#include <limits.h>
#include <stdbool.h>

typedef struct kg_writable {
  const char *path;                   ///< as it was given
  const char *what;                   ///< its content, for sentences: "report"
  char *file;                         ///< that `path` leads to, links followed; the caller frees it
  bool special;                       ///< a pipe, a terminal, a stream: written itself
  char sentence[2 * PATH_MAX + 256];  ///< of a refusal
} kg_writable;

/// Follow links, which need not lead to a file that exists, and look whether it can be replaced by
/// a new one in its folder.
/// @param[in,out] w        path and what are set
/// @param[in]     regular  refuse what is special
/// @return false: w->sentence says why not
bool kg_writable_find(kg_writable *w, bool regular);
/// Whether the name ends in one of two endings, with their '.'; the second may be NULL. What is
/// special may have any name.
/// @return false: w->sentence says so
bool kg_writable_named(kg_writable *w, const char *ending, const char *other);
/// Make the sentence "cannot write the report r.json: ...". Returns false.
bool kg_writable_refuse(kg_writable *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
