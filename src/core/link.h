/// @file
/// Symbolic links.
#pragma once

/// Where symbolic links lead from `path`, one after the other; what the last one names need not
/// exist. NULL, with errno set, where they are too many or memory is; the caller frees it.
char *kg_link_follow(const char *path);
