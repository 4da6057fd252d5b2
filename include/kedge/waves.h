/// @file
/// Waves: problems whose [equation] system is maxwell-tm or acoustics (docs/waves.md), step by
/// step.
///
/// A march of them is made, stepped, asked for its time and reported on as any other (march.h); its
/// report has no solves. It has no kedge_solution: fields are read here. A failure in a step leaves
/// no state to go on from: later steps are refused.
#pragma once
#include "kedge/march.h"
#include "kedge/probe.h"
KEDGE_BEGIN_DECLS

/// The system of a problem, by its word: "elliptic" where it names none; NULL where it is NULL.
KEDGE_API const char *kedge_problem_system(const kedge_problem *problem);

/// The longest step that is stable on every mesh: that of step = auto with cfl = 1; 0 where the
/// problem is elliptic.
KEDGE_API double kedge_march_longest(const kedge_march *march);

/// The name of a field of the system: "Ez", "p". @return NULL where there is no such index, and
/// where the problem is elliptic
KEDGE_API const char *kedge_march_field(const kedge_march *march, int index);

// Functions below are KEDGE_ERR_ARG where the problem is elliptic, or the system has no such field,
// and KEDGE_ERR_MEMORY or KEDGE_ERR_DEVICE where the state cannot be brought to the host.

/// Values at the equispaced nodes of an order, 1 to KEDGE_ORDER_MAX + 1, as of
/// kedge_solution_values().
/// @param[out] values  [element][node], in the caller's order of elements
KEDGE_API kedge_status kedge_march_values(const kedge_march *march, const char *field, int order,
                                          double *values);
/// These nodes, as of kedge_solution_nodes(). @param[out] at  [element][node][dimension]
KEDGE_API kedge_status kedge_march_nodes(const kedge_march *march, int order, double *at);

/// The field's polynomials at the points of a probe of the same mesh (probe.h). From a GPU these
/// numbers alone are brought, by one kernel and one copy a step, however many fields and probes are
/// asked for. Points anywhere, once: kedge_march_values() at the order of the problem, and
/// kedge_locator_values().
/// @param[out] values  [kedge_probe_count()]; NaN outside
/// @retval KEDGE_ERR_ARG      also where the probe is of another mesh object
/// @retval KEDGE_ERR_NUMERIC  the field is not finite there
KEDGE_API kedge_status kedge_march_probe_values(const kedge_march *march, const kedge_probe *probe,
                                                const char *field, double *values);

/// The energy of the state: half of the integral of permittivity |E|^2 + permeability |H|^2, or of
/// p^2 / bulk + density |v|^2.
KEDGE_API kedge_status kedge_march_energy(const kedge_march *march, double *energy);
/// That of a region. @param[in] region  its name, else its number; NULL: all
/// @retval KEDGE_ERR_INPUT  the mesh has no such region, or several of this name
KEDGE_API kedge_status kedge_march_energy_of(const kedge_march *march, const char *region,
                                             double *energy);

/// The L2 norm of the error of a field against [exact] at the time that is reached.
/// @param[in] field  NULL: of all fields that [exact] has, together
/// @retval KEDGE_ERR_ARG  also where [exact] has no such field
KEDGE_API kedge_status kedge_march_error(const kedge_march *march, const char *field,
                                         double *error);

/// Write VTKHDF: Lagrange cells of the order of the problem with all fields by name, and the
/// region. Written under a temporary name, then renamed.
/// @param[in] path  ends in .vtkhdf or .hdf
/// @retval KEDGE_ERR_ARG  also where the path does not end in one of these
/// @retval KEDGE_ERR_IO   the file could not be written; an old file there is as it was
/// @retval KEDGE_ERR_UNSUPPORTED  as kedge_output_ready()
KEDGE_API kedge_status kedge_march_write(const kedge_march *march, const char *path);

KEDGE_END_DECLS
