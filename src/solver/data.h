/// @file
/// The data of one solve from what a caller gives in place of the problem's.
#pragma once
#include "elliptic/elliptic.h"
#include "kedge/solver.h"

/// Data, and what they are made of. It does not move.
typedef struct kg_data_made {
  kg_data data;
  kg_resolved resolved;         ///< a view of that of the set-up, with boundaries of its own
  const kedge_solution *start;  ///< borrowed; NULL: zeros
  int n_device;                 ///< as of kedge_data
  const kedge_device_values *device;
  int n_functions;
  kg_function *function;  ///< the source, then the values: owned
} kg_data_made;

/// All data; those of an older header end earlier. @param[in] data  NULL: none
kedge_data kg_data_all(const kedge_data *data);
/// Take data of a caller.
/// @param[in]  function  that was called, for sentences
/// @param[in]  from      NULL: all are those of the problem
/// @param[out] out       kg_data_free(), also after a failure; given functions must live as long
/// @retval KEDGE_ERR_ARG    a value is neither text nor function, or both
/// @retval KEDGE_ERR_INPUT  a text is refused, a group is none of the mesh or given twice
kedge_status kg_data_make(kedge_solver *solver, const char *function, const kedge_data *from,
                          kg_data_made *out);
void kg_data_free(kg_data_made *made);
