/// @file
/// Settings of earlier versions that are gone: a problem file that has one is refused with what to
/// write instead.
#pragma once

/// What to write instead of a setting; NULL where nothing of it was removed.
const char *kg_removed_setting(const char *section, const char *key, const char *value);
