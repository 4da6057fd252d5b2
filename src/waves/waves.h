/// @file
/// Waves on a mesh: the state of a system of equations (ops/waves/stage.h), what a stage reads, and
/// what is made of the state. Nothing here knows which system it is, and nothing how steps follow
/// each other (march/waves.c).
#pragma once
#include "device/backend.h"
#include "ops/waves/laws.h"
#include "ops/waves/source.h"
#include "ops/waves/stage_kernel.h"
#include "problem/located.h"
#include "problem/problem.h"
#include "solution/find_points.h"
#include "waves/data.h"

/// The points of a probe among those that are asked for again and again.
typedef struct kg_wave_probe {
  int64_t number;    ///< of the probe
  int64_t first, n;  ///< its points
  int64_t asked;     ///< the last state in which it was
} kg_wave_probe;

/// Points whose fields are made together, by one kernel and one copy a state (waves/probes.c).
typedef struct kg_wave_probes {
  int n_probes, probes_room;
  int last;              ///< that was asked for
  kg_wave_probe *probe;  ///< [n_probes]
  int64_t n, room;
  int32_t *element;  ///< [n]
  double *row;       ///< [n][nodes]: from values at nodes to that at the point
  double *value;     ///< [n][field]
  int64_t state;     ///< of those in which there were values, the last one
  bool is_current;   ///< values are of the state
  bool is_there;     ///< so are rows and elements:
  kg_buffer there;   ///< values, rows and elements in device memory
} kg_wave_probes;

enum { KG_WAVE_TIMED = 11 };  ///< one in so many stages is timed by part, as that waits for the GPU

enum { KG_WAVE_STAGES = 5 };  ///< of a step

/// What a report has of a march.
typedef struct kg_wave_account {
  int64_t stages;
  double step_seconds;                                 ///< of all of them
  double stage_seconds, data_seconds, source_seconds;  ///< parts of those that were timed by part
  double probe_seconds, output_seconds;
  double first_energy;
  int64_t device_bytes;
} kg_wave_account;

typedef struct kg_waves {
  kedge_context *ctx;
  const kedge_mesh *mesh;
  const kg_law *law;
  kg_nodal nodal;
  double *jacobian;                  ///< [element]: |det dx/dr|
  double pull;                       ///< of kg_waves_pull_in(): 1e-11 of the mesh's size
  double t, step;                    ///< of the last stage
  double times[KG_WAVE_STAGES];      ///< of the data of the stages of the step
  int64_t steps;                     ///< of the march, that of the last stage among them
  kg_wave_args args;                 ///< in device memory
  char kernel[KG_WAVE_KERNEL_TEXT];  ///< of stages: kg_wave_kernel_find()
  kg_buffer tables, state;
  kg_wave_probes probes;
  kg_wave_account account;
  int nodes_order;      ///< of `nodes`; 0: there are none
  kg_buffer nodes, to;  ///< of kg_waves_values_there(): its tables
  kg_buffer spare;      ///< of kg_waves_undriven(): a state
  // What the problem says; an update makes it anew.
  kedge_problem *problem;     ///< a copy, whose time is that of the last stage
  double longest;             ///< step of cfl 1
  double undamped;            ///< what that would be without damping
  double *number;             ///< [element][n_numbers]: its medium
  kg_wave_data given;         ///< fields of the boundary
  kg_wave_data driven;        ///< sources of elements
  kg_buffer settled;          ///< media, kinds of sides, what has a source
  const kg_wave_side *quiet;  ///< args.boundary with no data, in device memory
  kg_wave_source_args source;
  char note[800];  ///< kedge_march_note()
} kg_waves;

/// Set up, with the initial state.
/// @param[in]  mesh  borrowed
/// @param[out] out   kg_waves_free(), also after a failure
/// @retval KEDGE_ERR_INPUT  the problem does not fit the mesh, or a value is not what it may be
/// @retval KEDGE_ERR_UNSUPPORTED  the mesh has other elements than the system takes
kedge_status kg_waves_create(kedge_context *ctx, const kedge_mesh *mesh,
                             const kedge_problem *problem, kg_waves *out);
void kg_waves_free(kg_waves *waves);

