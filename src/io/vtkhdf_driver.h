/// @file
/// A driver of HDF5 that reads a file and refuses what lies beside it. Before 1.14 HDF5 dies where
/// a damaged file sends it to such a place: its own drivers read metadata through a buffer whose
/// addresses overflow, and one without that buffer is asked for every byte.
#pragma once
#include <hdf5.h>

/// Let files that are opened with these properties go through the driver; from HDF5 1.14 on they
/// stay with HDF5's own.
herr_t kg_hdf5_guard(hid_t access);
