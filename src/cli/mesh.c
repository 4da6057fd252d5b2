#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

typedef struct mesh_options {
  char words[256];    ///< generate: the words, joined by blanks
  const char *input;  ///< info, join: the file
  const char *output;
  int refine;
  double distance;  ///< join: of vertices; 0: not given
  bool binary;
} mesh_options;

/// Mesh work needs no GPU.
static kedge_status open_context(kedge_context **out)
{
  kedge_context_options options = KEDGE_CONTEXT_OPTIONS_INIT;
  options.backend = KEDGE_BACKEND_HOST;
  return kedge_context_create(&options, out);
}

/// @param[in] width  columns of the name
static void print_group(int width, const kedge_mesh_group *group, const char *what, int64_t count,
                        double measure)
{
  const char *const name = kg_cli_shown(group->name);
  printf("%s%*s  %8d  %-14s%12lld%14.6g\n", name, width - kg_cli_width(name), "", group->tag, what,
         (long long)count, measure);
}

/// Name the elements of a mesh, in the singular.
static const char *shape_of(const kedge_mesh_info *m)
{
  if (m->dimension == 3) return "tetrahedron";
  if (m->quadrilaterals == 0) return "triangle";
  return m->quadrilaterals == m->elements ? "quadrilateral" : "element";
}

/// Name several elements of a mesh.
static const char *shapes_of(const kedge_mesh_info *m)
{
  if (m->dimension == 3) return "tetrahedra";
  if (m->quadrilaterals == 0) return "triangles";
  return m->quadrilaterals == m->elements ? "quadrilaterals" : "elements";
}

static void print_groups(const kedge_mesh *mesh, const kedge_mesh_info *m)
{
  const bool space = m->dimension == 3;
  int width = 22;
  for (int i = 0; i < kedge_mesh_group_count(mesh); ++i) {
    kedge_mesh_group group = KEDGE_MESH_GROUP_INIT;
    kedge_mesh_get_group(mesh, i, &group);
    const int columns = kg_cli_width(kg_cli_shown(group.name));
    if (columns > width) width = columns;
  }
  printf("\n%-*s  %8s  %-14s%12s%14s\n", width, "group", "tag", "of", "count",
         space ? "area, volume" : "length, area");
  for (int i = 0; i < kedge_mesh_group_count(mesh); ++i) {
    kedge_mesh_group group = KEDGE_MESH_GROUP_INIT;
    kedge_mesh_get_group(mesh, i, &group);
    const char *const what = group.dimension == m->dimension ? shapes_of(m)
                             : space                         ? "boundary faces"
                                                             : "boundary edges";
    if (group.count > 0) print_group(width, &group, what, group.count, group.measure);
    if (group.n_inner > 0)
      print_group(width, &group, space ? "inner faces" : "inner edges", group.n_inner,
                  group.inner_measure);
  }
}

/// Print what kedge put right in the input, if anything.
static void print_repairs(const kedge_mesh_info *m, const char *shape)
{
  if (m->shared_elements > 0)
    printf("put right        %lld %s in several physical groups, of which the first counts\n",
           (long long)m->shared_elements, m->shared_elements == 1 ? shape_of(m) : shapes_of(m));
  if (m->shared_lines > 0)
    printf("put right        %lld %s%s in several physical groups, of which the first counts\n",
           (long long)m->shared_lines, m->dimension == 3 ? "face" : "line",
           m->shared_lines == 1 ? "" : "s");
  if (m->turned_elements > 0)
    printf("put right        %lld clockwise %s%s, turned\n", (long long)m->turned_elements, shape,
           m->turned_elements == 1 ? "" : "s");
  if (m->unused_vertices > 0)
    printf("put right        %lld %s of no %s, left out\n", (long long)m->unused_vertices,
           m->unused_vertices == 1 ? "vertex" : "vertices", shape);
}

/// Print what a file leaves to the others of a mesh that was split.
static void print_part(const kedge_mesh_info *m)
{
  char of[24] = "";
  if (m->partitions > 0) snprintf(of, sizeof of, " of %d", m->partitions);
  if (m->partition > 0)
    printf(
        "partition        %d%s: the file is one part of a mesh that was split, and its cuts are "
        "boundary\n",
        m->partition, of);
  if (m->ghost_elements > 0)
    printf("ghosts           %lld %s of other parts, left out\n", (long long)m->ghost_elements,
           m->ghost_elements == 1 ? shape_of(m) : shapes_of(m));
}

