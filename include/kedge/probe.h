/// @file
/// Probes: the fields of solutions at the same points, again and again, and as CSV.
#pragma once
#include "kedge/solution.h"
KEDGE_BEGIN_DECLS

typedef struct kedge_probe kedge_probe;

/// Find the elements that hold points, once. A point on an edge or a face belongs to the element of
/// the lowest number; one that lies outside by no more than 1e-9 of the size of the mesh, as
/// rounding has it, counts as inside, at the nearest place of an element there. Others are outside.
/// @param[in] mesh  borrowed; it must outlive the probe
/// @param[in] x, y  [n], copied
/// @retval KEDGE_ERR_ARG    an argument is NULL, or n is no positive number
/// @retval KEDGE_ERR_INPUT  no point lies in the mesh, or it is of tetrahedra
/// @retval KEDGE_ERR_MEMORY the device has less than kedge_locator_bytes() free, and 36 bytes a
///                          point, 52 in space; they are given back before the call returns
KEDGE_API kedge_status kedge_probe_create(kedge_context *ctx, const kedge_mesh *mesh, int64_t n,
                                          const double *x, const double *y, kedge_probe **out);
/// Likewise on a mesh of tetrahedra, which the former refuses, as this refuses others.
KEDGE_API kedge_status kedge_probe_create_space(kedge_context *ctx, const kedge_mesh *mesh,
                                                int64_t n, const double *x, const double *y,
                                                const double *z, kedge_probe **out);
KEDGE_API void kedge_probe_destroy(kedge_probe *probe);  ///< NULL is allowed

/// How many points there are, and how many of them are outside; 0 where probe is NULL.
KEDGE_API int64_t kedge_probe_count(const kedge_probe *probe);
KEDGE_API int64_t kedge_probe_outside(const kedge_probe *probe);

/// Evaluate a field at the points: the polynomials of the solution, without nodes between. From a
/// GPU only what belongs to elements with points is brought, unless that is most of it. Several
/// threads may call it at once.
/// @param[in]  solution  of the mesh of the probe, perhaps in another context, which then has the
///                       sentences of failures
/// @param[out] values    [n]; NaN outside
/// @retval KEDGE_ERR_ARG  the solution is of another mesh, or keeps means or a report alone
KEDGE_API kedge_status kedge_probe_values(const kedge_probe *probe, const kedge_solution *solution,
                                          kedge_field field, double *values);
/// Write CSV, whole or not at all: the line "x,y,region,u,u_star,qx,qy,sigma_x,sigma_y", in space
/// "x,y,z,region,u,u_star,qx,qy,qz,sigma_x,sigma_y,sigma_z", then one for each point. Numbers are
/// the shortest that read back as the same; those of points outside are left empty, and the report
/// of the solution says how many there are (probe_note).
/// @retval KEDGE_ERR_ARG  as of kedge_probe_values()
/// @retval KEDGE_ERR_IO   the file cannot be written; an old file there is as it was
KEDGE_API kedge_status kedge_probe_write(const kedge_probe *probe, kedge_solution *solution,
                                         const char *path);

/// Sections [probe NAME] of a problem, in their order: how many there are, and of each its NAME,
/// the CSV file with its points, in the folder of the problem file unless its path is absolute, or
/// NULL, and the CSV file that is asked for, relative to the current directory. Strings are
/// borrowed until the problem is changed; NULL where there is no such probe.
KEDGE_API int kedge_problem_probe_count(const kedge_problem *problem);
KEDGE_API const char *kedge_problem_probe_name(const kedge_problem *problem, int index);
KEDGE_API const char *kedge_problem_probe_file(const kedge_problem *problem, int index);
KEDGE_API const char *kedge_problem_probe_output(const kedge_problem *problem, int index);
/// How many steps of waves are between two rows of the file; 0 where there is no such probe.
KEDGE_API int64_t kedge_problem_probe_every(const kedge_problem *problem, int index);
/// Refuse files of points that cannot be read, or are no table of points, before there is a mesh.
/// Pipes are left for kedge_problem_probe_create(), as they can be read once.
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_IO  as kedge_problem_probe_create()
KEDGE_API kedge_status kedge_problem_check_probes(const kedge_problem *problem);
/// Make the probe of such a section.
/// @retval KEDGE_ERR_INPUT  it names no points, its file holds something else, or no point lies in
///                          the mesh; the sentence begins with the place in the problem file
/// @retval KEDGE_ERR_IO     its file cannot be read
KEDGE_API kedge_status kedge_problem_probe_create(kedge_context *ctx, const kedge_mesh *mesh,
                                                  const kedge_problem *problem, int index,
                                                  kedge_probe **out);
/// Make the probes of all such sections, whose points are found together: the search that each
/// takes alone is over the whole mesh.
/// @param[out] out  [kedge_problem_probe_count(problem)]; all are NULL after a failure
/// @retval KEDGE_ERR_INPUT, KEDGE_ERR_IO  as above, of the first that fails
KEDGE_API kedge_status kedge_problem_probes_create(kedge_context *ctx, const kedge_mesh *mesh,
                                                   const kedge_problem *problem, kedge_probe **out);

KEDGE_END_DECLS
