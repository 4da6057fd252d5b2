/// @file
/// Settings of earlier versions that are gone: a problem file that has one is refused with what to
/// write instead.
#pragma once
#include "problem/settings.h"

/// @retval KEDGE_ERR_INPUT  the key, or this value of it, is gone; the sentence says what to write
kedge_status kg_removed_check(const kg_settings *settings, const kg_setting *setting);
