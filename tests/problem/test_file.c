// The problem file: what is read, overrides.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/file.h"
#include "problem/keys.h"
#include "problem/problem.h"

static kedge_problem *parsed(const char *text, const char *override)
{
  kedge_problem *p;
  if (kg_problem_parse(NULL, "plate.ini", text, strlen(text), &override, override ? 1 : 0, &p) !=
      KEDGE_OK)
    fail_msg("%s: %s", text, kedge_context_error(NULL));
  return p;
}

static double at(const kg_function *f, double x, double y)
{
  double value;
  kg_function_evaluate(f, &(kedge_points){.n = 1, .x = &x, .y = &y}, &value);
  return value;
}

static void a_whole_file_is_read(void **state)
{
  (void)state;
  kedge_problem *p = parsed(
      "# a plate\n"
      "[mesh]\n"
      "file = plate.msh              # or: generate = square 40\n"
      "refine = 2\n"
      "[space]\n"
      "order = 4\n"
      "stabilization = 3/h\n"
      "[equation]\n"
      "diffusion = 2*a\n"
      "reaction = a^2 ; text\n"
      "source = a*x+y\n"
      "[parameters]\n"
      "a = 1+0.5\n"
      "b = 2*a\n"
      "[boundary outer wall]\n"
      "type = dirichlet\n"
      "value = b\n"
      "[boundary 7]\n"
      "type=neumann\n"
      "value=x<0.5 ? 1 : y\n"
      "[exact]\n"
      "u = x^2*y\n"
      "[solver]\n"
      "operator = ell\n"
      "preconditioner = multigrid\n"
      "smoother = line\n"
      "smoothing_steps = 3\n"
      "precision = mixed\n"
      "tolerance = 1e-8\n"
      "max_iterations = 123456789012\n"
      "[output]\n"
      "file = my plate.vtkhdf\n"
      "fields = cells\n",
      NULL);
  assert_string_equal(p->mesh_file, "plate.msh");
  assert_null(p->mesh_generate);
  assert_int_equal(p->refine, 2);
  assert_int_equal(p->order, 4);
  assert_true(p->stabilization == 3 && p->stabilization_scaling == KEDGE_SCALING_INVERSE_H);
  assert_true(p->equation.diffusion[0].constant == 3 && p->equation.reaction.constant == 2.25);
  assert_true(at(&p->equation.source, 2, 5) == 8);
  assert_int_equal(p->n_boundaries, 2);
  assert_string_equal(p->boundaries[0].group, "outer wall");
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_DIRICHLET);
  assert_int_equal(p->boundaries[0].value.kind, KG_FUNCTION_CONSTANT);
  assert_true(at(&p->boundaries[0].value, 0, 0) == 3);
  assert_int_equal(p->boundaries[0].type_at->line, 16);
  assert_string_equal(p->boundaries[1].group, "7");
  assert_int_equal(p->boundaries[1].type, KEDGE_BOUNDARY_NEUMANN);
  assert_true(at(&p->boundaries[1].value, 0.75, 9) == 9);
  assert_true(at(&p->exact_u, 2, 3) == 12 && at(&p->exact_dx, 2, 3) == 12);
  assert_true(at(&p->exact_dy, 2, 3) == 4);
  assert_int_equal(p->operator_kind, KEDGE_OPERATOR_ELL);
  assert_int_equal(p->preconditioner, KEDGE_PRECONDITIONER_MULTIGRID);
  assert_int_equal(p->smoother, KEDGE_SMOOTHER_LINE);
  assert_int_equal(p->smoothing_steps, 3);
  assert_int_equal(p->precision, KEDGE_PRECISION_MIXED);
  assert_true(p->tolerance == 1e-8 && !p->accepts_rounding);
  assert_true(p->max_iterations == 123456789012);
  assert_string_equal(kedge_problem_output(p), "my plate.vtkhdf");
  assert_true(p->cells_only);
  kedge_problem_destroy(p);
}

static void tolerance_auto_is_the_default_and_another_word_for_it(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[solver]\ntolerance = 1e-10\n", NULL);
  assert_true(p->tolerance == 1e-10 && !p->accepts_rounding);
  kedge_problem_destroy(p);
  p = parsed("[solver]\ntolerance = 1e-6\n", "solver.tolerance=auto");
  assert_true(p->tolerance == 1e-10 && p->accepts_rounding);
  kedge_problem_destroy(p);
}

static void stabilization_auto_takes_the_place_of_a_number_and_length_is_its_l(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[space]\nstabilization = 3\n", "space.stabilization=auto");
  assert_true(p->stabilization == 0 && p->length == 0);
  kedge_problem_destroy(p);
  p = parsed("[space]\nlength = 2*a\n[parameters]\na = 3\n", NULL);
  assert_true(p->stabilization == 0 && p->length == 6);
  kedge_problem_destroy(p);
}