/// Print what a file identifies with others, if anything.
static void print_periodic(const kedge_mesh_info *m)
{
  if (m->periodic_lines > 0)
    printf(
        "periodic         %lld %s%s of the file; boundary like the rest, as kedge has no "
        "periodic conditions\n",
        (long long)m->periodic_lines, m->dimension == 3 ? "surface" : "curve",
        m->periodic_lines == 1 ? "" : "s");
}

/// What there is to say of tetrahedra.
static void print_space(const kedge_mesh_info *m)
{
  printf("tetrahedra       %lld\n", (long long)m->elements);
  printf("faces            %lld, %lld of them on the boundary\n", (long long)m->edges,
         (long long)m->boundary_edges);
  printf("vertices         %lld\n", (long long)m->vertices);
  if (m->parts > 1) printf("parts            %lld, without common faces\n", (long long)m->parts);
  print_periodic(m);
  print_part(m);
  if (m->coincident_edges > 0)
    printf(
        "coincident faces %lld, each on another one: banks of a slit, or parts that are not "
        "joined; one is at (%.6g, %.6g, %.6g): mesh both sides with common vertices\n",
        (long long)m->coincident_edges, m->coincident_at[0], m->coincident_at[1], m->coincident_z);
  if (m->overlapping_edges > 0)
    printf(
        "overlaps         %lld boundary face%s of elements that lie on others, whose volume counts "
        "twice; one is at (%.6g, %.6g, %.6g)\n",
        (long long)m->overlapping_edges, m->overlapping_edges == 1 ? "" : "s", m->overlapping_at[0],
        m->overlapping_at[1], m->overlapping_z);
  printf("box              [%g, %g] x [%g, %g] x [%g, %g]\n", m->low[0], m->high[0], m->low[1],
         m->high[1], m->low[2], m->high[2]);
  printf("volume           %.10g, of a tetrahedron %.3g to %.3g\n", m->area, m->min_area,
         m->max_area);
  printf("quality          %.3f at worst, %.3f on average (1: regular, 0: degenerate)\n",
         m->min_quality, m->mean_quality);
  printf("smallest angle   %.*f degrees, between faces\n", m->min_angle < 1.0 ? 5 : 1,
         m->min_angle);
  print_repairs(m, "tetrahedron");
}

static void print_mesh(const char *name, const kedge_mesh *mesh)
{
  kedge_mesh_info m = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &m);
  const char *const shape = shape_of(&m);
  char advice[80] = "vertices of one lie inside others: mesh both sides together";
  if (m.join_distance > 0.0)
    snprintf(advice, sizeof advice, "join = %.0e in [mesh] joins them", m.join_distance);
  printf("%s\n", kg_cli_shown(name));
  if (m.dimension == 3) {
    print_space(&m);
    print_groups(mesh, &m);
    return;
  }
  if (m.quadrilaterals < m.elements)
    printf("triangles        %lld\n", (long long)(m.elements - m.quadrilaterals));
  if (m.quadrilaterals > 0) printf("quadrilaterals   %lld\n", (long long)m.quadrilaterals);
  printf("edges            %lld, %lld of them on the boundary\n", (long long)m.edges,
         (long long)m.boundary_edges);
  printf("vertices         %lld\n", (long long)m.vertices);
  if (m.geometry > 1)
    printf("curves           of order %d, smallest determinant of a map %.3f of its mean\n",
           m.geometry, m.min_jacobian);
  else if (m.quadrilaterals > 0)
    printf("maps             bilinear, smallest determinant %.3f of its mean\n", m.min_jacobian);
  if (m.parts > 1) printf("parts            %lld, without common edges\n", (long long)m.parts);
  print_periodic(&m);
  print_part(&m);
  if (m.coincident_edges > 0)
    printf(
        "coincident edges %lld, each on another one: banks of a slit, or parts that are not "
        "joined; one is at (%.6g, %.6g), and %s\n",
        (long long)m.coincident_edges, m.coincident_at[0], m.coincident_at[1], advice);
  if (m.overlapping_edges > 0)
    printf(
        "overlaps         %lld boundary edge%s of elements that lie on others, whose area counts "
        "twice; one is at (%.6g, %.6g)\n",
        (long long)m.overlapping_edges, m.overlapping_edges == 1 ? "" : "s", m.overlapping_at[0],
        m.overlapping_at[1]);
  printf("box              [%g, %g] x [%g, %g]\n", m.box[0], m.box[2], m.box[1], m.box[3]);
  printf("area             %.10g, of %s %s %.3g to %.3g\n", m.area, *shape == 'e' ? "an" : "a",
         shape, m.min_area, m.max_area);
  printf("quality          %.3f at worst, %.3f on average (1: %s, 0: degenerate)\n", m.min_quality,
         m.mean_quality,
         *shape == 't'   ? "equilateral"
         : *shape == 'q' ? "square"
                         : "equilateral or square");
  printf("smallest angle   %.*f degrees\n", m.min_angle < 1.0 ? 5 : 1, m.min_angle);
  if (m.turned_elements == 0) printf("orientation      all %ss counterclockwise\n", shape);
  print_repairs(&m, shape);
  print_groups(mesh, &m);
}

