// The problem file: what is read, what is refused and with which sentence, overrides.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "problem/keys.h"
#include "problem/problem.h"

static kedge_status parse(const char *text, const char *override, kedge_problem **out)
{
  return kg_problem_parse(NULL, "plate.ini", text, strlen(text), &override, override ? 1 : 0, out);
}

static kedge_problem *parsed(const char *text, const char *override)
{
  kedge_problem *p;
  if (parse(text, override, &p) != KEDGE_OK) fail_msg("%s: %s", text, kedge_context_error(NULL));
  return p;
}

static double at(const kg_function *f, double x, double y)
{
  double value;
  kg_function_evaluate(f, 1, &x, &y, &value);
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
      "preconditioner = jacobi\n"
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
  assert_true(p->diffusion == 3 && p->reaction == 2.25);
  assert_true(at(&p->source, 2, 5) == 8);
  assert_int_equal(p->n_boundaries, 2);
  assert_string_equal(p->boundaries[0].group, "outer wall");
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_DIRICHLET);
  assert_int_equal(p->boundaries[0].value.kind, KG_FUNCTION_CONSTANT);
  assert_true(at(&p->boundaries[0].value, 0, 0) == 3);
  assert_int_equal(p->boundaries[0].line, 16);
  assert_string_equal(p->boundaries[1].group, "7");
  assert_int_equal(p->boundaries[1].type, KEDGE_BOUNDARY_NEUMANN);
  assert_true(at(&p->boundaries[1].value, 0.75, 9) == 9);
  assert_true(at(&p->exact_u, 2, 3) == 12 && at(&p->exact_dx, 2, 3) == 12);
  assert_true(at(&p->exact_dy, 2, 3) == 4);
  assert_int_equal(p->operator_kind, KEDGE_OPERATOR_ELL);
  assert_true(p->tolerance == 1e-8 && p->max_iterations == 123456789012);
  assert_string_equal(kedge_problem_output(p), "my plate.vtkhdf");
  assert_true(p->cells_only);
  kedge_problem_destroy(p);
}

static void an_empty_file_gives_the_defaults(void **state)
{
  (void)state;
  kedge_problem *p = parsed("", NULL);
  assert_int_equal(p->order, KEDGE_ORDER_MIN);
  assert_true(p->stabilization == 1 && p->stabilization_scaling == KEDGE_SCALING_ONE);
  assert_true(p->diffusion == 1 && p->reaction == 0 && p->tolerance == 1e-10);
  assert_int_equal(p->max_iterations, 100000);
  assert_int_equal(p->operator_kind, KEDGE_OPERATOR_MATRIX_FREE);
  assert_int_equal(p->source.kind, KG_FUNCTION_NONE);
  assert_true(at(&p->source, 1, 1) == 0);
  assert_null(kedge_problem_output(p));
  assert_false(p->cells_only);
  kedge_problem_destroy(p);
}

