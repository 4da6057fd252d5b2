/// @file
/// Places where findings look at functions of a problem: a few hundred points tell.
#pragma once
#include "diagnose/diagnose.h"
#include "problem/located.h"

enum { KG_LOOKS = 128 };  ///< points at once

/// Points in elements, or on sides of them.
typedef struct kg_looks {
  int n;
  bool near;      ///< come a hundred times nearer to sides (kg_look_from_inside())
  bool on_sides;  ///< else without what follows
  kg_side side[KG_LOOKS];
  double normal[3][KG_LOOKS], x[3][KG_LOOKS];
  double region[KG_LOOKS], in[3][KG_LOOKS];  ///< `in`: the reference shape
  int32_t element[KG_LOOKS], place[KG_LOOKS];
} kg_looks;

/// Add a point of a side, with the normal out of its element. It avoids vertices and midpoints,
/// where values often vanish. @param[in] opposite  the same point, as the other element sees it
void kg_look_at_side(const kedge_mesh *mesh, kg_side side, bool opposite, kg_looks *to);
/// Points inside of elements, where little vanishes.
void kg_look_inside(const kedge_mesh *mesh, kg_looks *to);

/// A place of one of them.
void kg_look_place(const kg_looks *at, int i, double x[3]);
/// The normal of one of them.
void kg_look_normal(const kg_looks *at, int i, double normal[3]);
/// Where arrays of places are.
kg_located kg_looks_located(kg_looks *at);

/// A function at the points; NULL: diffusion and reaction, [kg_coefficients_numbers()][at->n].
void kg_look(const kg_diagnosis *d, const kg_function *f, const kg_looks *at, double *value);
/// What a function has on sides when it is come to from inside the element, by two points a little
/// inside: a function of two branches has one of them there. Elsewhere as kg_look().
void kg_look_from_inside(const kg_diagnosis *d, const kg_function *f, const kg_looks *at,
                         double *value);
/// What is left on sides of a difference that has been seen from inside, and again from nearer: 0
/// where it shrinks on the way, as those of roots do, which no straight line leads out of.
double kg_settled(double far, double near);
/// What the normal flux differs by between both sides. @param[in] flux  of each side, its parts
void kg_look_flux_jump(const kg_looks *at, double (*flux)[3][KG_LOOKS], double *by);
/// The parts of diffusion grad u of the exact solution, from inside.
void kg_look_at_flux(const kg_diagnosis *d, const kg_looks *at, double flux[3][KG_LOOKS]);