typedef struct kg_waves_memory {
  int64_t device, host;  ///< bytes, in host memory the most that is held beside the mesh; with
      ///< those of kg_waves_undriven_room() where steps are longer than is stable
  int64_t needed, free;  ///< of the context's device
  int64_t unknowns;
  double longest;  ///< step of cfl 1
  char note[160];  ///< of kg_waves_note_step()
} kg_waves_memory;
/// Predict the memory of kg_waves_create() before any is taken.
/// @param[out] memory  all zeros, unless that is KEDGE_OK, or KEDGE_ERR_MEMORY as it would not fit
/// @retval KEDGE_ERR_MEMORY  it would not fit; the sentence is that of kg_waves_create()
kedge_status kg_waves_plan(kedge_context *ctx, const kedge_mesh *mesh, const kedge_problem *problem,
                           kg_waves_memory *memory);
/// What a problem says now, on the same mesh and with the same state.
/// @param[out] next  kg_waves_unsettle() this one, or `waves` and put it in place of them; after a
///                   failure there is nothing to free
/// @retval KEDGE_ERR_INPUT  as of kg_waves_create(), or system, order or precision are others
kedge_status kg_waves_renew(const kg_waves *waves, const kedge_problem *problem, kg_waves *next);

/// Times of the data of stages, as parts of the step (waves/stages.c).
#define KG_WAVE_TIMES                                                          \
  {                                                                            \
    0.0, 1432997174477.0 / 9575080441755.0, 2526269341429.0 / 6820363962896.0, \
        2006345519317.0 / 3224310063776.0, 2802321613138.0 / 2924317926251.0   \
  }

/// One stage of a step of this length. @param[in] t  of its data
kedge_status kg_waves_stage(kg_waves *waves, int stage, double step, double t);
/// The energy that the state has one step on where nothing drives it; the state stays what it is.
/// @param[out] energy  INFINITY: a number would not be finite
kedge_status kg_waves_undriven(kg_waves *waves, double step, double *energy);
/// Whether a step is longer than the longest of cfl 1, by more than rounding.
static inline bool kg_waves_is_longer(double step, double longest)
{
  return step > longest * (1.0 + 1e-9);
}
/// Take the memory that kg_waves_undriven() works in ahead of its first call, which takes it else.
kedge_status kg_waves_undriven_room(kg_waves *waves);
/// Refuse data that were bad in any stage of a step, once its last stage is made, as
/// kg_wave_data_check() does.
kedge_status kg_waves_check_data(kg_waves *waves);

/// The number of a field; -1: the system has none of this name.
int kg_waves_field(const kg_waves *waves, const char *name);
/// Whether [exact] has a field. @param[in] field  -1: any
bool kg_waves_has_exact(const kg_waves *waves, int field);
/// Fail with KEDGE_ERR_NUMERIC where the state is not finite.
kedge_status kg_waves_check(kg_waves *waves);
/// What is made of the state, which is copied to the host for it, some elements at a time.
/// @param[in] group  of the mesh, a region; -1: all
kedge_status kg_waves_energy(kg_waves *waves, int group, double *energy);
/// L2 norms of the errors of fields at the time t against [exact]; fields that have none count 0.
/// @param[out] error  [n_fields]
kedge_status kg_waves_errors(kg_waves *waves, double t, double *error);
/// Values of a field at the nodes of kg_cell.nodes(order). @param[out] values  [element][node], in
/// the caller's order of elements
kedge_status kg_waves_values(kg_waves *waves, int field, int order, double *values);
/// Likewise in device memory, whose tables stay for the next call. @param[out] values  there
kedge_status kg_waves_values_there(kg_waves *waves, int field, int order, double *values);
/// Where these nodes are. @param[out] at  [element][node][dimension]
kedge_status kg_waves_nodes(const kg_waves *waves, int order, double *at);

/// Values of a field at the points of a probe of the mesh. @param[out] values  [n]; NAN outside
kedge_status kg_waves_probe(kg_waves *waves, const kedge_probe *probe, int field, double *values);
void kg_wave_probes_free(kedge_context *ctx, kg_wave_probes *probes);

/// Write the state, at the time t, as VTKHDF: a Lagrange cell of the order an element, with the
/// fields and the region (waves/output.c).
kedge_status kg_waves_write(kg_waves *waves, double t, const char *path);

// Between the files of this folder.