static int show(const mesh_options *options)
{
  kedge_context *ctx;
  kedge_mesh *mesh = NULL;
  kedge_status status = open_context(&ctx);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  status = kedge_mesh_read(ctx, options->input, &mesh);
  const int code = status == KEDGE_OK ? KG_EXIT_SOLVED : kg_cli_fail(ctx, status, true);
  if (mesh) print_mesh(options->input, mesh);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return code;
}

/// Say what was written, unless that went into a pipe, which may be standard output.
static void print_written(const char *path, const kedge_mesh *mesh)
{
  struct stat file;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) return;
  kedge_mesh_info info = KEDGE_MESH_INFO_INIT;
  kedge_mesh_get_info(mesh, &info);
  printf("%s: %lld %s, %lld vertices\n", kg_cli_shown(path), (long long)info.elements,
         shapes_of(&info), (long long)info.vertices);
}

/// Make the mesh that is to be written.
static kedge_status make(kedge_context *ctx, const mesh_options *options, kedge_mesh **out)
{
  kedge_mesh *mesh = NULL;
  const bool joins = options->distance > 0.0;
  kedge_status status = joins ? kedge_mesh_read(ctx, options->input, &mesh)
                              : kedge_mesh_generate(ctx, options->words, &mesh);
  *out = mesh;
  if (status != KEDGE_OK || (!joins && options->refine == 0)) return status;
  *out = NULL;
  status = joins ? kedge_mesh_join(ctx, mesh, options->distance, out)
                 : kedge_mesh_refine(ctx, mesh, options->refine, out);
  kedge_mesh_destroy(mesh);
  return status;
}

/// Generate a mesh, or join one, and write it.
static int write_mesh(const mesh_options *options)
{
  const kg_cli_file file = {options->output, "mesh", "", false, NULL, NULL};
  char *const target = kg_cli_target(&file);
  free(target);
  if (!target || !kg_cli_named(&file, ".msh", NULL)) return KG_EXIT_INPUT;
  kedge_context *ctx;
  kedge_mesh *mesh = NULL;
  kedge_status status = open_context(&ctx);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  status = make(ctx, options, &mesh);
  if (status == KEDGE_OK) status = kedge_mesh_write(ctx, mesh, options->output, options->binary);
  const int code =
      status == KEDGE_OK ? KG_EXIT_SOLVED : kg_cli_fail(ctx, status, options->input != NULL);
  if (status == KEDGE_OK) print_written(options->output, mesh);
  kedge_mesh_destroy(mesh);
  kedge_context_destroy(ctx);
  return code;
}

