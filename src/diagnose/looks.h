/// @file
/// Places where findings look at functions of a problem: a few hundred points tell.
#pragma once
#include "diagnose/diagnose.h"

enum { KG_LOOKS = 128 };  ///< points at once

/// Points in elements, or on sides of them.
typedef struct kg_looks {
  int n;
  bool near;      ///< come a hundred times nearer to sides (kg_look_from_inside())
  bool on_sides;  ///< else without what follows
  kg_side side[KG_LOOKS];
  double t[KG_LOOKS];  ///< as for kg_side_point()
  double normal_x[KG_LOOKS], normal_y[KG_LOOKS];
  double x[KG_LOOKS], y[KG_LOOKS], region[KG_LOOKS], r[KG_LOOKS], s[KG_LOOKS];
  int32_t element[KG_LOOKS], place[KG_LOOKS];
} kg_looks;

/// Add a point of a side, with the normal out of its element. It avoids vertices and midpoints,
/// where values often vanish. @param[in] opposite  the same point, as the other element sees it
void kg_look_at_side(const kedge_mesh *mesh, kg_side side, bool opposite, kg_looks *to);
/// Points inside of elements, where little vanishes.
void kg_look_inside(const kedge_mesh *mesh, kg_looks *to);

/// A function at the points; NULL: diffusion xx, xy, yy and reaction, [4][at->n].
void kg_look(const kg_diagnosis *d, const kg_function *f, const kg_looks *at, double *value);
/// What a function has on sides when it is come to from inside the element, by two points a little
/// inside: a function of two branches has one of them there. Elsewhere as kg_look().
void kg_look_from_inside(const kg_diagnosis *d, const kg_function *f, const kg_looks *at,
                         double *value);
/// What is left on sides of a difference that has been seen from inside, and again from nearer: 0
/// where it shrinks on the way, as those of roots do, which no straight line leads out of.
double kg_settled(double far, double near);
/// The parts of diffusion grad u of the exact solution, from inside.
void kg_look_at_flux(const kg_diagnosis *d, const kg_looks *at, double flux[2][KG_LOOKS]);