/// From values at nodes to that at a point. @param[out] row  [nodes]
void kg_waves_row(const kg_waves *waves, const double *at, double *row);
/// Whether the corners of an element have to be exchanged where it is written (kedge/solution.h).
bool kg_waves_is_turned(const kedge_mesh *mesh, int32_t element);
/// Equispaced nodes, in space with r, t, s in place of r, s, t where an element is turned.
/// @param[out] at  [dimension][n]
void kg_waves_nodes_of(const kg_cell *cell, int order, bool turned, double *at);
/// The state of a run of elements in host memory, and points of each of them: where the mesh is
/// large, there is no room for all. What is made of it has the same bits whatever the runs are.
typedef struct kg_wave_look {
  kg_waves *w;
  int32_t first, n;  ///< the elements
  double *u;         ///< [element of the run][field][node]
  int n_points;
  double *at;      ///< [set][dimension][n_points]; the second set is that of turned elements
  double *matrix;  ///< [set][n_points][nodes]: from values at nodes to those at the points
} kg_wave_look;
enum { KG_WAVE_RUN = 1 << 14 };  ///< elements of a run, but for the last
/// Elements of the longest run.
int32_t kg_waves_run(const kg_waves *waves);
/// Begin; no element is there yet. @param[out] look  kg_waves_look_free(), also after a failure
/// @retval KEDGE_ERR_NUMERIC  the state is not finite
kedge_status kg_waves_look(kg_waves *waves, kg_wave_look *look);
/// Go to the elements from `first` on.
kedge_status kg_waves_look_at(kg_wave_look *look, int32_t first);
/// Have the nodes of kg_waves_values() as points.
kedge_status kg_waves_look_nodes(kg_wave_look *look, int order);
/// Values of a field at the points of an element of the run, and where they are, which needs none.
/// @param[out] at  [n_points][stride], of which the mesh's dimension is written
void kg_waves_look_values(const kg_wave_look *look, int32_t element, int field, double *values);
void kg_waves_look_places(const kg_wave_look *look, int32_t element, int stride, double *at);
void kg_waves_look_free(kg_wave_look *look);
/// Say that a number of the state is not finite.
kedge_status kg_waves_refuse(const kg_waves *waves, int field);

/// Fields at points of an element. @param[in] place  [dimension][stride]: r, s, t
/// @param[out] value  [field][stride]; 0 where a field has no function
void kg_waves_evaluate(const kg_waves *waves, const kg_wave_values *values, int32_t element, int n,
                       const double *place, const double *normal, size_t stride, double *value);
enum {
  KG_PLACE_TEXT = 80,
  KG_WAVE_POINTS = 224,  ///< of an element at once, at most
  KG_WAVE_BATCH = 1568,  ///< of several elements at once, as a call of Python takes long
};
/// Points of elements, one element behind the other, then all of them pulled.
typedef struct kg_wave_batch {
  size_t n, room;
  bool may_jump;     ///< kg_waves_may_jump() of what is evaluated; else none is pulled in
  bool on_boundary;  ///< points have normals
  double *x, *normal, *located;  ///< [3][2 room], [3][2 room], [KG_LOCATED * 2 room]
  double *value;                 ///< [2 room]
} kg_wave_batch;
enum { KG_WAVE_POINT = 14 + 2 * KG_LOCATED };  ///< numbers of a point
/// No points. @param[in] memory  [KG_WAVE_POINT * room]
kg_wave_batch kg_wave_batch_in(double *memory, size_t room, bool may_jump);
/// Add points of an element, for which there is room.
/// @param[in] normal  of all; NULL: they are inside, as those before
void kg_wave_batch_add(const kg_waves *waves, int32_t element, int n, const double *place,
                       const double *normal, size_t stride, kg_wave_batch *batch);
/// Evaluate a function at all points of a full batch. @param[out] value  [room]
void kg_wave_batch_evaluate(const kg_waves *waves, const kg_function *function,
                            const kg_wave_batch *batch, double *value);
/// Where a node is, in words.
void kg_waves_place(const kg_waves *waves, int32_t element, int node, char text[KG_PLACE_TEXT]);
/// Coordinates of points of an element. @param[out] x  [dimension][x_stride]
void kg_waves_coordinates(const kg_waves *waves, int32_t element, int n, const double *place,
                          size_t stride, double *x, size_t x_stride);
/// Pull points of an element towards their middle by kg_waves.pull, those of nodes on an interface
/// to the element's side of it; those of a facet stay on it. @param[out] pulled  as x
void kg_waves_pull_in(const kg_waves *waves, int32_t element, int n, const double *x, size_t stride,
                      double *pulled);
/// Whether points have to be pulled for functions: it leaves those that are smooth as they are.
bool kg_waves_may_jump(int n_functions, const kg_function *const *functions);
/// The functions of all fields of the system.
void kg_waves_functions_of(const kg_waves *waves, const kg_wave_values *values,
                           const kg_function *functions[KG_WAVE_FIELDS_MAX]);
