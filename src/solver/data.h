/// @file
/// The data of one solve (source, boundary values, initial trace), made from what the caller gives
/// instead of the problem's own.
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

/// Return the caller's data with all members of this version: those of an older header have fewer.
/// @param[in] data  NULL: none are given
kedge_data kg_data_all(const kedge_data *data);
/// Read the data that a caller gives for one solve.
/// @param[in]  function  the name of the called function, for error messages
/// @param[in]  from      NULL: use all data of the problem
/// @param[out] out       released by kg_data_free(), also after a failure; functions of `from` must
///                       be valid until then
/// @retval KEDGE_ERR_ARG    a value has neither a text nor a function, or both
/// @retval KEDGE_ERR_INPUT  a text is not valid, or a boundary group is unknown or given twice
kedge_status kg_data_make(kedge_solver *solver, const char *function, const kedge_data *from,
                          kg_data_made *out);
void kg_data_free(kg_data_made *made);
