/// @file
/// What the tests of meshes share.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "device/context.h"
#include "mesh/mesh.h"

#define MESHES KEDGE_SOURCE_DIR "/meshes/"

/// cmocka group fixtures: *state becomes a context of the host backend.
int open_context(void **state);
int close_context(void **state);

/// Asserts success and prints the context's sentence otherwise.
void assert_ok(kedge_context *ctx, kedge_status status);
/// Asserts the status and the exact sentence.
void assert_refused(kedge_context *ctx, kedge_status status, kedge_status expected,
                    const char *sentence);

/// Parse and build from text; the file is called "text.msh".
kedge_status build_from_text(kedge_context *ctx, const char *text, kedge_mesh **out);
kedge_status build_from_bytes(kedge_context *ctx, const char *bytes, size_t n, kedge_mesh **out);

/// The group of this name and dimension; the test fails when there is none.
kedge_mesh_group group_named(const kedge_mesh *mesh, int dimension, const char *name);

/// Everything that holds for every mesh: numbering, orientation, sides and edges, groups.
void assert_sound(const kedge_mesh *mesh);
/// Asserts that two meshes have the same arrays, bit for bit, and the same groups.
void assert_same_mesh(const kedge_mesh *a, const kedge_mesh *b);

/// A generator of numbers that are the same on every machine: 0 .. bound - 1.
uint64_t next_random(uint64_t *state, uint64_t bound);
/// A random order of 0 .. n - 1.
void shuffle(uint64_t *state, int32_t *order, int32_t n);
