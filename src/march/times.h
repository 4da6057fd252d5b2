/// @file
/// Times as people write them.
#pragma once

/// Return the number of 15 significant digits that is at most two units in the last place away,
/// and where there is none the time itself: 3 * 0.3 is 0.9, not 0.8999999999999999.
double kg_time_round(double t);
