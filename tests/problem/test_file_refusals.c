// Problem files and overrides that are refused, and with which sentence.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "problem/problem.h"

static kedge_status parse(const char *text, const char *override, kedge_problem **out)
{
  return kg_problem_parse(NULL, "plate.ini", text, strlen(text), &override, override ? 1 : 0, out);
}

static void every_refusal_names_file_line_and_remedy(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"[space]\n\nstabilisation = 1",
       "plate.ini:3: unknown key 'stabilisation' in [space]; did you mean 'stabilization'?"},
      {"[space]\ncolour = 1",
       "plate.ini:2: unknown key 'colour' in [space]; its keys are order, inverse, quadrature, "
       "stabilization, length"},
      {"[solver]\ncoarse_solver = amg",
       "plate.ini:2: coarse_solver in [solver] is gone: multigrid always takes kedge's own levels; "
       "leave the line out"},
      {"[solver]\nstart = nested",
       "plate.ini:2: start in [solver] is gone: the iteration always starts from zero; leave the "
       "line out"},
      {"[sapce]\norder = 1", "plate.ini:1: unknown section [sapce]; did you mean [space]?"},
      {"[sapce]", "plate.ini:1: unknown section [sapce]; did you mean [space]?"},
      {"[weather]\nrain = 1",
       "plate.ini:1: unknown section [weather]; there are [mesh], [space], [equation], "
       "[region NAME], "
       "[parameters], [boundary NAME], [integral NAME], [exact], [time], [initial], "
       "[solver], [output], [probe NAME]; "
       "a boundary "
       "group is "
       "[boundary weather]"},
      {"[boundry right]\ntype = neumann",
       "plate.ini:1: unknown section [boundry right]; did you mean [boundary right]?"},
      {"[regoin steel]",
       "plate.ini:1: unknown section [regoin steel]; did you mean [region steel]?"},
      {"[weather here]\nrain = 1",
       "plate.ini:1: unknown section [weather here]; there are [mesh], [space], [equation], "
       "[region NAME], [parameters], [boundary NAME], [integral NAME], [exact], [time], [initial], "
       "[solver], "
       "[output], [probe NAME]; a boundary "
       "group "
       "is [boundary weather here]"},
      {"[probe]\nline = 0 0, 1 1, 3", "plate.ini:1: [probe] needs a name of its own: [probe axis]"},
      {"[prob axis]\nline = 0 0, 1 1, 3",
       "plate.ini:1: unknown section [prob axis]; did you mean [probe axis]?"},
      {"[probe axis]\nlien = 0 0, 1 1, 3",
       "plate.ini:2: unknown key 'lien' in [probe axis]; did you mean 'line'?"},
      {"[probe axis]\n",
       "plate.ini:1: [probe axis] has no points; add points = x y, x y, ..., line = x0 y0, x1 y1, "
       "n "
       "or file = FILE.csv"},
      {"[probe axis]\noutput = a.csv",
       "plate.ini:2: [probe axis] has no points; add points = x y, x y, ..., line = x0 y0, x1 y1, "
       "n "
       "or file = FILE.csv"},
      {"[probe a]\nline = 0 0, 1 1, 3\nfile = a.csv",
       "plate.ini:2: [probe a] has both line and file; keep one of them"},
      {"[probe a]\npoints = 0 0, 1",
       "plate.ini:2: point 2 of points is neither two numbers nor, in space, three; write x y, x "
       "y, "
       "... or x y z, x y z, ..."},
      {"[probe a]\npoints = 0 0,",
       "plate.ini:2: point 2 of points is neither two numbers nor, in space, three; write x y, x "
       "y, "
       "... or x y z, x y z, ..."},
      {"[probe a]\npoints = 0 1e999",
       "plate.ini:2: point 1 of points is neither two numbers nor, in space, three; write x y, x "
       "y, "
       "... or x y z, x y z, ..."},
      {"[probe a]\npoints = 0 1 2 3",
       "plate.ini:2: point 1 of points is neither two numbers nor, in space, three; write x y, x "
       "y, "
       "... or x y z, x y z, ..."},
      {"[probe a]\npoints = 0 1 2, 3 4",
       "plate.ini:2: point 2 of points has 2 numbers, and point 1 has 3"},
      {"[probe a]\nline = 0 0, 1 1",
       "plate.ini:2: line is x0 y0, x1 y1, n or, in space, x0 y0 z0, x1 y1 z1, n: its ends and how "
       "many "
       "points it has, not '0 0, 1 1'"},
      {"[probe a]\nline = 0 0, 1 1, 3 4",
       "plate.ini:2: line is x0 y0, x1 y1, n or, in space, x0 y0 z0, x1 y1 z1, n: its ends and how "
       "many "
       "points it has, not '0 0, 1 1, 3 4'"},
      {"[probe a]\nline = 0 0 0, 1 1, 3",
       "plate.ini:2: line is x0 y0, x1 y1, n or, in space, x0 y0 z0, x1 y1 z1, n: its ends and how "
       "many "
       "points it has, not '0 0 0, 1 1, 3'"},
      {"[probe a]\nline = 0 0, 1 1, 1",
       "plate.ini:2: a line has a whole number of points from 2 to 10000000, not 1"},
      {"[probe a]\nline = 0 0, 1 1, 2.5",
       "plate.ini:2: a line has a whole number of points from 2 to 10000000, not 2.5"},
      {"[output]\nfields = cells\n[probe a]\nline = 0 0, 1 1, 2",
       "plate.ini:2: fields = cells keeps means alone, and [probe a] needs values at points; write "
       "fields = full"},
      {"[region a]\n= 3",
       "plate.ini:2: unknown key '' in [region a]; its keys are diffusion, "
       "reaction, mass, source"},
      {"[boundary.left]\ntype = neumann",
       "plate.ini:1: unknown section [boundary.left]; did you mean [boundary left]?"},
      {"order = 1", "plate.ini:1: 'order' stands before the first [section]; put it into one"},
      {"[boundary]\ntype = neumann",
       "plate.ini:1: [boundary] needs the name or number of a group of the mesh, or default: "
       "[boundary default]"},
      {"[boundary outer]\ncolour = red",
       "plate.ini:2: unknown key 'colour' in [boundary outer]; its keys are type, coefficient, "
       "value"},
      {"[exact]\ndu_dx = 1",
       "plate.ini:2: unknown key 'du_dx' in [exact]; its keys are u, quadrature"},
      {"[space]\norder = 1\n[mesh]\n[space]\norder = 2",
       "plate.ini:5: duplicate key 'order' in [space]; it has been set on line 2"},
      {"[boundary a]\ntype=neumann\n[boundary   a]\ntype=neumann",
       "plate.ini:4: duplicate key 'type' in [boundary a]; it has been set on line 2"},
      {"[space\norder = 1",
       "plate.ini:1: a section is written [name], alone on its line; a group of the mesh with ']', "
       "' #' or ' ;' in its name is given by its number"},
      {"[space] order = 1",
       "plate.ini:1: a section is written [name], alone on its line; a group of the mesh with ']', "
       "' #' or ' ;' in its name is given by its number"},
      {"[]\norder = 1", "plate.ini:1: the section has no name"},
      {"\n[ ]", "plate.ini:2: the section has no name"},
      {"[space]\norder 3", "plate.ini:2: expected key = value or [section]"},
      {"[space]\nwhat\norder = 99", "plate.ini:2: expected key = value or [section]"},
      {"[space]\norder =", "plate.ini:2: order in [space] has no value; it takes 1 to 12"},
      {"[space]\norder = # 3", "plate.ini:2: order in [space] has no value; it takes 1 to 12"},
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
       "plate.ini:2: stabilization must be auto, a number, a number times h or a number divided by "
       "h (h: the length of the edge), not '1+h'"},
      {"[space]\nstabilization = h^2",
       "plate.ini:2: stabilization must be auto, a number, a number times h or a number divided by "
       "h (h: the length of the edge), not 'h^2'"},
      {"[space]\nstabilization = 2*x",
       "plate.ini:2: stabilization must be a constant, but it depends on x, y, t or region"},
      {"[space]\nlength = 0", "plate.ini:2: length must be positive, not '0'"},
      {"[equation]\ndiffusion = 0", "plate.ini:2: diffusion must be positive, not '0'"},
      {"[equation]\ndiffusion = 1 - 3",
       "plate.ini:2: diffusion must be positive, not '1 - 3', which is -2"},
      {"[equation]\ndiffusion = -1e-320", "plate.ini:2: diffusion must be positive, not '-1e-320'"},
      {"[equation]\ndiffusion = 1e-320",
       "plate.ini:2: diffusion is too small: the least number of full precision is 2.23e-308, not "
       "'1e-320'"},
      {"[equation]\ndiffusion = 1, 2",
       "plate.ini:2: diffusion is one expression, or three of a tensor: xx, xy, yy, "
       "or six in space: xx, xy, xz, yy, yz, zz; not 2"},
      {"[equation]\ndiffusion = (1, 0, max(1, 2))",
       "plate.ini:2: a tensor is written xx, xy, yy, without brackets around them"},
      {"[region default]\ndiffusion =",
       "plate.ini:2: diffusion in [region default] has no value; it takes an expression > 0, or "
       "three: xx, xy, yy"},
      {"[equation]\ndiffusion = 1, , 2", "plate.ini:2: diffusion has nothing between two commas"},
      {"[equation]\ndiffusion = 1, 0, 2+sinn(x)",
       "plate.ini:2: column 9 of diffusion: unknown function 'sinn': did you mean 'sin'?"},
      {"[region]\ndiffusion = 1",
       "plate.ini:1: [region] needs the name or number of a group of the mesh, or default: "
       "[region default]"},
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
       "plate.ini:2: column 3 of a: unknown name 'b': known here are x, y, z, t, region, pi; "
       "others "
       "are set in [parameters], above those that use them"},
      {"[parameters]\na = x",
       "plate.ini:2: a must be a constant, but it depends on x, y, t or region"},
      {"[parameters]\nsin = 1",
       "plate.ini:2: 'sin' cannot name a parameter: it has a meaning already"},
      {"[parameters]\nx = 1", "plate.ini:2: 'x' cannot name a parameter: it has a meaning already"},
      {"[equation]\nsource = 2*h",
       "plate.ini:2: column 3 of source: h has no meaning here: it is the length of an edge, for "
       "stabilization alone; give a constant of your own another name"},
      {"[parameters]\nh = 1", "plate.ini:2: 'h' cannot name a parameter: it has a meaning already"},
      {"[parameters]\n2a = 1",
       "plate.ini:2: '2a' cannot name a parameter: use letters, digits and '_', and a letter "
       "first"},
      {"[parameters]\na b = 1",
       "plate.ini:2: 'a b' cannot name a parameter: use letters, digits and '_', and a letter "
       "first"},
      {"[parameters]\n= 1",
       "plate.ini:2: '' cannot name a parameter: use letters, digits and '_', and a letter first"},
      {"[boundary outer]\ntype = dirichle",
       "plate.ini:2: unknown type 'dirichle'; did you mean 'dirichlet'?"},
      {"[boundary outer]\ntype = cauchy",
       "plate.ini:2: unknown type 'cauchy'; it must be dirichlet, neumann or robin"},
      {"[boundary left]\ntype = periodic",
       "plate.ini:2: kedge has no periodic boundaries yet; give both sides dirichlet, neumann or "
       "robin conditions"},
      {"[periodic left right]\nx = 1",
       "plate.ini:1: kedge has no periodic boundaries yet; give both sides dirichlet, neumann or "
       "robin conditions"},
      {"[boundary outer]\nvalue = 1",
       "plate.ini:2: [boundary outer] has no type; add type = dirichlet, neumann or robin"},
      {"[boundary outer]\n[space]\norder = 2",
       "plate.ini:1: [boundary outer] has no type; add type = dirichlet, neumann or robin"},
      {"$MeshFormat\n4.1 0 8\n",
       "plate.ini is a Gmsh mesh; a problem file is expected, which names the mesh in [mesh] file"},
      {"\x89HDF\r\n", "plate.ini is an HDF5 file, as outputs are; a problem file is expected"},
      {"[mesh]\nfile = \"c.msh\"", "plate.ini:2: values are not quoted; write file = c.msh"},
      {"[equation]\nsource = 'x'", "plate.ini:2: values are not quoted; write source = x"},
      {"[exact]\nu = ", "plate.ini:2: u in [exact] has no value; it takes an expression"},
      {"[exact]\nu = x*",
       "plate.ini:2: column 3 of u: unexpected end: expected a number, a name "
       "or '('"},
      {"[solver]\noperator = matrixfree",
       "plate.ini:2: unknown operator 'matrixfree'; did you mean 'matrix-free'?"},
      {"[solver]\npreconditioner = multigird",
       "plate.ini:2: unknown preconditioner 'multigird'; did you mean 'multigrid'?"},
      {"[solver]\nsmoother = edges", "plate.ini:2: unknown smoother 'edges'; did you mean 'edge'?"},
      {"[solver]\nprecision = single",
       "plate.ini:2: precision = single is of waves, and the problem is elliptic; take double, "
       "mixed or compact"},
      {"[solver]\nsmoothing_steps = 0",
       "plate.ini:2: smoothing_steps must be a whole number from 1 to 16, not '0'"},
      {"[solver]\ntolerance = 0",
       "plate.ini:2: tolerance must be auto or between 0 and 1, not '0'"},
      {"[solver]\ntolerance = atuo",
       "plate.ini:2: tolerance must be auto or a constant between 0 and 1, not 'atuo'; did you "
       "mean "
       "'auto'?"},
      {"[parameters]\neps = 1e-6\n[solver]\ntolerance = esp",
       "plate.ini:4: tolerance must be auto or a constant between 0 and 1, not 'esp'; did you mean "
       "'eps'?"},
      {"[solver]\ntolerance = machine",
       "plate.ini:2: tolerance must be auto or a constant between 0 and 1, not 'machine'"},
      {"[solver]\ntolerance = x",
       "plate.ini:2: tolerance must be a constant, but it depends on x, y, t or region"},
      {"[solver]\ntolerance = 1",
       "plate.ini:2: tolerance must be auto or between 0 and 1, not '1'"},
      {"[solver]\nmax_iterations = 0",
       "plate.ini:2: max_iterations must be a whole number of at least 1, not '0'"},
      {"[solver]\nmax_iterations = 99999999999999999999",
       "plate.ini:2: max_iterations must be a whole number from 1 to 9223372036854775807, not "
       "'99999999999999999999'"},
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

