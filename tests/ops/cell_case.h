/// @file
/// Elements of one shape, as operators by quadrature read them, on the device of a context.
#pragma once
#include "case.h"
#include "ops/local/quadrature/make.h"

/// A function f [functions] of x, y.
typedef void cell_function(double x, double y, double *f);

typedef struct cell_case {
  op_case memory;  ///< of which only the pieces of device memory are used
  const kg_cell *cell;
  kg_cell_sizes size;
  int rows;  ///< points a direction to assemble with
  int n_elements, n_groups, n_facets;
  double *vertices;       ///< [vertex][2]
  int32_t *corners;       ///< [element][corner]
  double *nodes;          ///< [element][2][node] of its geometry
  uint32_t *side;         ///< [element][facet]: facet << 1 | reversed
  int32_t (*ends)[2];     ///< [facet]: its vertices, the lower first
  int *n_sides;           ///< [facet]: elements that it has
  double *tables, *rule;  ///< host values behind host.tables and host_points
  kg_cells host, cells;   ///< in host memory (without arrays of elements), on the device
  kg_cell_points host_points, points;  ///< of the rule for loads and errors
} cell_case;

/// @param[in] rows   points a direction to assemble with; loads and errors have order + 6
/// @param[in] vertices, corners  copied
void cell_case_create(cell_case *c, kedge_context *ctx, const kg_cell *cell, int order, int rows,
                      int n_vertices, const double *vertices, int n_elements,
                      const int32_t *corners);

/// Where a vertex of a grid goes; (i, j) of n x n squares.
typedef void cell_place(int i, int j, int n, double at[2]);
/// The unit square, n x n squares, cut from lower left to upper right into triangles where the cell
/// is one.
void cell_case_grid(cell_case *c, kedge_context *ctx, const kg_cell *cell, int order, int rows,
                    int n, cell_place *place);
/// Give the elements, straight until now, a geometry of order `geometry`, before anything else.
/// @param[in] nodes  [element][2][node], copied; NULL: those of the straight elements
/// @param[in] map    where they go, (x, y) to (X, Y), or NULL
void cell_case_bend(cell_case *c, int geometry, const double *nodes, cell_function *map);
void cell_case_destroy(cell_case *c);

/// Values for all lanes from those of elements, on the device: [group][rows][lane].
double *cell_case_input(cell_case *c, int rows, const double *by_element);
double *cell_case_output(cell_case *c, int rows);
/// What it holds, [element][rows], to be freed.
double *cell_case_fetch(cell_case *c, int rows, const double *device);

/// The nodes of an element: x, and behind them y.
const double *cell_case_nodes(const cell_case *c, int e);
/// Values of a function at the points of the rule, [element][function][point], to be freed.
double *cell_case_sample(const cell_case *c, int functions, cell_function *f);
/// As values of a material on the device: f has xx, xy, yy and the reaction.
const double *cell_case_values(cell_case *c, const kg_cell_material *material, cell_function *f);
/// The point t in [-1, 1] of a facet, from its lower vertex to the higher, and the normal there,
/// outward of the first element that has it; its length is ds/dt.
void cell_case_facet_point(const cell_case *c, int facet, double t, double at[2], double normal[2]);
/// The projection of a function (the first of its values) onto the modes of facet `facet` in the
/// facet's parameter: [m].
void cell_case_project(const cell_case *c, int facet, cell_function *f, double *modes);

/// K^e, full, and F^e of all elements from loads [element][N], to be freed.
void cell_case_make(cell_case *c, const kg_cell_material *material, const double *load,
                    double **local, double **condensed);
