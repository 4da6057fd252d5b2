/// @file
/// Symbolic links.
#pragma once

/// Follow symbolic links from `path` to a name, which need not exist; the caller frees it. Return
/// NULL, and set errno, after too many links or without memory.
char *kg_link_follow(const char *path);
