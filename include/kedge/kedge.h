/// @file
/// kedge solves elliptic problems in the plane and in space,
///
///     -div(diffusion grad u) + reaction u = source,
///
/// on triangles, quadrilaterals and tetrahedra by the hybridizable discontinuous Galerkin method,
/// on an NVIDIA GPU or on the cores of the host, without a global matrix. A solve gives u, its
/// gradient q, and u*, which converges one order faster than u.
///
/// A program uses these objects, which it creates and destroys:
///
/// - kedge_context (context.h): where to compute, the last error, the progress function;
/// - kedge_mesh (mesh.h): elements and named groups of boundary edges, from a file or from arrays;
/// - kedge_problem (problem.h): equation, boundary conditions, order and solver settings, by the
///   keys of docs/problem-file.md;
/// - kedge_solution (solution.h): the fields, the trace, and a report of the solve;
/// - kedge_integral (integral.h): an integral of an expression of a solution;
/// - kedge_solver (solver.h): a set-up that many solves share.
///
/// A function that can fail returns a kedge_status, which is 0 for success, and leaves one sentence
/// in the context. The library never prints and never ends the process. This program solves
/// -div grad u = exp(-x^2) with u = 0 on the boundary of a square and writes a file for ParaView:
///
/// ```c
/// kedge_context *ctx = NULL;
/// kedge_mesh *mesh = NULL;
/// kedge_problem *problem = NULL;
/// kedge_solution *solution = NULL;
/// if (kedge_context_create(NULL, &ctx) || kedge_mesh_generate(ctx, "square 40", &mesh) ||
///     kedge_problem_create(ctx, &problem) || kedge_problem_set(problem, "space", "order", "4") ||
///     kedge_problem_set(problem, "equation", "source", "exp(-x^2)") ||
///     kedge_problem_set(problem, "boundary default", "type", "dirichlet") ||
///     kedge_problem_set(problem, "boundary default", "value", "0") ||
///     kedge_solve(ctx, mesh, problem, &solution) || kedge_solution_write(solution, "u.vtkhdf"))
///   fprintf(stderr, "%s\n", kedge_context_error(ctx));
/// kedge_solution_destroy(solution);
/// kedge_problem_destroy(problem);
/// kedge_mesh_destroy(mesh);
/// kedge_context_destroy(ctx);
/// ```
///
/// docs/api.md explains more of it, and machine.h says what the machine has.
#pragma once
#include "kedge/base.h"
#include "kedge/context.h"
#include "kedge/mesh.h"
#include "kedge/problem.h"
#include "kedge/solution.h"
#include "kedge/integral.h"
#include "kedge/probe.h"
#include "kedge/solver.h"
#include "kedge/march.h"
#include "kedge/waves.h"
#include "kedge/machine.h"
