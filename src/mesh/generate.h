/// @file
/// The meshes that kedge generates: each fills a raw mesh.
#pragma once
#include "mesh/mesh.h"

/// What becomes of the squares that a domain consists of.
typedef enum kg_pattern {
  KG_PATTERN_TRIANGLES,  ///< split by the diagonal from lower left to upper right
  KG_PATTERN_WHOLE,
  KG_PATTERN_CHECKERBOARD,  ///< whole where i + j is even, else split
  KG_PATTERN_TETRAHEDRA,    ///< cubes, split into six
} kg_pattern;

typedef struct kg_form_args {
  int64_t n, m;  ///< numbers of the words; m of rings alone
  kg_pattern pattern;
} kg_form_args;

kedge_status kg_form_square(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);
kedge_status kg_form_lshape(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);
kedge_status kg_form_ring(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);
kedge_status kg_form_disk(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);
kedge_status kg_form_cube(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);

/// What the words of a generator make, known without making it.
typedef struct kg_form_size {
  int dimension;
  int64_t elements[KG_BLOCKS_MAX];  ///< triangles, quadrilaterals; tetrahedra
  int64_t rim;                      ///< every group has a multiple of these edges
} kg_form_size;

/// Count. Refusals are those of kg_mesh_generate(), but for memory.
kedge_status kg_form_count(kedge_context *ctx, const char *words, kg_form_size *out);

enum { KG_FORM_WORDS = 64 };
/// The words of a mesh of the same form, with elements of the same shapes, that has about one in
/// 4^times as many.
/// @param[in] words  that kg_form_count() takes
kedge_status kg_form_smaller(kedge_context *ctx, const char *words, int times,
                             char smaller[KG_FORM_WORDS]);

/// Bend straight elements whose nodes are there: all of a ring, to polar coordinates; of a disk
/// those at the boundary.
void kg_bend_ring(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);
void kg_bend_disk(kedge_context *ctx, const kg_form_args *args, kg_raw_mesh *raw);

// Helpers of the forms.

enum { KG_FORM_REGION = 1 };  ///< of every generated mesh, named "domain"

/// Corners of one element where the pattern gives one shape.
static inline int kg_pattern_width(kg_pattern pattern)
{
  return pattern == KG_PATTERN_TRIANGLES ? 3 : 4;
}
/// Name lines of tag 1, 2, ... and the region.
kedge_status kg_form_names(kedge_context *ctx, kg_raw_mesh *raw, const char *const *names,
                           int n_names);
void kg_form_line(kg_raw_mesh *raw, int64_t a, int64_t b, int32_t tag);
