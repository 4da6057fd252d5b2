/// @file
/// The coarse system by one V-cycle of hypre's BoomerAMG: another solver for kg_coarse_table, the
/// check of ours. Host and shadow backend only, on one thread, and one of the process at a time.
///
/// hypre works by MPI. create() initialises it if nobody has done so, and then it is finalised when
/// the process ends. Each solver is a world of its own (MPI_COMM_SELF).
#pragma once
#include "multigrid/coarse.h"
KEDGE_BEGIN_DECLS

/// Its bytes are host memory that hypre takes from malloc(). A matrix that is not positive definite
/// is found by its diagonal alone.
extern const kg_coarse_table kg_hypre;

KEDGE_END_DECLS