static void an_empty_file_gives_the_defaults(void **state)
{
  (void)state;
  kedge_problem *p = parsed("", NULL);
  assert_int_equal(p->order, KEDGE_ORDER_MIN);
  assert_true(p->stabilization == 0 && p->stabilization_scaling == KEDGE_SCALING_ONE);
  assert_true(p->equation.diffusion[0].constant == 1 && p->equation.reaction.constant == 0);
  assert_true(p->tolerance == 1e-10 && p->accepts_rounding);
  assert_int_equal(p->max_iterations, 100000);
  assert_int_equal(p->operator_kind, KEDGE_OPERATOR_MATRIX_FREE);
  assert_int_equal(p->equation.source.kind, KG_FUNCTION_NONE);
  assert_true(at(&p->equation.source, 1, 1) == 0);
  assert_null(kedge_problem_output(p));
  assert_false(p->cells_only);
  kedge_problem_destroy(p);
}

static void stabilization_scales_with_the_edge_as_written(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    double number;
    kedge_scaling scaling;
  } cases[] = {
      {"4", 4, KEDGE_SCALING_ONE},         {"h", 1, KEDGE_SCALING_H},
      {"1/h", 1, KEDGE_SCALING_INVERSE_H}, {"2.5*h", 2.5, KEDGE_SCALING_H},
      {"2.5 * h", 2.5, KEDGE_SCALING_H},   {"0.1/h", 0.1, KEDGE_SCALING_INVERSE_H},
      {"h*3", 3, KEDGE_SCALING_H},         {"t/h", 7, KEDGE_SCALING_INVERSE_H},
      {"h/h", 1, KEDGE_SCALING_ONE},       {"t^2*h/7", 7, KEDGE_SCALING_H},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[100];
    snprintf(text, sizeof text, "[space]\nstabilization = %s\n[parameters]\nt=7\n", cases[i].text);
    kedge_problem *p = parsed(text, NULL);
    assert_true(p->stabilization == cases[i].number);
    assert_int_equal(p->stabilization_scaling, cases[i].scaling);
    kedge_problem_destroy(p);
  }
}

static void comments_blanks_and_line_ends_are_as_documented(void **state)
{
  (void)state;
  static const char *const texts[] = {
      "\xef\xbb\xbf[space]\norder=3\n[equation]\nsource=x*2",
      "[space]\r\norder = 3\r\n\r\n[equation]\r\nsource = x*2\r\n",
      "# c\n; c\n  # c\n [space] # c\n   order = 3\t; c\n[ equation ]\nsource: x*2 # * 0\n",
      "[space]\norder = 3\n[equation]\nsource = x\n  *2\n",
      "[space]\norder = 3\n[equation]\nsource = x   # first\n# between\n\n\t* # second\n 2\n",
      "[space]\norder = 3\n[equation]\nsource =\n  x*2\n",
      "[equation]\nsource = x*2\n[space]\n  order = 3\n",
      "[equation]\n  source = x*2\n  reaction = 0\n[space]\n  order = 3\n",
      "[equation]\nsource = x >= -9\n  ? x*2 : x == y ? x<=y : x != y\n[space]\norder = 3\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    kedge_problem *p = parsed(texts[i], NULL);
    assert_int_equal(p->order, 3);
    assert_true(at(&p->equation.source, 4, 1) == 8);
    kedge_problem_destroy(p);
  }
}

static void a_hash_inside_a_word_is_no_comment(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[mesh]\nfile = a#b;c.msh\n", NULL);
  assert_string_equal(p->mesh_file, "a#b;c.msh");
  kedge_problem_destroy(p);
}

/// Write "1+1+...+1" of n terms, a comment and a line end; returns the end.
static char *put_sum(char *to, int n)
{
  *to++ = '1';
  for (int i = 1; i < n; ++i) to = stpcpy(to, "+1");
  return stpcpy(to, " # a comment\n");
}

static void lines_may_have_any_length(void **state)
{
  (void)state;
  static const int terms[] = {90, 93, 94, 95, 96, 97, 98, 99, 100, 1000, 2000};
  char *const text = malloc(20000);
  assert_non_null(text);
  for (size_t i = 0; i < sizeof terms / sizeof *terms; ++i) {
    const int n = terms[i];
    char *end = stpcpy(text, "[equation]\nsource = ");
    end = put_sum(end, n);
    end = put_sum(stpcpy(end, "  + "), n);  // the continuation is as long
    stpcpy(end, "reaction = 1\n");
    kedge_problem *p = parsed(text, NULL);
    assert_true(at(&p->equation.source, 0, 0) == 2.0 * n);
    assert_true(p->equation.reaction.constant == 1);
    kedge_problem_destroy(p);
  }
  free(text);
}

