/// @file
/// Files that appear only when they are complete: written under a temporary name, flushed to disk,
/// renamed.
#pragma once
#include <stdio.h>

#include "core/error.h"

/// A file that is being written. Zero-initialised: none.
typedef struct kg_target {
  kedge_context *ctx;
  const char *what;  ///< its content, for sentences: "report"
  char *path;        ///< the final file: what a symbolic link leads to, not the link
  char *temporary;   ///< stands in for it in its folder, hidden; NULL where `path` is no regular
      ///< file: to rename a file over a pipe, a terminal or /dev/null would destroy it
  bool is_passing;  ///< it is written again and again, and is not flushed to disk
  int slot;         ///< among the files that kedge_partial_files_remove() knows
} kg_target;

/// Decide where the file is written; nothing is created.
/// @param[in] what     its content, for sentences: "report"; it is kept
/// @param[in] regular  refuse what is no regular file
/// @retval KEDGE_ERR_IO  it cannot be written (core/writable.h)
kedge_status kg_target_open(kedge_context *ctx, const char *path, const char *what, bool regular,
                            kg_target *out);
/// Fail with KEDGE_ERR_IO and the sentence "cannot write the report r.json: " and why.
kedge_status kg_target_fail(const kg_target *target, const char *why);
/// The name to write to.
const char *kg_target_name(const kg_target *target);
/// Take room on the disk for the temporary file, so that a lack of it is known before the work.
/// @param[in] descriptor  of the temporary file, opened by the caller
kedge_status kg_target_reserve(const kg_target *target, int descriptor, int64_t bytes);
/// Write bytes at `offset`.
kedge_status kg_target_write(const kg_target *target, int descriptor, int64_t offset, int64_t bytes,
                             const void *values);
/// Flush the temporary file to disk, unless it is passing, and rename it; its stream or descriptor
/// has been closed.
kedge_status kg_target_commit(const kg_target *target);
/// Remove what was not committed, and free. Does nothing for a target that was never opened.
void kg_target_close(kg_target *target);

/// Write a whole file: `put` writes it to a stream, whose failures are seen here.
/// @param[in] what  its content, for sentences: "report"
kedge_status kg_target_stream(kedge_context *ctx, const char *path, const char *what,
                              void (*put)(FILE *stream, void *user), void *user);
/// Likewise a file that is written again and again, and that can be made of other files where the
/// machine goes down: it is not flushed to disk.
kedge_status kg_target_stream_passing(kedge_context *ctx, const char *path, const char *what,
                                      void (*put)(FILE *stream, void *user), void *user);