static void the_defaults_are_those_of_the_table(void **state)
{
  (void)state;
  kedge_problem *empty = parsed("", NULL);
  int n;
  const kg_problem_key *keys = kg_problem_keys(&n);
  for (int i = 0; i < n; ++i) {
    if (strchr("0123456789mj", keys[i].standard[0]) == NULL || keys[i].standard[0] == '\0')
      continue;
    char line[100];
    snprintf(line, sizeof line, "%s.%s=%s", keys[i].section, keys[i].name, keys[i].standard);
    kedge_problem *p = parsed("", line);
    assert_int_equal(p->order, empty->order);
    assert_int_equal(p->refine, empty->refine);
    assert_true(p->stabilization == empty->stabilization);
    assert_true(p->diffusion == empty->diffusion && p->reaction == empty->reaction);
    assert_int_equal(p->operator_kind, empty->operator_kind);
    assert_int_equal(p->preconditioner, empty->preconditioner);
    assert_true(p->tolerance == empty->tolerance);
    assert_int_equal(p->max_iterations, empty->max_iterations);
    kedge_problem_destroy(p);
  }
  kedge_problem_destroy(empty);
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
    assert_true(at(&p->source, 4, 1) == 8);
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

static void every_refusal_names_file_line_and_remedy(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"[space]\n\nstabilisation = 1",
       "plate.ini:3: unknown key 'stabilisation' in [space]; did you mean 'stabilization'?"},
      {"[space]\ncolour = 1",
       "plate.ini:2: unknown key 'colour' in [space]; its keys are order, stabilization"},
      {"[sapce]\norder = 1", "plate.ini:1: unknown section [sapce]; did you mean [space]?"},
      {"[sapce]", "plate.ini:1: unknown section [sapce]; did you mean [space]?"},
      {"[weather]\nrain = 1",
       "plate.ini:1: unknown section [weather]; there are [mesh], [space], [equation], "
       "[parameters], [boundary NAME], [exact], [solver], [output]"},
      {"order = 1", "plate.ini:1: 'order' stands before the first [section]; put it into one"},
      {"[boundary]\ntype = neumann",
       "plate.ini:1: [boundary] needs the name or number of a group of the mesh, or default: "
       "[boundary default]"},
      {"[boundary outer]\ncolour = red",
       "plate.ini:2: unknown key 'colour' in [boundary outer]; its keys are type, value"},
      {"[exact]\ndu_dx = 1", "plate.ini:2: unknown key 'du_dx' in [exact]; its keys are u"},
      {"[space]\norder = 1\n[mesh]\n[space]\norder = 2",
       "plate.ini:5: duplicate key 'order' in [space]; it has been set on line 2"},
      {"[boundary a]\ntype=neumann\n[boundary   a]\ntype=neumann",
       "plate.ini:4: duplicate key 'type' in [boundary a]; it has been set on line 2"},
      {"[space\norder = 1", "plate.ini:1: a section is written [name], alone on its line"},
      {"[space] order = 1", "plate.ini:1: a section is written [name], alone on its line"},
      {"[space]\norder 3", "plate.ini:2: expected key = value or [section]"},
      {"[space]\nwhat\norder = 99", "plate.ini:2: expected key = value or [section]"},
      {"[space]\norder =", "plate.ini:2: order in [space] has no value"},
      {"[space]\norder = # 3", "plate.ini:2: order in [space] has no value"},
      {"[space]\norder = 0", "plate.ini:2: order must be a whole number from 1 to 12, not '0'"},
      {"[space]\norder = 13", "plate.ini:2: order must be a whole number from 1 to 12, not '13'"},
      {"[space]\norder = 2.5", "plate.ini:2: order must be a whole number from 1 to 12, not '2.5'"},
      {"[space]\norder = 99999999999999999999",
       "plate.ini:2: order must be a whole number from 1 to 12, not '99999999999999999999'"},
      {"[space]\norder = 2\n 3",
       "plate.ini:3: order in [space] must fit on one line; an indented line continues the value "
       "before it"},
      {"[mesh]\nrefine = -1", "plate.ini:2: refine must be a whole number from 0 to 14, not '-1'"},
      {"[mesh]\nrefine = 15", "plate.ini:2: refine must be a whole number from 0 to 14, not '15'"},
      {"[mesh]\nfile = a.msh\ngenerate = square 3",
       "plate.ini:3: [mesh] has both file and generate; keep one of them"},
      {"[space]\nstabilization = 0", "plate.ini:2: stabilization must be positive, not '0'"},
      {"[space]\nstabilization = -1/h", "plate.ini:2: stabilization must be positive, not '-1/h'"},
      {"[space]\nstabilization = 1+h",
       "plate.ini:2: stabilization must be a number, a number times h or a number divided by h "
       "(h: the length of the edge), not '1+h'"},
      {"[space]\nstabilization = h^2",
       "plate.ini:2: stabilization must be a number, a number times h or a number divided by h "
       "(h: the length of the edge), not 'h^2'"},
      {"[space]\nstabilization = 2*x",
       "plate.ini:2: stabilization must be a constant, but it depends on x or y"},
      {"[equation]\ndiffusion = 0", "plate.ini:2: diffusion must be positive, not '0'"},
      {"[equation]\ndiffusion = 1+x",
       "plate.ini:2: diffusion must be a constant, but it depends on x or y"},
      {"[equation]\ndiffusion = 1/0", "plate.ini:2: diffusion has no finite value"},
      {"[equation]\nreaction = -1", "plate.ini:2: reaction must be zero or positive, not '-1'"},
      {"[equation]\nsource = log(0)", "plate.ini:2: source has no finite value"},
      {"[equation]\nsource = (8*pi^2+1)*sinn(2*pi*x)",
       "plate.ini:2: column 12 of source: unknown function 'sinn': did you mean 'sin'?"},
      {"[equation]\nsource = x # one\n\n   + y   # two\n   - 2z",
       "plate.ini:5: column 4 of source: unexpected 'z': expected an operator (write '*' between "
       "two factors)"},
      {"[equation]\nsource = x +",
       "plate.ini:2: column 4 of source: unexpected end: expected a number, a name or '('"},
      {"[parameters]\nkappa = 2\n[equation]\nsource = kapa*x",
       "plate.ini:4: column 1 of source: unknown name 'kapa': did you mean 'kappa'?"},
      {"[parameters]\na = 2*b\nb = 1",
       "plate.ini:2: column 3 of a: unknown name 'b': known are x, y, pi and the names in "
       "[parameters]"},
      {"[parameters]\na = x", "plate.ini:2: a must be a constant, but it depends on x or y"},
      {"[parameters]\nsin = 1",
       "plate.ini:2: 'sin' cannot name a parameter: it has a meaning already"},
      {"[parameters]\nx = 1", "plate.ini:2: 'x' cannot name a parameter: it has a meaning already"},
      {"[parameters]\nh = 1", "plate.ini:2: 'h' cannot name a parameter: it has a meaning already"},
      {"[parameters]\n2a = 1",
       "plate.ini:2: '2a' cannot name a parameter: use letters, digits and '_', and a letter "
       "first"},
      {"[parameters]\na b = 1",
       "plate.ini:2: 'a b' cannot name a parameter: use letters, digits and '_', and a letter "
       "first"},
      {"[boundary outer]\ntype = dirichle",
       "plate.ini:2: unknown type 'dirichle'; did you mean 'dirichlet'?"},
      {"[boundary outer]\ntype = robin",
       "plate.ini:2: unknown type 'robin'; it must be dirichlet or neumann"},
      {"[boundary outer]\nvalue = 1",
       "plate.ini:2: [boundary outer] has no type; add type = dirichlet or type = neumann"},
      {"[boundary outer]\n[space]\norder = 2",
       "plate.ini:1: [boundary outer] has no type; add type = dirichlet or type = neumann"},
      {"$MeshFormat\n4.1 0 8\n",
       "plate.ini is a Gmsh mesh; a problem file is expected, which names the mesh in [mesh] file"},
      {"[mesh]\nfile = \"c.msh\"", "plate.ini:2: values are not quoted; write file = c.msh"},
      {"[equation]\nsource = 'x'", "plate.ini:2: values are not quoted; write source = x"},
      {"[exact]\nu = ", "plate.ini:2: u in [exact] has no value"},
      {"[exact]\nu = x*",
       "plate.ini:2: column 3 of u: unexpected end: expected a number, a name "
       "or '('"},
      {"[solver]\noperator = matrixfree",
       "plate.ini:2: unknown operator 'matrixfree'; did you mean 'matrix-free'?"},
      {"[solver]\npreconditioner = multigrid",
       "plate.ini:2: unknown preconditioner 'multigrid'; it must be jacobi"},
      {"[solver]\ntolerance = 0", "plate.ini:2: tolerance must be between 0 and 1, not '0'"},
      {"[solver]\ntolerance = 1", "plate.ini:2: tolerance must be between 0 and 1, not '1'"},
      {"[solver]\nmax_iterations = 0",
       "plate.ini:2: max_iterations must be a whole number of at least 1, not '0'"},
      {"[mesh]\nfile = a\tb\x01.msh",
       "plate.ini:2: the line holds a control character; a problem file is plain text"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *p = (kedge_problem *)&p;  // must become NULL
    assert_int_equal(parse(cases[i][0], NULL, &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
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
    assert_true(at(&p->source, 0, 0) == 2.0 * n);
    assert_true(p->reaction == 1);
    kedge_problem_destroy(p);
  }
  free(text);
}

static void long_lines_are_refused_where_their_fault_is(void **state)
{
  (void)state;
  char text[1500];
  const char *const blanks = "          ";
  char *end = stpcpy(text, "[equation]\nsource =");
  for (int i = 0; i < 30; ++i) end = stpcpy(end, blanks);
  stpcpy(end, "x + + wrong\n");
  kedge_problem *p;
  assert_int_equal(parse(text, NULL, &p), KEDGE_ERR_INPUT);
  assert_non_null(strstr(kedge_context_error(NULL), "plate.ini:2: column 7 of source: "));

  end = stpcpy(text, "[space]\norder = 2\n");
  memset(end, 'k', 250);
  stpcpy(end + 250, " = 1\n");
  assert_int_equal(parse(text, NULL, &p), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL), "plate.ini:3: the key is longer than 196 bytes");
  stpcpy(end + 250, "\norder = 3\n");
  assert_int_equal(parse(text, NULL, &p), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL), "plate.ini:3: expected key = value or [section]");
}