static void a_section_without_keys_may_get_its_type_elsewhere(void **state)
{
  (void)state;
  kedge_problem *p = parsed("[boundary a]\n", "boundary a.type=neumann");
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_NEUMANN);
  kedge_problem_destroy(p);
  p = parsed("[boundary a]\n[boundary  a]\ntype = neumann\n", NULL);
  assert_int_equal(p->n_boundaries, 1);
  kedge_problem_destroy(p);
}

static void a_key_that_is_taken_away_makes_room_for_another(void **state)
{
  static const char text[] = "[time]\nend = 1\nstep = 0.5\nevents = 0.25\n";
  const char *const overrides[] = {"time.steps=10", "time.step=", "time.events="};
  kedge_problem *p;
  (void)state;
  assert_int_equal(kg_problem_parse(NULL, "a.ini", text, strlen(text), overrides, 3, &p), KEDGE_OK);
  assert_true(p->time.step == 0.1 && p->time.n_events == 0);
  kedge_problem_destroy(p);
}

static void overrides_take_the_place_of_the_file(void **state)
{
  (void)state;
  static const char text[] =
      "[space]\norder = 2\n[mesh]\nfile = a.msh\n[parameters]\na = 2\nb = a\n"
      "[boundary outer.1]\ntype = dirichlet\nvalue = b\n[output]\nfile = a.hdf\n";
  kedge_problem *p = parsed(text, "space.order=5");
  assert_int_equal(p->order, 5);
  assert_string_equal(kedge_problem_output(p), "a.hdf");
  kedge_problem_destroy(p);
  p = parsed(text, "output.file=");
  assert_null(kedge_problem_output(p));
  kedge_problem_destroy(p);
  p = parsed(text, "boundary  outer.1.value = ");
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_DIRICHLET);
  assert_null(kg_settings_find(&p->settings, "boundary outer.1", "value"));
  kedge_problem_destroy(p);
  p = parsed(text, "equation.reaction=");  // the file has none
  assert_null(kg_settings_find(&p->settings, "equation", "reaction"));
  kedge_problem_destroy(p);
  p = parsed("[output]\nfile =  # none\n", "output.file = b.hdf");
  assert_string_equal(kedge_problem_output(p), "b.hdf");
  kedge_problem_destroy(p);
  p = parsed(text, "mesh.generate = square 4");
  assert_null(p->mesh_file);
  assert_string_equal(p->mesh_generate, "square 4");
  kedge_problem_destroy(p);
  p = parsed(text, "parameters.a=7");
  assert_true(at(&p->boundaries[0].value, 0, 0) == 7);
  kedge_problem_destroy(p);
  p = parsed(text, "boundary  outer.1.type=neumann");
  assert_int_equal(p->n_boundaries, 1);
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_NEUMANN);
  kedge_problem_destroy(p);
  p = parsed(text, "boundary outer.1.value=x<=1 ? 2 : x==y");
  assert_true(at(&p->boundaries[0].value, 0, 0) == 2);
  kedge_problem_destroy(p);
}

static void files_are_read_and_missing_ones_named(void **state)
{
  (void)state;
  char path[] = "/tmp/kedge_problem_XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  static const char text[] = "[space]\norder = 6\n";
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
  kedge_problem *p;
  const kedge_status status = kedge_problem_read(NULL, path, NULL, 0, &p);
  unlink(path);
  assert_int_equal(status, KEDGE_OK);
  assert_int_equal(p->order, 6);
  kedge_problem_destroy(p);
  assert_int_equal(kedge_problem_read(NULL, path, NULL, 0, &p), KEDGE_ERR_IO);
  assert_non_null(strstr(kedge_context_error(NULL), path));
  assert_int_equal(kedge_problem_read(NULL, NULL, NULL, 0, &p), KEDGE_ERR_ARG);
}

/// A row of docs/problem-file.md: | `name` | values | default | ...
typedef struct row {
  char section[32], name[32], standard[64];  ///< the default without backticks, "" where it is none
} row;

enum { ROOM = 80 };  // for rows

/// The third cell, when it is one word.
static void read_default(const char *line, char out[64])
{
  out[0] = '\0';
  for (int bar = 0; bar < 3; ++bar) {
    line = strchr(line, '|');
    assert_non_null(line);
    ++line;
  }
  line += strspn(line, " `");
  const size_t n = strcspn(line, " `|");
  const bool is_word = line[n + strspn(line + n, " `")] == '|' && strncmp(line, "required", n) != 0;
  if (is_word) snprintf(out, 64, "%.*s", (int)n, line);
}