/// Options of verbs that write a mesh.
static error_t parse_output(int key, char *text, struct argp_state *state)
{
  mesh_options *options = state->input;
  switch (key) {
    case 'o':
      options->output = text;
      return 0;
    case 'b':
      options->binary = true;
      return 0;
    case ARGP_KEY_END:
      if (!options->output) argp_error(state, "into which file? Give it with -o FILE");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_info(int key, char *text, struct argp_state *state)
{
  mesh_options *options = state->input;
  switch (key) {
    case ARGP_KEY_ARG:
      if (options->input)
        argp_error(state, "one mesh file at a time, not also '%s'", kg_cli_shown(text));
      options->input = kg_cli_input(state, text);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state, "which mesh file?");
      return 0;
    default:
      return ARGP_ERR_UNKNOWN;
  }
}

static void add_word(struct argp_state *state, mesh_options *options, const char *word)
{
  const size_t used = strlen(options->words), size = sizeof options->words;
  const int n = snprintf(options->words + used, size - used, "%s%s", used ? " " : "", word);
  if (n < 0 || (size_t)n >= size - used) argp_error(state, "too many words for a mesh");
}

static error_t parse_generate(int key, char *text, struct argp_state *state)
{
  mesh_options *options = state->input;
  switch (key) {
    case 'r':
      options->refine = (int)kg_cli_integer(state, "--refine", text, 0, KEDGE_REFINE_MAX);
      return 0;
    case ARGP_KEY_ARG:
      add_word(state, options, text);
      return 0;
    case ARGP_KEY_NO_ARGS:
      argp_error(state,
                 "which mesh? square N, quads N, mixed N, lshape N, ring N M, disk N or cube N");
      return 0;
    default:
      return parse_output(key, text, state);
  }
}

static error_t parse_join(int key, char *text, struct argp_state *state)
{
  mesh_options *options = state->input;
  char *end;
  switch (key) {
    case 'd':
      options->distance = strtod(text, &end);
      if (end == text || *end || !(options->distance > 0.0) || isinf(options->distance))
        argp_error(state, "--distance wants a positive number, not '%s'", text);
      return 0;
    case ARGP_KEY_END:
      if (!(options->distance > 0.0)) argp_error(state, "how far apart? Give it with --distance D");
      return parse_output(key, text, state);
    default:
      return parse_output(key, text, state) == 0 ? 0 : parse_info(key, text, state);
  }
}

static int run_join(int argc, char **argv)
{
  static const struct argp_option list[] = {
      {"distance", 'd', "D", 0, "Join vertices of the boundary no farther apart than this", 0},
      {"output", 'o', "FILE", 0, "Write the mesh here (Gmsh 4.1)", 0},
      {"binary", 'b', NULL, 0, "Write the binary form of the format", 0},
      {0}};
  static const struct argp argp = {.options = list,
                                   .parser = parse_join,
                                   .args_doc = "FILE --distance D -o FILE",
                                   .doc = "Join parts of a Gmsh mesh whose vertices nearly agree.",
                                   .children = kg_cli_help_children};
  mesh_options options = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  return write_mesh(&options);
}

static int run_info(int argc, char **argv)
{
  static const struct argp argp = {
      .parser = parse_info,
      .args_doc = "FILE",
      .doc = "Show counts, groups, areas, quality and what was put right of a Gmsh mesh.",
      .children = kg_cli_help_children};
  mesh_options options = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  return show(&options);
}

static int run_generate(int argc, char **argv)
{
  static const struct argp_option list[] = {
      {"output", 'o', "FILE", 0, "Write the mesh here (Gmsh 4.1)", 0},
      {"refine", 'r', "K", 0, "Split every element into four, tetrahedra into eight, K times", 0},
      {"binary", 'b', NULL, 0, "Write the binary form of the format", 0},
      {0}};
  static const struct argp argp = {
      .options = list,
      .parser = parse_generate,
      .args_doc =
          "square N -o FILE\nquads N -o FILE\nmixed N -o FILE\nlshape N [quads] -o FILE\n"
          "ring N M [quads] -o FILE\ndisk N -o FILE\ncube N -o FILE",
      .doc = "Generate a mesh ('kedge help mesh' describes them).",
      .children = kg_cli_help_children};
  mesh_options options = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &options);
  return write_mesh(&options);
}

static const kg_cli_verb verbs[] = {{"info", run_info, "look at a mesh file"},
                                    {"generate", run_generate, "make a mesh"},
                                    {"join", run_join, "join vertices that nearly agree"},
                                    {NULL, NULL, NULL}};

int kg_cli_mesh(int argc, char **argv)
{
  const struct argp usage = {
      .args_doc = "info FILE\ngenerate WORDS... -o FILE\njoin FILE --distance D -o FILE",
      .doc =
          "Look at a Gmsh mesh, generate one, or join its parts.\v"
          "'kedge mesh info --help' and so on say more."};
  return kg_cli_dispatch("kedge mesh", verbs, usage, argc, argv);
}