static void long_section_names_are_refused_not_cut(void **state)
{
  (void)state;
  kedge_problem *p =
      parsed("[boundary aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd]\ntype=neumann", NULL);
  assert_string_equal(p->boundaries[0].group, "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd");
  kedge_problem_destroy(p);
  assert_int_equal(parse("[boundary aaaaaaaaaabbbbbbbbbbccccccccccdddddddddde]\n", NULL, &p),
                   KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(NULL),
      "plate.ini:1: the section's name is longer than 49 bytes; a group of the mesh "
      "can also be given by its number");
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

static void a_nul_byte_is_refused(void **state)
{
  (void)state;
  static const char text[] = "[space]\norder = 3\0 4\n";
  kedge_problem *p;
  assert_int_equal(kg_problem_parse(NULL, "plate.ini", text, sizeof text - 1, NULL, 0, &p),
                   KEDGE_ERR_INPUT);
  assert_string_equal(
      kedge_context_error(NULL),
      "plate.ini:2: the line holds a control character; a problem file is plain text");
}

static void overrides_take_the_place_of_the_file(void **state)
{
  (void)state;
  static const char text[] =
      "[space]\norder = 2\n[mesh]\nfile = a.msh\n[parameters]\na = 2\nb = a\n"
      "[boundary outer.1]\ntype = dirichlet\nvalue = b\n";
  kedge_problem *p = parsed(text, "space.order=5");
  assert_int_equal(p->order, 5);
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

static void wrong_overrides_name_themselves(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"space.order=13",
       "--set space.order=13: order must be a whole number from 1 to 12, not '13'"},
      {"space.ordr=3", "--set space.ordr=3: unknown key 'ordr' in [space]; did you mean 'order'?"},
      {"spce.order=3", "--set spce.order=3: unknown section [spce]; did you mean [space]?"},
      {"space.order=", "--set space.order=: order in [space] has no value"},
      {"space.order", "--set 'space.order': expected section.key=value, as in space.order=4"},
      {"order=4", "--set 'order=4': expected section.key=value, as in space.order=4"},
      {".order=4", "--set '.order=4': expected section.key=value, as in space.order=4"},
      {"space.=4", "--set 'space.=4': expected section.key=value, as in space.order=4"},
      {"", "--set '': expected section.key=value, as in space.order=4"},
      {"equation.source=1+q",
       "--set equation.source=1+q: column 3 of source: unknown name 'q': known are x, y, pi and "
       "the names in [parameters]"},
      {"boundary a.value=1",
       "--set boundary a.value=1: [boundary a] has no type; add type = "
       "dirichlet or type = neumann"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *p;
    assert_int_equal(parse("[space]\norder = 2\n", cases[i][0], &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
}

static void names_of_any_length_are_refused_safely(void **state)
{
  (void)state;
  enum { LENGTH = 3000 };
  static const char *const forms[] = {
      "boundary %s.value=1",   "boundary a.%s=1",     "%s.order=1",
      "parameters.%s=x",       "solver.operator=%s",  "space.order=%s",
      "equation.source=%s(x)", "equation.source=1+%s"};
  char name[LENGTH + 1], text[LENGTH + 100];
  memset(name, 'n', LENGTH);
  name[LENGTH] = '\0';
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i) {
    kedge_problem *p;
    const char *const form = forms[i], *const place = strstr(form, "%s");
    snprintf(text, sizeof text, "%.*s%s%s", (int)(place - form), form, name, place + 2);
    assert_int_equal(parse("", text, &p), KEDGE_ERR_INPUT);
    assert_ptr_equal(strstr(kedge_context_error(NULL), "--set "), kedge_context_error(NULL));
  }
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

static void every_key_is_documented(void **state)
{
  (void)state;
  int n;
  const kg_problem_key *keys = kg_problem_keys(&n);
  FILE *f = fopen(KEDGE_SOURCE_DIR "/docs/problem-file.md", "r");
  assert_non_null(f);
  static char page[1 << 16];
  page[fread(page, 1, sizeof page - 1, f)] = '\0';
  fclose(f);
  for (int i = 0; i < n; ++i) {
    char row[100];
    snprintf(row, sizeof row, "| `%s` |", keys[i].name);
    if (strstr(page, row) == NULL) fail_msg("docs/problem-file.md lacks %s", row);
    snprintf(row, sizeof row, "`[%s]`", keys[i].section);
    if (strstr(page, row) == NULL) fail_msg("docs/problem-file.md lacks %s", row);
    assert_true(keys[i].text[0] != '\0' && keys[i].values[0] != '\0');
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_whole_file_is_read),
      cmocka_unit_test(an_empty_file_gives_the_defaults),
      cmocka_unit_test(the_defaults_are_those_of_the_table),
      cmocka_unit_test(stabilization_scales_with_the_edge_as_written),
      cmocka_unit_test(comments_blanks_and_line_ends_are_as_documented),
      cmocka_unit_test(a_hash_inside_a_word_is_no_comment),
      cmocka_unit_test(every_refusal_names_file_line_and_remedy),
      cmocka_unit_test(lines_may_have_any_length),
      cmocka_unit_test(long_lines_are_refused_where_their_fault_is),
      cmocka_unit_test(long_section_names_are_refused_not_cut),
      cmocka_unit_test(a_section_without_keys_may_get_its_type_elsewhere),
      cmocka_unit_test(a_nul_byte_is_refused),
      cmocka_unit_test(overrides_take_the_place_of_the_file),
      cmocka_unit_test(wrong_overrides_name_themselves),
      cmocka_unit_test(names_of_any_length_are_refused_safely),
      cmocka_unit_test(files_are_read_and_missing_ones_named),
      cmocka_unit_test(every_key_is_documented),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
