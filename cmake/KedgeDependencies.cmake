# What kedge is built from: packages of Debian and Ubuntu, and the CUDA toolkit where it is installed.

find_package(OpenMP REQUIRED COMPONENTS C)
find_package(PkgConfig REQUIRED)
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc>=2.7)
pkg_search_module(HDF5 REQUIRED IMPORTED_TARGET hdf5 hdf5-serial)

# The C code includes CUDA and NVTX headers of the same toolkit that compiles the kernels.
if(KEDGE_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)  # the default place is often not on PATH
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      # Those of the GPUs that are there ("9.0", one a line); otherwise H100 and H200.
      execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE capabilities ERROR_QUIET)
      string(REGEX MATCHALL "[0-9]+\\.[0-9]" CMAKE_CUDA_ARCHITECTURES "${capabilities}")
      list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "\\." "")
      list(REMOVE_DUPLICATES CMAKE_CUDA_ARCHITECTURES)
      if(NOT CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90)
      endif()
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit 12.4 REQUIRED)
    set(KEDGE_WITH_CUDA ON)
    string(REPLACE ";" "," KEDGE_CUDA_ARCHITECTURES_TEXT "${CMAKE_CUDA_ARCHITECTURES}")
  else()
    message(STATUS "No CUDA compiler: the host backend alone is built")
  endif()
endif()

# NVTX is headers only; without a toolkit the ranges compile to nothing.
find_path(KEDGE_NVTX_INCLUDE_DIR nvtx3/nvToolsExt.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda
  PATH_SUFFIXES include)
mark_as_advanced(KEDGE_NVTX_INCLUDE_DIR)
if(NOT KEDGE_NVTX_INCLUDE_DIR)
  message(STATUS "No NVTX headers: profilers will see no ranges")
endif()

# hypre, which works by MPI: where it is, profiling compares with it.
find_package(MPI QUIET COMPONENTS C)
find_library(KEDGE_HYPRE_LIBRARY HYPRE)
find_path(KEDGE_HYPRE_INCLUDE_DIR _hypre_parcsr_ls.h PATH_SUFFIXES hypre)
mark_as_advanced(KEDGE_HYPRE_LIBRARY KEDGE_HYPRE_INCLUDE_DIR)
if(MPI_C_FOUND AND KEDGE_HYPRE_LIBRARY AND KEDGE_HYPRE_INCLUDE_DIR)
  add_library(kedge_hypre INTERFACE)
  target_include_directories(kedge_hypre SYSTEM INTERFACE ${KEDGE_HYPRE_INCLUDE_DIR})
  target_link_libraries(kedge_hypre INTERFACE ${KEDGE_HYPRE_LIBRARY} MPI::MPI_C)
endif()