/// Geometry and neighbours (waves/set_up.c).
kedge_status kg_waves_set_up(kg_waves *waves);
/// The radius of the circle or sphere inscribed in an element, and the outward normal of a facet.
double kg_waves_radius(const kg_waves *waves, int32_t element);
void kg_waves_normal(const kg_waves *waves, int32_t element, int facet, double normal[3]);
/// Media, boundaries and sources (waves/settle.c), which kg_waves_unsettle() frees, also after a
/// failure, and kg_waves_forget() sets to zero.
kedge_status kg_waves_settle(kg_waves *waves);
void kg_waves_unsettle(kg_waves *waves);
void kg_waves_forget(kg_waves *waves);
/// The media of elements, which are those of their middles (waves/media.c).
/// @param[in]  section  [group of the mesh]: as of kg_waves_coefficients()
/// @param[out] medium   as of kg_wave_args, in doubles; waves->number has them too
/// @retval KEDGE_ERR_INPUT  a property is not what it may be, or precision does not hold a number
kedge_status kg_waves_media(kg_waves *waves, const kg_coefficients *const *section, double *medium);
/// Find the longest step of cfl 1 by `number`, which damping shortens too.
void kg_waves_limit(kg_waves *waves);
/// The group of an element's region.
int kg_waves_group(const kedge_mesh *mesh, int32_t element);
/// The coefficients of a group's region, or those of [equation].
/// @param[in] section  [group of the mesh]; NULL: the region has no section
const kg_coefficients *kg_waves_coefficients(const kg_waves *waves,
                                             const kg_coefficients *const *section, int group);
/// What a boundary does, and its data, which are those of [exact] where it lets waves in and has
/// none of its own (waves/boundaries.c).
/// @param[out] values  NULL: they are 0
/// @retval KEDGE_ERR_INPUT  it has no type, or other data than its type reads
kedge_status kg_waves_boundary(const kg_waves *waves, const kg_boundary *boundary, int32_t *kind,
                               const kg_wave_values **values);
/// List the names of fields, as "Hx, Hy". @param[in] fields  1 << field of each
void kg_waves_list_fields(const kg_law *law, unsigned fields, size_t room, char *text);
/// Note where the data of incident boundaries bring in nothing, or half of a wave, curves that are
/// flattened, and steps that damping sets (waves/enter.c).
/// @param[in] boundary  [group of the mesh]; NULL: it has none
void kg_waves_note_data(kg_waves *waves, const kg_boundary *const *boundary);
/// Add a sentence to the note.
void kg_waves_add_note(kg_waves *waves, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/// Note boundaries that stay 0 where [exact] does not, as far as its values at a few places and
/// times of the run say; functions of the caller are left alone (waves/exact.c).
kedge_status kg_waves_note_exact(kg_waves *waves, const kg_boundary *const *boundary);
/// Refuse z in a mesh of the plane, and materials that move (waves/fit.c).
kedge_status kg_waves_fit(const kg_waves *waves);
/// Tables of the device, one behind the other in a buffer.
typedef struct kg_wave_table {
  const void *from;
  size_t n;
  size_t size;  ///< of an entry; 0: it is a double here, and of args.number there
  void *to;     ///< address of the pointer to it
} kg_wave_table;
int64_t kg_waves_table_bytes(const kg_waves *waves, int n, const kg_wave_table *list);
/// Device memory of kg_waves_set_up() and kg_waves_settle().
int64_t kg_waves_mesh_bytes(const kg_waves *waves);
kedge_status kg_waves_settled_bytes(const kg_waves *waves, int64_t *bytes);
/// The longest step of cfl 1, and its note, of which nothing but these is kept.
kedge_status kg_waves_find_longest(const kg_waves *waves, kg_waves_memory *memory);
/// Say where damping, not speed, sets the step, and makes it more than 10 times shorter; else "".
void kg_waves_note_step(const kg_waves *waves, size_t room, char *text);
kedge_status kg_waves_upload(kg_waves *waves, int n, const kg_wave_table *list, kg_buffer *out);
/// Copy numbers to the device, and the state from it, which has those of args.number.
kedge_status kg_waves_put(const kg_waves *waves, void *there, const double *here, int64_t n);
/// @param[out] state  [element][field][node] of the elements [first, first + n)
kedge_status kg_waves_get_elements(const kg_waves *waves, int32_t first, int32_t n, double *state);
