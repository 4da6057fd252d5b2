#include "basis/cell.h"

const kg_cell kg_triangle = {
    .name = "triangle",
    .dimension = 2,
    .n_vertices = 3,
    .n_facets = 3,
    .facet_corner = {{0, 1}, {1, 2}, {2, 0}},
    .corner = {{-1, -1}, {1, -1}, {-1, 1}},
};

const kg_cell kg_quadrilateral = {
    .name = "quadrilateral",
    .dimension = 2,
    .n_vertices = 4,
    .n_facets = 4,
    .facet_corner = {{0, 1}, {1, 2}, {2, 3}, {3, 0}},
    .corner = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
};