/// In a file, in an override, and in a call.
static void what_is_gone_is_refused_with_what_to_write_instead(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"smoother = strip",
       "smoother = strip is gone: write smoother = line and smoothing_steps = 4, which "
       "need the same iterations and less time"},
      {"smoother = element",
       "smoother = element is gone: write smoother = edge, or smoother = line on stretched "
       "triangles"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char text[100], expected[300];
    kedge_problem *p;
    const size_t key = strcspn(cases[i][0], " ");
    const char *const value = cases[i][0] + key + 3;
    snprintf(text, sizeof text, "[solver]\n%s\n", cases[i][0]);
    snprintf(expected, sizeof expected, "plate.ini:2: %s", cases[i][1]);
    assert_int_equal(parse(text, NULL, &p), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(NULL), expected);

    snprintf(text, sizeof text, "solver.%.*s=%s", (int)key, cases[i][0], value);
    snprintf(expected, sizeof expected, "--set %s: %s", text, cases[i][1]);
    assert_int_equal(parse("", text, &p), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(NULL), expected);

    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)key, cases[i][0]);
    snprintf(expected, sizeof expected, "[solver] %s: %s", name, cases[i][1]);
    assert_int_equal(parse("", NULL, &p), KEDGE_OK);
    assert_int_equal(kedge_problem_set(p, "solver", name, value), KEDGE_ERR_INPUT);
    assert_string_equal(kedge_context_error(NULL), expected);
    kedge_problem_destroy(p);
  }
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
  assert_non_null(strstr(kedge_context_error(NULL), "plate.ini:3: unknown key 'kkkkkkkkkk"));
  stpcpy(end + 250, "\norder = 3\n");
  assert_int_equal(parse(text, NULL, &p), KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL), "plate.ini:3: expected key = value or [section]");
}

