// Format 4.0, which Gmsh writes as text alone today: text and bytes made here.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

/// Writes the numbers of a section of 4.0 as text or as bytes.
typedef struct sink {
  char *at;
  bool binary;
} sink;

static void put(sink *s, const void *value, size_t size, const char *text)
{
  if (s->binary) {
    memcpy(s->at, value, size);
    s->at += size;
  } else {
    s->at += sprintf(s->at, "%s ", text);
  }
}
static void put_int(sink *s, int32_t value)
{
  char text[16];
  snprintf(text, sizeof text, "%d", value);
  put(s, &value, sizeof value, text);
}
static void put_long(sink *s, int64_t value)
{
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  put(s, &value, sizeof value, text);
}
static void put_doubles(sink *s, int n, const double *value)
{
  for (int i = 0; i < n; ++i) {
    char text[32];
    snprintf(text, sizeof text, "%.17g", value[i]);
    put(s, &value[i], sizeof *value, text);
  }
}
static void put_end(sink *s)
{
  if (!s->binary) *s->at++ = '\n';
}

/// A triangle of order 2 and a line of its curved edge, as Gmsh's description of 4.0 has it: the
/// boxes of points too, an entity's tag before its dimension, nodes with their tags and parameters.
static size_t put_file_40(bool binary, char *out)
{
  static const double box[6] = {0, 0, 0, 1, 1, 0}, parameters[2] = {.25, .75};
  static const double place[6][3] = {{0, 0, 0},    {1, 0, 0},   {0, 1, 0},
                                     {.5, -.1, 0}, {.5, .5, 0}, {0, .5, 0}};
  const int32_t one = 1, line[] = {1, 2, 4}, triangle[] = {1, 2, 3, 4, 5, 6};
  sink s = {out, binary};
  s.at += sprintf(s.at, "$MeshFormat\n4 %d 8\n", binary);
  if (binary) memcpy(s.at, &one, sizeof one), s.at += sizeof one;
  s.at += sprintf(s.at, "%s$EndMeshFormat\n$Entities\n", binary ? "\n" : "");
  for (int d = 0; d < 4; ++d) put_long(&s, d < 3);
  put_end(&s);
  for (int d = 0; d < 3; ++d) {
    put_int(&s, 10 + d);
    put_doubles(&s, 6, box);
    put_long(&s, d > 0);
    if (d > 0) put_int(&s, 20 + d);
    if (d > 0) put_long(&s, 0);
    put_end(&s);
  }
  s.at += sprintf(s.at, "$EndEntities\n$Nodes\n");
  put_long(&s, 2);
  put_long(&s, 6);
  put_end(&s);
  for (int block = 0; block < 2; ++block) {
    const int first = block ? 2 : 0, end = block ? 6 : 2, dimension = 1 + block;
    put_int(&s, 10 + dimension);
    put_int(&s, dimension);
    put_int(&s, 1);
    put_long(&s, end - first);
    put_end(&s);
    for (int i = first; i < end; ++i) {
      put_int(&s, i + 1);
      put_doubles(&s, 3, place[i]);
      put_doubles(&s, dimension, parameters);
      put_end(&s);
    }
  }
  s.at += sprintf(s.at, "$EndNodes\n$Elements\n");
  put_long(&s, 2);
  put_long(&s, 2);
  put_end(&s);
  for (int dimension = 1; dimension <= 2; ++dimension) {
    const int n = dimension == 1 ? 3 : 6;
    put_int(&s, 10 + dimension);
    put_int(&s, dimension);
    put_int(&s, dimension == 1 ? 8 : 9);
    put_long(&s, 1);
    put_end(&s);
    put_int(&s, dimension);
    for (int k = 0; k < n; ++k) put_int(&s, dimension == 1 ? line[k] : triangle[k]);
    put_end(&s);
  }
  s.at += sprintf(s.at, "$EndElements\n");
  return (size_t)(s.at - out);
}

static void format_4_0_is_read_from_text_and_from_bytes(void **state)
{
  kedge_mesh *mesh[2];
  for (int binary = 0; binary < 2; ++binary) {
    char bytes[4096];
    const size_t n = put_file_40(binary, bytes);
    assert_ok(*state, build_from_bytes(*state, bytes, n, &mesh[binary]));
    assert_sound(mesh[binary]);
    assert_int_equal(mesh[binary]->geometry, 2);
    assert_int_equal(group_named(mesh[binary], 1, "21").count, 1);
    assert_int_equal(group_named(mesh[binary], 2, "22").count, 1);
    assert_true(fabs(mesh[binary]->info.area - (0.5 + 0.2 / 3)) < 1e-15);
    for (size_t k = 0; k < n - 14; ++k) {  // "$EndElements\n" may be what is cut off
      kedge_mesh *cut;
      assert_int_equal(build_from_bytes(*state, bytes, k, &cut), KEDGE_ERR_INPUT);
    }
  }
  assert_same_mesh(mesh[0], mesh[1]);
  kedge_mesh_destroy(mesh[0]);
  kedge_mesh_destroy(mesh[1]);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(format_4_0_is_read_from_text_and_from_bytes),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
