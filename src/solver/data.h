/// @file
/// The data of one solve, in place of what the problem of a set-up says.
#pragma once
#include "kedge/solver.h"
#include "elliptic/elliptic.h"

/// What data have replaced in a pipeline. Zeros: nothing.
typedef struct kg_data {
  kg_function source;  ///< of the set-up
  bool derives_source;
  struct kg_resolved_boundary *boundaries;  ///< likewise, [mesh group]
  const kedge_solution *start;              ///< borrowed; NULL: zeros
  int n_device;                             ///< as of kedge_data
  const kedge_device_values *device;
  int n_given;
  kg_function *given;  ///< the source, then the values: owned
} kg_data;

/// Put data into the resolved problem. After a failure nothing has changed.
/// @param[in]  function  that was called, for sentences
/// @param[in]  data      NULL: there is nothing to put
/// @param[out] out       kg_data_restore(), also after a failure; given functions must live as long
/// @retval KEDGE_ERR_ARG    a value is neither text nor function, or both
/// @retval KEDGE_ERR_INPUT  a text is refused, a group is none of the mesh or given twice
kedge_status kg_data_put(kedge_solver *solver, const char *function, const kedge_data *data,
                         kg_data *out);
/// Bring back what the set-up has.
void kg_data_restore(kg_elliptic *p, kg_data *data);