/// Returns how many keys the page has.
static int read_rows(row *rows, int room)
{
  FILE *f = fopen(KEDGE_SOURCE_DIR "/docs/problem-file.md", "r");
  assert_non_null(f);
  static char line[4096];
  char section[32] = "";
  int n = 0;
  while (fgets(line, sizeof line, f)) {
    row *const to = &rows[n];
    sscanf(line, "### `[%31[^]]", section);
    if (sscanf(line, "| `%31[^`]` |", to->name) != 1) continue;
    memcpy(to->section, section, sizeof section);
    read_default(line, to->standard);
    assert_true(++n < room);
  }
  fclose(f);
  return n;
}

/// docs/waves.md has keys of [equation] and of [region NAME] in one table.
static void every_key_of_waves_is_documented(void **state)
{
  (void)state;
  char *page;
  size_t bytes;
  assert_int_equal(kg_file_read(NULL, KEDGE_SOURCE_DIR "/docs/waves.md", &page, &bytes), KEDGE_OK);
  for (const kg_problem_key *key = kg_wave_keys; key->section; ++key) {
    char line[80];
    snprintf(line, sizeof line, "\n| `%s` | ", key->name);
    if (!strstr(page, line)) fail_msg("docs/waves.md has no row of %s", key->name);
    snprintf(line, sizeof line, "`[%s]`", key->section);
    if (!strstr(page, line)) fail_msg("docs/waves.md has no table of [%s]", key->section);
  }
  free(page);
}

static void every_key_is_documented(void **state)
{
  (void)state;
  row rows[ROOM];
  const int n = read_rows(rows, ROOM);
  for (int i = 0; i < n; ++i) {
    assert_string_equal(rows[i].section, kg_problem_keys[i].section);
    assert_string_equal(rows[i].name, kg_problem_keys[i].name);
    assert_true(kg_problem_keys[i].values[0] != '\0');
  }
  assert_null(kg_problem_keys[n].section);
}

static void the_defaults_are_those_of_the_documentation(void **state)
{
  (void)state;
  kedge_problem *empty = parsed("", NULL);
  row rows[ROOM];
  const int n = read_rows(rows, ROOM);
  int n_tested = 0;
  for (int i = 0; i < n; ++i) {
    if (rows[i].standard[0] == '\0') continue;
    char setting[160];
    snprintf(setting, sizeof setting, "%s.%s=%s", rows[i].section, rows[i].name, rows[i].standard);
    const bool of_time = strcmp(rows[i].section, "time") == 0 || strcmp(rows[i].name, "mass") == 0;
    kedge_problem *p = parsed(of_time ? "[time]\nend = 1\nstep = 1\n" : "", setting);
    assert_int_equal(p->time.scheme, empty->time.scheme);
    assert_int_equal(p->time.until, empty->time.until);
    assert_int_equal(p->refine, empty->refine);
    assert_int_equal(p->order, empty->order);
    assert_int_equal(p->inverse, empty->inverse);
    assert_true(p->stabilization == empty->stabilization);
    assert_true(p->equation.diffusion[0].constant == empty->equation.diffusion[0].constant &&
                p->equation.reaction.constant == empty->equation.reaction.constant &&
                p->equation.mass.constant == empty->equation.mass.constant);
    assert_int_equal(p->operator_kind, empty->operator_kind);
    assert_int_equal(p->preconditioner, empty->preconditioner);
    assert_int_equal(p->smoother, empty->smoother);
    assert_int_equal(p->smoothing_steps, empty->smoothing_steps);
    assert_int_equal(p->precision, empty->precision);
    assert_true(p->tolerance == empty->tolerance);
    assert_int_equal(p->accepts_rounding, empty->accepts_rounding);
    assert_true(p->max_iterations == empty->max_iterations);
    assert_int_equal(p->cells_only, empty->cells_only);
    kedge_problem_destroy(p);
    ++n_tested;
  }
  assert_int_equal(n_tested, 16);
  kedge_problem_destroy(empty);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_file_is_read),
      cmocka_unit_test(stabilization_auto_takes_the_place_of_a_number_and_length_is_its_l),
      cmocka_unit_test(an_empty_file_gives_the_defaults),
      cmocka_unit_test(tolerance_auto_is_the_default_and_another_word_for_it),
      cmocka_unit_test(stabilization_scales_with_the_edge_as_written),
      cmocka_unit_test(comments_blanks_and_line_ends_are_as_documented),
      cmocka_unit_test(a_hash_inside_a_word_is_no_comment),
      cmocka_unit_test(lines_may_have_any_length),
      cmocka_unit_test(a_section_without_keys_may_get_its_type_elsewhere),
      cmocka_unit_test(overrides_take_the_place_of_the_file),
      cmocka_unit_test(a_key_that_is_taken_away_makes_room_for_another),
      cmocka_unit_test(files_are_read_and_missing_ones_named),
      cmocka_unit_test(every_key_is_documented),
      cmocka_unit_test(every_key_of_waves_is_documented),
      cmocka_unit_test(the_defaults_are_those_of_the_documentation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
