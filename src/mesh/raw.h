/// @file
/// Raw meshes: what readers and generators fill and what writers are given.
#pragma once
#include "mesh/mesh.h"

/// Refuse to make a mesh that memory would not hold: an allocation that is too large succeeds on
/// Linux, and the process is killed when it writes there.
/// @param[in] source      what it is made of, for the sentence
/// @param[in] cell        shape of its elements; that of more sides where there are both
/// @param[in] raw_exists  its raw mesh is in memory already
kedge_status kg_mesh_check_memory(kedge_context *ctx, const char *source, const kg_cell *cell,
                                  int64_t n_elements, bool raw_exists);
/// Allocate arrays for these counts (names excepted); on failure nothing is held.
/// @param[in] width  corners an element
kedge_status kg_raw_mesh_alloc(kedge_context *ctx, int64_t n_vertices, int64_t n_elements,
                               int width, int64_t n_lines, kg_raw_mesh *out);
/// Append a copy of `name`; `length` bytes of it.
kedge_status kg_raw_mesh_name(kedge_context *ctx, kg_raw_mesh *raw, int dimension, int32_t tag,
                              const char *name, size_t length);
/// Append the names of a mesh's groups, except those that are just numbers.
kedge_status kg_raw_mesh_names(kedge_context *ctx, kg_raw_mesh *raw, const kedge_mesh *mesh);

/// The mesh in the caller's numbering, gaps of unused vertices closed. Every boundary edge is a
/// line, of tag 0 where it has no group of the caller; so is every edge of a group in the domain.
kedge_status kg_mesh_to_raw(kedge_context *ctx, const kedge_mesh *mesh, kg_raw_mesh *out);
/// rank[v]: place of vertex v in the caller's numbering, gaps closed; the caller frees it.
kedge_status kg_mesh_vertex_ranks(kedge_context *ctx, const kedge_mesh *mesh, int32_t **rank);
