/// @file
/// Predicates say whether a finding holds, given d->threshold, and fill in the words that its
/// sentence leaves open.
#pragma once
#include "diagnose/diagnose.h"

/// A predicate that fails is false, and sets d->status.
typedef bool kg_predicate(kg_diagnosis *d);

void kg_say_word(kg_diagnosis *d, const char *word);
/// @param[in] format  of printf, for one double
void kg_say_number(kg_diagnosis *d, const char *format, double number);
/// Two words: x and y, in space the latter followed by z, for "x = %s, y = %s".
void kg_say_place(kg_diagnosis *d, const char *format, const double *at);
/// Likewise for "(%s, %s)".
void kg_say_point(kg_diagnosis *d, const char *format, const double *at);

kg_predicate kg_finds_split, kg_finds_periodic_lines, kg_finds_polygon, kg_finds_plane_faces,
    kg_finds_flattened, kg_finds_high_geometry;
kg_predicate kg_finds_overlapping, kg_finds_unjoined, kg_finds_nothing_joined;
kg_predicate kg_finds_limit, kg_finds_rounding_reached, kg_finds_no_solution, kg_finds_out_of_reach;
kg_predicate kg_finds_undetermined, kg_finds_large_stabilization, kg_finds_single_precision;
kg_predicate kg_finds_no_estimate, kg_finds_left_by_tolerance, kg_finds_left_by_rounding;
kg_predicate kg_finds_idle_quadrature;
kg_predicate kg_finds_unread_key, kg_finds_unused_parameter, kg_refuses_lost_data, kg_finds_no_data,
    kg_finds_zero, kg_finds_little_reaction;
kg_predicate kg_finds_unused_inverse, kg_finds_strong_tensor, kg_finds_turned_tensor;
kg_predicate kg_finds_negative_robin, kg_finds_large_robin;
kg_predicate kg_finds_flat_triangles, kg_finds_many_iterations;
kg_predicate kg_finds_short_rule, kg_finds_rough_coefficient, kg_finds_moving_source,
    kg_finds_untried_source, kg_finds_moving_boundary;
kg_predicate kg_finds_jump_in_time;
kg_predicate kg_finds_jump_of_exact;
kg_predicate kg_finds_other_source, kg_finds_flux_jump, kg_finds_other_boundary;
kg_predicate kg_refuses_lost_u, kg_finds_lost_field, kg_finds_lost_gradient, kg_finds_lost_error;
kg_predicate kg_finds_poor_u, kg_finds_poor_star;
kg_predicate kg_finds_small_error, kg_finds_small_error_left, kg_finds_coarse_norms;
