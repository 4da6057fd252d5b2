#include <string.h>

#include "cli/cli.h"
#include "expression/nearest.h"

static const char problem_text[] =
    "A problem file describes  -div(diffusion grad u) + reaction u = source  on a mesh. Lines are\n"
    "'key = value' under '[section]'; '#' or ';', first on a line or after a blank, begins a\n"
    "comment. Values are not quoted.\n"
    "\n";

/// The keys of the problem file; what is said of one goes on in lines of its own.
static const struct row {
  const char *section, *key, *preset, *text;
} rows[] = {
    {"mesh", "file", "", "a Gmsh file, relative to this file"},
    {"mesh", "generate", "", "instead of file, such as square 40\n(see 'kedge help mesh')"},
    {"mesh", "geometry", "from file",
     "1 to 5: order of the curves of elements; of\n"
     "generate 1: a disk or a ring is a polygon"},
    {"mesh", "join", "", "distance of boundary vertices that become one"},
    {"mesh", "map", "", "X(x, y), Y(x, y): moves all nodes;\nin space X, Y, Z of x, y, z"},
    {"mesh", "refine", "0", "times all elements are split into four"},
    {"space", "order", "1", "1 to 12, of tetrahedra 1 to 6, of waves 1 to 9"},
    {"space", "inverse", "auto",
     "adjusted, gradient or exact: how the\nflux's mass matrix is inverted"},
    {"space", "quadrature", "",
     "points a direction where matrices are\nintegrated; left out: order + 2"},
    {"space", "stabilization", "auto",
     "diffusion / L; or number, number*h or number/h\n"
     "(h: edge length)"},
    {"space", "length", "", "L; left out: root of the area of the domain"},
    {"space", "upwind", "1", "of waves: 0 to 1; 0 loses no energy"},
    {"equation", "system", "elliptic",
     "or waves: maxwell, maxwell-tm or acoustics\n(see 'kedge help waves')"},
    {"equation", "diffusion", "1", "positive expression, or three: xx, xy, yy"},
    {"equation", "reaction", "0", "expression, not negative"},
    {"equation", "mass", "1", "positive expression, of problems in time"},
    {"equation", "source", "from [exact]", "expression such as sin(pi*x), else 0"},
    {"equation", "quadrature", "",
     "points a direction of the source and of\nboundary values; left out: as many as they need"},
    {"equation", "permittivity", "1", "of maxwell and maxwell-tm: positive expression,"},
    {"equation", "permeability", "1", "likewise,"},
    {"equation", "conductivity", "0", "not negative"},
    {"equation", "current", "0", "expression, of maxwell jx, jy, jz"},
    {"equation", "density", "1", "of acoustics: positive expression,"},
    {"equation", "bulk", "1", "likewise"},
    {"region NAME", "diffusion", "",
     "as in [equation], which stands where it is\n"
     "left out; NAME: a physical surface, in\n"
     "space a volume, its number, or 'default'"},
    {"region NAME", "reaction", "", "likewise"},
    {"region NAME", "mass", "", "likewise"},
    {"region NAME", "source", "", "likewise"},
    {"region NAME", "permittivity", "", "likewise"},
    {"region NAME", "permeability", "", "likewise"},
    {"region NAME", "conductivity", "", "likewise"},
    {"region NAME", "current", "", "likewise"},
    {"region NAME", "density", "", "likewise"},
    {"region NAME", "bulk", "", "likewise"},
    {"parameters", "NAME", "", "constant for the expressions, such as k = 3"},
    {"boundary NAME", "type", "required",
     "dirichlet, neumann or robin; NAME: a\n"
     "physical group, its number, or 'default'; of\n"
     "waves conductor, wall, soft, absorbing or\nincident"},
    {"boundary NAME", "coefficient", "", "a of robin: >= 0, or negative with a note"},
    {"boundary NAME", "value", "from [exact]", "u; diffusion grad u . n; of robin that + a u"},
    {"boundary NAME", "FIELD", "0", "of waves, as Ez = sin(t); incident: from [exact]"},
    {"integral NAME", "of", "required",
     "expression, also of u, u_star, qx, qy, sigma_x,\nsigma_y; on lines normal_x, normal_y, flux, "
     "trace"},
    {"integral NAME", "on", "", "a group of lines or a region; left out: all"},
    {"integral NAME", "quadrature", "", "1 to 40 points a direction"},
    {"exact", "u", "",
     "expression; errors are reported, source\n"
     "and boundary values left out are derived"},
    {"exact", "quadrature", "",
     "points a direction of the norms of errors,\norder + 2 or more; order + 5 or more if not set"},
    {"exact", "FIELD", "",
     "of waves, as p = cos(x - t): errors in L2 are\nreported; for data a field left out is 0"},
    {"time", "end", "required", "the time ends there; it begins at 0"},
    {"time", "step", "", "the longest step, of waves auto,"},
    {"time", "steps", "", "or how many of one size reach the end,"},
    {"time", "tolerance", "",
     "or the absolute error in L2 of u that a step\n"
     "may add: steps adapt, by esdirk4 alone"},
    {"time", "scheme", "trbdf2", "or euler or esdirk4; with tolerance esdirk4"},
    {"time", "events", "", "t1, t2, ...: data jump there, and steps end"},
    {"time", "until", "end", "or steady: ends where u_t falls below"},
    {"time", "steady_tolerance", "", "this"},
    {"time", "cfl", "1", "of step = auto of waves"},
    {"initial", "u", "", "expression, u at the time 0; left out: from\n[exact], else 0"},
    {"initial", "FIELD", "0",
     "of waves, as vx = sin(x); with no [initial] all\nfields are from [exact]"},
    {"solver", "operator", "matrix-free", "matrix-free-plain or ell, to compare with"},
    {"solver", "preconditioner", "auto", "or jacobi; block-jacobi or multigrid with\nmatrix-free"},
    {"solver", "smoother", "auto",
     "of multigrid and block-jacobi: edge; line\n"
     "for stretched triangles"},
    {"solver", "smoothing_steps", "",
     "1 to 16, of multigrid; left out: 1, or 2\nat order 1 on general elements"},
    {"solver", "precision", "double",
     "or mixed or compact, with multigrid; of waves\nsingle, their default, or double"},
    {"solver", "tolerance", "auto",
     "relative residual that ends the solve: 1e-10, or\n"
     "what rounding leaves; or a number"},
    {"solver", "max_iterations", "100000", "that end it in any case"},
    {"output", "file", "", ".vtkhdf or .hdf (see 'kedge help output');\nempty: none"},
    {"output", "boundary", "", ".vtkhdf or .hdf: edges of groups, with trace\nand flux"},
    {"output", "fields", "full", "or cells: means in the elements alone"},
    {"output", "every", "", "with [time]: the time between two outputs"},
    {"output", "at", "", "t1, t2, ...: or the times of all"},
    {"probe NAME", "points", "", "x y, x y, ...: fields there become a CSV file"},
    {"probe NAME", "line", "", "x0 y0, x1 y1, n: n points, both ends too"},
    {"probe NAME", "file", "", "a CSV file of x,y, relative to this file"},
    {"probe NAME", "output", "", "the CSV file; left out: NAME.csv"},
    {"probe NAME", "every", "1", "of waves: steps between two rows"},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

static const char expressions_text[] =
    "Expressions are made of numbers, x, y, in space z, pi, the names in [parameters], region\n"
    "(the number of the physical surface or volume), with [time] t, and\n"
    "\n"
    "  + - * / ^           ^ is right associative and binds tighter than a minus: -x^2 = -(x^2)\n"
    "  < <= > >= == !=     1 where true, 0 where false\n"
    "  c ? a : b           a where c is not 0, else b\n"
    "  sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 log2\n"
    "  sqrt cbrt erf abs sign step floor ceil round mod min max hypot pow\n"
    "\n"
    "The exact solution is differentiated symbolically: it gives the source, q = grad u and the\n"
    "boundary values that are left out. atan2(b, a) jumps where b = 0 and a < 0: that line has to\n"
    "lie outside the domain. Errors point at the column.\n";

static const char mesh_text[] =
    "kedge reads Gmsh .msh files, formats 2 to 2.2, 4.0 and 4.1, ASCII and binary: triangles and\n"
    "quadrilaterals of order 1 to 5 in a plane, physical groups on boundary lines and on "
    "surfaces;\n"
    "or straight tetrahedra with physical groups on boundary surfaces and on volumes.\n"
    "Clockwise elements are turned. Boundary edges without a group are the group 'default',\n"
    "number 0. On quadrilaterals and curved elements orders are 1 to 8, and the smoother of\n"
    "quadrilaterals is edge.\n"
    "\n"
    "  square N     the unit square, N x N squares split by a diagonal; groups left, right,\n"
    "               bottom, top\n"
    "  quads N      the same squares whole, as quadrilaterals\n"
    "  mixed N      a checkerboard of both\n"
    "  lshape N     (-1,1)^2 without its lower right quarter; group boundary\n"
    "  ring N M     radii 1 to 2, N layers of M sectors; groups inner, outer\n"
    "  disk N       the unit disk, N layers of triangles; group boundary\n"
    "  cube N       the unit cube, N x N x N cubes of six tetrahedra; groups x0, x1, y0, y1, z0, "
    "z1\n"
    "               (ring and disk: polygons with corners on the circles, refined too, unless\n"
    "               geometry in [mesh] is 2 or more)\n"
    "\n"
    "with 'quads' behind the numbers of an L or a ring for quadrilaterals,\n"
    "are generated by 'generate = ...' in [mesh] and by 'kedge mesh generate'.\n";

static const char output_text[] =
    "The output is VTKHDF: Lagrange elements of order P + 1 (at most 10), each with its own\n"
    "points, with the fields u, q, sigma, u_star on the points, and region and the error indicator "
    "in\n"
    "the cells. With 'fields = cells' the elements of the mesh, with the means of u and q in\n"
    "each of them. ParaView 5.12 and later open *.vtkhdf; 5.10 and 5.11 open it under the name\n"
    "*.hdf. The file appears under its name when it is complete, never before.\n"
    "\n"
    "A problem with [time] and 'every' or 'at' has a file for each output: plate.0001.vtkhdf,\n"
    "plate.0002.vtkhdf, ..., and plate.vtkhdf.series for ParaView; else plate.vtkhdf is that of\n"
    "the end. plate.csv has a row for each step: t, step, mean, min and max of u, fluxes of\n"
    "groups, integrals, and u at the points of probes.\n"
    "\n"
    "Files of waves have their fields, as Ez, Hx, Hy, of order P, and region; plate.csv has a row\n"
    "for each file: t, step, energy, and the errors of fields of [exact].\n";

static const char report_text[] =
    "'kedge solve --report FILE.json' writes mesh, space, backend, solver, errors, numbers of\n"
    "groups and regions, balance, conductance, stages, memory and version as JSON. Errors are\n"
    "absolute norms; 'errors' is null when the problem has no exact solution. Numbers that are\n"
    "not finite are null.\n"
    "\n"
    "'kedge plan --report FILE.json' writes what the plan shows: 'fits', free memory, and the\n"
    "bytes of every stage with every operator.\n";

static const char backends_text[] =
    "  auto     the GPU when one is usable, else the host; the summary says which and why\n"
    "  host     OpenMP threads and SIMD lanes\n"
    "  cuda     an NVIDIA GPU; fails when none is usable or kedge was built without CUDA\n"
    "\n"
    "--device N takes one GPU of several (CUDA_VISIBLE_DEVICES renumbers them). --threads N sets\n"
    "the host threads; by default there is one a core of the CPU set that Slurm or taskset\n"
    "allows, bound to its core unless OMP_PROC_BIND or OMP_PLACES is set. 'kedge info' shows what\n"
    "is there.\n"
    "\n"
    "Threads wait for each other by turning on their cores. Where other programs use these cores\n"
    "at the same time, a small solve can take a hundred times as long: set\n"
    "OMP_WAIT_POLICY=passive in the environment, with which threads sleep while they wait, or\n"
    "take fewer threads.\n";

static const char multigrid_text[] =
    "Multigrid preconditions the conjugate gradients on the trace: some 10 to 20 iterations on\n"
    "any mesh of good triangles, where Jacobi takes twice as many for each refinement. It is what\n"
    "'preconditioner = auto' takes with 'operator = matrix-free', but for small problems.\n"
    "\n"
    "  preconditioner   multigrid; block-jacobi: its smoother alone; jacobi: none of what follows\n"
    "  smoother         edge; line where angles are below 20 degrees (auto sees to it)\n"
    "  smoothing_steps  1, but at order 1 on curves and with coefficients that vary 2; 2 pays at\n"
    "                   order 1 elsewhere too, and measures how far a step may go\n"
    "  precision        double; mixed: shorter iterations, more memory; compact: the least memory\n"
    "\n"
    "When it fails or takes many iterations: 'kedge mesh info' shows the smallest angle; choose\n"
    "another smoother, then 'smoothing_steps = 2', a stabilization near diffusion / h (u* is less\n"
    "accurate then), or 'preconditioner = jacobi', which has none of these parts and takes more\n"
    "iterations. A mesh that kedge refined ('refine = K') is solved faster than one that came as\n"
    "fine.\n";

static const char march_text[] =
    "A problem with [time] is marched by 'kedge solve' from [initial] u at t = 0 to its end:\n"
    "  mass u_t - div(diffusion grad u) + reaction u = source\n"
    "on every kind of mesh. Expressions may have t in them.\n"
    "\n"
    "  scheme   euler, trbdf2 or esdirk4, of order 1, 2 and 4, with 1, 2 and 5 solves a step\n"
    "  events   where data jump in time, as at t < 0.5 ? 1 : 0, a step has to end\n"
    "  outputs  [output] every or at: numbered files and FILE.vtkhdf.series for ParaView. "
    "FILE.csv\n"
    "           has a row for each step: mean and extrema of u, fluxes, integrals, probes\n"
    "  --checkpoint FILE, --resume FILE   for runs that end on the way\n"
    "\n"
    "Nonlinear problems and controllers are loops in Python: kedge.march(), m.step(), m.update().\n"
    "\n";

static const char waves_text[] =
    "[equation] system names one of these, and [time] end is the end of its march from [initial]:\n"
    "\n"
    "  system       on           fields                   materials\n"
    "  maxwell      tetrahedra   Ex, Ey, Ez, Hx, Hy, Hz   permittivity, permeability, "
    "conductivity\n"
    "  maxwell-tm   triangles    Ez, Hx, Hy               the same\n"
    "  acoustics    both         p, vx, vy, vz            density, bulk\n"
    "\n"
    "A field has a key of its name in [initial], [exact] and [boundary NAME]. Types of "
    "boundaries:\n"
    "\n"
    "  conductor    of Maxwell: tangential E is that of its fields, 0 without\n"
    "  wall         of acoustics: the velocity along the normal, n . v, is that of its fields, 0\n"
    "               without\n"
    "  soft         of acoustics, an opening: p is that of its field, 0 without\n"
    "  absorbing    waves leave; those that graze it return. It takes no fields\n"
    "  incident     the wave of its fields, or of [exact], comes in, and waves leave. Of a wave "
    "that\n"
    "               goes along d give E and H = d x E / Z, Z = sqrt(permeability/permittivity), "
    "as\n"
    "               Ez = g(x - t), Hy = -g(x - t); or p and v = d p / Z, Z = sqrt(density bulk)\n"
    "\n"
    "Steps are as long as is stable: step = auto. precision is single, or double.\n"
    "\n"
    "Outputs are numbered files as of all that moves; FILE.csv has a row of energy and errors for\n"
    "each. A probe has a file of its own: t, step and all fields at its points, at the beginning\n"
    "and behind each step, or each K-th one with 'every = K'. --checkpoint and --resume are those\n"
    "of 'kedge help march'.\n";

static const char exit_codes_text[] =
    "  0   solved, or done\n"
    "  1   failed: memory (of 'kedge plan' too: the problem does not fit), device, breakdown,\n"
    "      a file that could not be written\n"
    "  2   usage, or bad input: options, problem file, mesh, a place that cannot be written\n"
    "  3   the trace solve did not reach the tolerance (with tolerance = auto, neither it nor\n"
    "      rounding); output and report are still written and say so\n"
    "  130 ended by Ctrl-C (SIGINT), 143 by SIGTERM, as a shell shows it: with --checkpoint "
    "behind\n"
    "      a step that is saved, which --resume goes on from\n";

typedef struct topic {
  const char *name, *summary, *text;
} topic;

static const topic topics[] = {
    {"problem", "the problem file", problem_text},
    {"expressions", "what expressions are made of", expressions_text},
    {"mesh", "meshes that are read and generated", mesh_text},
    {"output", "the output file and ParaView", output_text},
    {"report", "the JSON report", report_text},
    {"multigrid", "the preconditioner, and what to try when it fails", multigrid_text},
    {"backends", "host, GPU, threads", backends_text},
    {"march", "problems in time", march_text},
    {"waves", "Maxwell's equations and acoustics", waves_text},
    {"exit-codes", "what the exit code says", exit_codes_text},
};
enum { TOPIC_COUNT = sizeof topics / sizeof *topics };

static void list_topics(FILE *stream)
{
  fprintf(stream, "Topics of 'kedge help TOPIC':\n");
  for (int t = 0; t < TOPIC_COUNT; ++t)
    fprintf(stream, "  %-14s%s\n", topics[t].name, topics[t].summary);
  fputs(
      "Sections of the problem file, as 'kedge help SECTION': mesh, space, equation, region,\n"
      "parameters, boundary, integral, exact, time, initial, solver, output, probe.\n"
      "Their keys, as 'kedge help KEY' or 'kedge help SECTION.KEY'.\n",
      stream);
  fprintf(stream, "Commands, also as 'kedge COMMAND --help':\n");
  for (const kg_cli_verb *verb = kg_cli_verbs; verb->name; ++verb)
    fprintf(stream, "  %-14s%s\n", verb->name, verb->summary);
}

static void print_title(const char *before)
{
  printf("%s%-17s%-18s%-16s%s\n", before, "section", "key", "default", "value");
}

static void print_row(const struct row *row, bool shows_section)
{
  char section[32] = "";
  if (shows_section) snprintf(section, sizeof section, "[%s]", row->section);
  printf("%-17s%-18s%-16s", section, row->key, row->preset);
  const char *text = row->text;
  for (const char *end; (end = strchr(text, '\n')); text = end + 1)
    printf("%.*s\n%51s", (int)(end - text), text, "");
  printf("%s\n", text);
}

/// "mesh"; "boundary" for [boundary NAME].
static bool is_section(const struct row *row, const char *name, size_t length)
{
  if (length == 0 || strncmp(row->section, name, length) != 0) return false;
  return row->section[length] == '\0' || row->section[length] == ' ';
}

/// The rows of a section, or of all where name is NULL, under their title. Returns their number.
/// @param[in] before  what parts the title from the text above
static int print_section(const char *name, const char *before)
{
  int n = 0;
  for (int i = 0; i < ROW_COUNT; ++i) {
    if (name && !is_section(&rows[i], name, strlen(name))) continue;
    if (n++ == 0) print_title(before);
    print_row(&rows[i], i == 0 || strcmp(rows[i].section, rows[i - 1].section) != 0);
  }
  return n;
}

/// Rows of a key. Two sections may have one of this name.
/// @param[in] name  "tolerance", "solver.tolerance", "boundary left.type"
/// Returns their number.
static int print_keys(const char *name, const char *before)
{
  const char *const dot = strrchr(name, '.'), *const key = dot ? dot + 1 : name;
  int n = 0;
  for (int i = 0; i < ROW_COUNT; ++i) {
    if (strcmp(rows[i].key, key) != 0) continue;
    if (dot && !is_section(&rows[i], name, strcspn(name, " ."))) continue;
    if (n++ == 0) print_title(before);
    print_row(&rows[i], true);
  }
  return n;
}

static void print_topic(const topic *t)
{
  fputs(t->text, stdout);
  if (t->text == march_text) {
    print_section("time", "");
    print_section("initial", "\n");
  }
  if (t->text != problem_text) return;
  print_section(NULL, "");
  puts("\n'kedge solve --set space.order=6' sets a key from the command line.");
}

/// Words that are explained under another name, of a topic or a key.
static const struct {
  const char *word, *name;
} aliases[] = {{"edge", "multigrid"},
               {"line", "multigrid"},
               {"jacobi", "multigrid"},
               {"double", "multigrid"},
               {"mixed", "multigrid"},
               {"compact", "multigrid"},
               {"quads", "mesh"},
               {"quadrilaterals", "mesh"},
               {"curved", "mesh"},
               {"tensor", "diffusion"},
               {"block-jacobi", "multigrid"},
               {"time", "march"},
               {"checkpoint", "march"},
               {"resume", "march"},
               {"series", "march"},
               {"maxwell", "waves"},
               {"maxwell-tm", "waves"},
               {"acoustics", "waves"},
               {"conductor", "waves"},
               {"wall", "waves"},
               {"soft", "waves"},
               {"absorbing", "waves"},
               {"incident", "waves"},
               {"Ex", "waves"},
               {"Ey", "waves"},
               {"Ez", "waves"},
               {"Hx", "waves"},
               {"Hy", "waves"},
               {"Hz", "waves"},
               {"p", "waves"},
               {"vx", "waves"},
               {"vy", "waves"},
               {"vz", "waves"},
               {"exit", "exit-codes"},
               {"exit codes", "exit-codes"},
               {"robin", "boundary"},
               {"sigma", "output"},
               {"flux", "output"}};
enum { ALIAS_COUNT = sizeof aliases / sizeof *aliases };

static const char *without_alias(const char *name)
{
  for (int i = 0; i < ALIAS_COUNT; ++i)
    if (strcmp(name, aliases[i].word) == 0) return aliases[i].name;
  return name;
}

static const topic *find_topic(const char *name)
{
  for (int t = 0; t < TOPIC_COUNT; ++t)
    if (strcmp(topics[t].name, name) == 0) return &topics[t];
  return NULL;
}

/// Take what `text` begins with, up to a blank, as what may be meant.
static void offer(kg_nearest *nearest, const char *text, char best[32])
{
  char word[32];
  snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
  const int before = nearest->distance;
  kg_nearest_offer(nearest, word);
  if (nearest->distance < before) memcpy(best, word, sizeof word);
}

/// The topic, value, command, section or key that is nearest to a name; empty: none is near.
static void find_nearest(const char *name, char best[32])
{
  const char *const dot = strrchr(name, '.');
  kg_nearest nearest = kg_nearest_to(dot ? dot + 1 : name);
  best[0] = '\0';
  for (int t = 0; t < TOPIC_COUNT; ++t) offer(&nearest, topics[t].name, best);
  for (int i = 0; i < ALIAS_COUNT; ++i) offer(&nearest, aliases[i].word, best);
  for (const kg_cli_verb *verb = kg_cli_verbs; verb->name; ++verb)
    offer(&nearest, verb->name, best);
  for (int i = 0; i < ROW_COUNT; ++i) {
    offer(&nearest, rows[i].section, best);
    offer(&nearest, rows[i].key, best);
  }
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  const char **name = state->input;
  if (key != ARGP_KEY_ARG) return ARGP_ERR_UNKNOWN;
  if (!*name)
    *name = text;
  else if (strcmp(*name, "exit") != 0 || strcmp(text, "codes") != 0)
    argp_error(state, "one topic at a time, not also '%s'", kg_cli_shown(text));
  return 0;
}

int kg_cli_help(int argc, char **argv)
{
  static const struct argp argp = {
      .parser = parse,
      .args_doc = "[TOPIC|KEY]",
      .doc = "Explain a topic, or a key of the problem file; without one, list topics.",
      .children = kg_cli_help_children};
  const char *word = NULL;
  argp_parse(&argp, argc, argv, 0, NULL, &word);
  if (!word) {
    list_topics(stdout);
    return KG_EXIT_SOLVED;
  }
  const char *const name = without_alias(word);
  const topic *const found = find_topic(name);
  if (found) print_topic(found);
  // A topic, a section or a word that has another name may be the name of a key too.
  bool is_known = print_section(name, found ? "\n" : "") > 0 || found;
  is_known = print_keys(name, is_known ? "\n" : "") > 0 || is_known;
  if (strcmp(word, name) != 0) is_known = print_keys(word, is_known ? "\n" : "") > 0 || is_known;
  if (is_known) return KG_EXIT_SOLVED;
  for (const kg_cli_verb *verb = kg_cli_verbs; verb->name; ++verb) {
    if (strcmp(verb->name, name) != 0) continue;
    char title[64], option[] = "--help";
    snprintf(title, sizeof title, "kedge %s", name);
    return verb->run(2, (char *[]){title, option, NULL});
  }
  char best[32];
  find_nearest(name, best);
  fprintf(stderr, "kedge: there is no help on '%s'", kg_cli_shown(name));
  if (best[0]) {
    fprintf(stderr, "; did you mean '%s'?\n", best);
  } else {
    fputc('\n', stderr);
    list_topics(stderr);
  }
  return KG_EXIT_INPUT;
}
