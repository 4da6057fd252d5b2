/// @file
/// The GPUs of this machine and the CPUs next to them.
#pragma once
#include <hwloc.h>
#include "kedge/machine.h"

/// Fill the CUDA part of `info`; a machine without a usable GPU gets a phrase that says why.
void kg_machine_describe_gpus(hwloc_topology_t topology, kedge_machine_info *info);