static void section_names_have_any_length(void **state)
{
  (void)state;
  char text[1100], group[1001];
  memset(group, 'g', 1000);
  group[1000] = '\0';
  snprintf(text, sizeof text, "[boundary %s]\ntype=neumann", group);
  kedge_problem *p;
  assert_int_equal(parse(text, NULL, &p), KEDGE_OK);
  assert_string_equal(p->boundaries[0].group, group);
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

static void wrong_overrides_name_themselves(void **state)
{
  (void)state;
  static const char *const cases[][2] = {
      {"space.order=13",
       "--set space.order=13: order must be a whole number from 1 to 12, not '13'"},
      {"space.ordr=3", "--set space.ordr=3: unknown key 'ordr' in [space]; did you mean 'order'?"},
      {"spce.order=3", "--set spce.order=3: unknown section [spce]; did you mean [space]?"},
      {"space.ordr=", "--set space.ordr=: unknown key 'ordr' in [space]; did you mean 'order'?"},
      {"space.order", "--set 'space.order': expected section.key=value, as in space.order=4"},
      {"order=4", "--set 'order=4': expected section.key=value, as in space.order=4"},
      {".order=4", "--set '.order=4': expected section.key=value, as in space.order=4"},
      {"space.=4", "--set 'space.=4': expected section.key=value, as in space.order=4"},
      {"", "--set '': expected section.key=value, as in space.order=4"},
      {"equation.source=1+q",
       "--set equation.source=1+q: column 3 of source: unknown name 'q': known here are x, y, "
       "z, t, region, pi; others are set in [parameters], above those that use them"},
      {"equation.diffusion=1, 0, sinn(x)",
       "--set equation.diffusion=1, 0, sinn(x): column 7 of diffusion: unknown function 'sinn': "
       "did "
       "you mean 'sin'?"},
      {"boundary.left.value=0",
       "--set boundary.left.value=0: unknown section [boundary.left]; did you mean \"boundary "
       "left.value=0\"?"},
      {"left.type=neumann",
       "--set left.type=neumann: unknown section [left]; there are [mesh], [space], [equation], "
       "[region NAME], "
       "[parameters], [boundary NAME], [integral NAME], [exact], [time], [initial], "
       "[solver], [output], [probe NAME]; "
       "a boundary "
       "group is "
       "[boundary left]"},
      {"boundary a.value=1",
       "--set boundary a.value=1: [boundary a] has no type; add type = "
       "dirichlet, neumann or robin"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    kedge_problem *p;
    assert_int_equal(parse("[space]\norder = 2\n", cases[i][0], &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
}

static void an_override_takes_the_place_of_a_type_that_is_refused(void **state)
{
  (void)state;
  kedge_problem *p;
  const char *const text = "[boundary left]\ntype = periodic\nvalue = 0\n";
  assert_int_equal(parse(text, "boundary left.type=dirichlet", &p), KEDGE_OK);
  assert_int_equal(p->boundaries[0].type, KEDGE_BOUNDARY_DIRICHLET);
  kedge_problem_destroy(p);
}

static void parameters_that_nothing_uses_are_refused_as_overrides(void **state)
{
  (void)state;
  static const char text[] =
      "[parameters]\nk = 2\nidle = 1\n[equation]\nsource = k*2e3\ndiffusion = 1.5E3\n";
  static const char *const cases[][2] = {
      {"parameters.K=7", "--set parameters.K=7: no expression uses 'K'; did you mean 'k'?"},
      {"parameters.idel=7",
       "--set parameters.idel=7: no expression uses 'idel'; did you mean 'idle'?"},
      {"parameters.weather=7", "--set parameters.weather=7: no expression uses 'weather'"},
      {"parameters.e3=7", "--set parameters.e3=7: no expression uses 'e3'"},
  };
  kedge_problem *p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(parse(text, cases[i][0], &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
  // The file may set what nothing uses, and an override may then change it.
  assert_int_equal(parse(text, "parameters.idle=7", &p), KEDGE_OK);
  kedge_problem_destroy(p);
  // An override may use what another adds; whether the mesh is replaced in between is no matter.
  const char *const both[] = {"parameters.n=3", "mesh.generate=square 4", "equation.reaction=1+n"};
  static const char mesh[] = "[mesh]\nfile = a.msh\n";
  assert_int_equal(kg_problem_parse(NULL, "plate.ini", mesh, strlen(mesh), both, 3, &p), KEDGE_OK);
  assert_true(p->equation.reaction.constant == 4);
  kedge_problem_destroy(p);
  assert_int_equal(kg_problem_parse(NULL, "plate.ini", mesh, strlen(mesh), both, 2, &p),
                   KEDGE_ERR_INPUT);
  assert_string_equal(kedge_context_error(NULL), "--set parameters.n=3: no expression uses 'n'");
}

static void names_that_no_setting_has_are_not_taken_away(void **state)
{
  (void)state;
  static const char text[] =
      "[parameters]\ng = 2\n[equation]\nsource = g\n[region core]\n[boundary left]\n"
      "type = dirichlet\nvalue = 0\n[probe mid]\npoints = 0 0\n[integral heat]\nof = u\n";
  static const char *const cases[][2] = {
      {"boundary lfet.value=",
       "--set boundary lfet.value=: there is no section [boundary lfet]; did you mean [boundary "
       "left]?"},
      {"region coer.source=",
       "--set region coer.source=: there is no section [region coer]; did you mean [region core]?"},
      {"probe midd.line=",
       "--set probe midd.line=: there is no section [probe midd]; did you mean [probe mid]?"},
      {"integral haet.of=",
       "--set integral haet.of=: there is no section [integral haet]; did you mean [integral "
       "heat]?"},
      {"boundary outside.value=",
       "--set boundary outside.value=: there is no section [boundary outside]"},
      {"parameters.gg=", "--set parameters.gg=: there is no parameter 'gg'; did you mean 'g'?"},
      {"parameters.weather=", "--set parameters.weather=: there is no parameter 'weather'"},
  };
  static const char *const good[] = {"boundary  left.coefficient=", "region core.source="};
  kedge_problem *p;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    assert_int_equal(parse(text, cases[i][0], &p), KEDGE_ERR_INPUT);
    assert_null(p);
    assert_string_equal(kedge_context_error(NULL), cases[i][1]);
  }
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    assert_int_equal(parse(text, good[i], &p), KEDGE_OK);
    kedge_problem_destroy(p);
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_refusal_names_file_line_and_remedy),
      cmocka_unit_test(what_is_gone_is_refused_with_what_to_write_instead),
      cmocka_unit_test(long_lines_are_refused_where_their_fault_is),
      cmocka_unit_test(section_names_have_any_length),
      cmocka_unit_test(a_nul_byte_is_refused),
      cmocka_unit_test(wrong_overrides_name_themselves),
      cmocka_unit_test(an_override_takes_the_place_of_a_type_that_is_refused),
      cmocka_unit_test(parameters_that_nothing_uses_are_refused_as_overrides),
      cmocka_unit_test(names_that_no_setting_has_are_not_taken_away),
      cmocka_unit_test(names_of_any_length_are_refused_safely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
