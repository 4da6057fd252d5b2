// Norms of errors against those of an independent implementation, through the public API: elements
// of both shapes, straight and curved, all kinds of coefficients and boundary conditions.
#include <stdio.h>
#include <string.h>

#include "compare.h"
#include "context.h"
#include "mesh/mesh.h"
#include "moved.h"
#include "support.h"

enum { ORDERS = 4, SQUARES = 8 };

#define WAVES  "sin(2*pi*x)*sin(2*pi*y)"
#define SCALAR "1+sin(3*x+2*y)/2"
#define TENSOR "2+sin(3*x), 0.7*cos(x*y), 1.5+y^2"
#define TURNED "0.7525, 0.99*sqrt(3)/4, 0.2575"  // diag(1, 0.01) by 30 degrees
#define JUMPS  WAVES "/(region == 7 ? 1e6 : 1)"
/// 1e6 in two opposite fields of a chess board of four, else 1.
#define BY_REGION NULL

/// Norms of the errors of u, sigma = diffusion grad u, and u*, by order from 1 on. All integrals of
/// the other implementation have P + 6 points a direction, and L of its stabilization is 1.
typedef struct reference {
  const char *name;
  enum cut cut;
  int geometry;
  moving *to;
  const char *inverse, *diffusion, *reaction, *u;
  int most;  ///< iterations: of strong anisotropy many
  double norm[ORDERS][3];
} reference;

// clang-format off
static const reference references[] = {
    {"A const, tri", ALL, 1, stay, "adjusted", "1", "1", WAVES, 20,
     {{9.12495e-02, 1.95433e-01, 3.62262e-03},
     {9.38923e-03, 2.16298e-02, 3.13741e-04},
     {7.88857e-04, 1.87968e-03, 2.24607e-05},
     {5.54698e-05, 1.34381e-04, 1.40973e-06}}},
    {"A const, quad", WHOLE, 1, stay, "adjusted", "1", "1", WAVES, 20,
     {{1.61295e-02, 1.05881e-01, 2.28064e-03},
     {1.07144e-03, 6.94477e-03, 1.01137e-04},
     {5.30585e-05, 3.42081e-04, 3.64696e-06},
     {2.09574e-06, 1.34708e-05, 1.15271e-07}}},
    {"B scalar, tri", ALL, 1, stay, "adjusted", SCALAR, "1+x", WAVES "+x*y", 20,
     {{9.71300e-02, 2.47622e-01, 3.73100e-03},
     {1.04809e-02, 3.01966e-02, 3.18449e-04},
     {9.97364e-04, 2.96632e-03, 2.29006e-05},
     {8.46693e-05, 2.55343e-04, 1.45546e-06}}},
    {"B scalar, quad", WHOLE, 1, stay, "adjusted", SCALAR, "1+x", WAVES "+x*y", 20,
     {{1.61296e-02, 1.32947e-01, 2.27770e-03},
     {1.07148e-03, 9.87800e-03, 1.03433e-04},
     {5.30590e-05, 5.38604e-04, 3.72401e-06},
     {2.09577e-06, 2.69525e-05, 1.21140e-07}}},
    {"C tensor, tri", ALL, 1, stay, "adjusted", TENSOR, "1+x", WAVES "+x*y", 25,
     {{1.24994e-01, 5.47205e-01, 3.57555e-03},
     {1.38183e-02, 6.32138e-02, 3.06126e-04},
     {1.22340e-03, 5.70451e-03, 2.20251e-05},
     {8.98905e-05, 4.28024e-04, 1.37061e-06}}},
    {"C tensor, quad", WHOLE, 1, stay, "adjusted", TENSOR, "1+x", WAVES "+x*y", 25,
     {{1.61401e-02, 2.54526e-01, 2.34263e-03},
     {1.07175e-03, 1.67872e-02, 1.03662e-04},
     {5.30659e-05, 8.30017e-04, 3.69200e-06},
     {2.09594e-06, 3.29490e-05, 1.17526e-07}}},
    {"C tensor, mixed", CHECKERED, 1, stay, "adjusted", TENSOR, "1+x", WAVES "+x*y", 25,
     {{8.94173e-02, 4.25496e-01, 3.05170e-03},
     {9.81965e-03, 4.61237e-02, 2.33015e-04},
     {8.65701e-04, 4.06596e-03, 1.58955e-05},
     {6.36659e-05, 3.03571e-04, 9.76186e-07}}},
    {"D wave, tri", ALL, 2, wave, "adjusted", TENSOR, "1+x", WAVES "+x*y", 30,
     {{1.85241e-01, 9.91825e-01, 2.06251e-02},
     {3.21652e-02, 1.84689e-01, 1.54285e-03},
     {4.99406e-03, 2.94885e-02, 2.31727e-04},
     {6.29718e-04, 3.72212e-03, 2.14694e-05}}},
    {"D wave, tri exact", ALL, 2, wave, "exact", TENSOR, "1+x", WAVES "+x*y", 30,
     {{1.85471e-01, 9.92202e-01, 2.09679e-02},
     {3.21769e-02, 1.84730e-01, 1.54252e-03},
     {4.99527e-03, 2.94951e-02, 2.32055e-04},
     {6.29960e-04, 3.72090e-03, 2.15003e-05}}},
    {"D wave, quad", WHOLE, 2, wave, "adjusted", TENSOR, "1+x", WAVES "+x*y", 30,
     {{3.08340e-02, 4.64408e-01, 8.05329e-03},
     {3.43554e-03, 5.85570e-02, 8.06370e-04},
     {4.57727e-04, 5.74524e-03, 4.56294e-05},
     {2.42438e-05, 7.18227e-04, 6.35411e-06}}},
    {"D wave, quad exact", WHOLE, 2, wave, "auto", TENSOR, "1+x", WAVES "+x*y", 30,
     {{3.07915e-02, 4.60994e-01, 7.86827e-03},
     {3.43634e-03, 5.83663e-02, 8.05799e-04},
     {4.57399e-04, 5.71882e-03, 4.56738e-05},
     {2.42356e-05, 7.16549e-04, 6.35207e-06}}},
    {"D wave, mixed", CHECKERED, 2, wave, "adjusted", TENSOR, "1+x", WAVES "+x*y", 30,
     {{1.54897e-01, 8.84299e-01, 1.77183e-02},
     {1.61002e-02, 1.02220e-01, 1.01015e-03},
     {4.00987e-03, 2.33718e-02, 1.53375e-04},
     {4.21977e-04, 2.50589e-03, 1.67443e-05}}},
    {"E trapez, quad", WHOLE, 1, trapezoids, "adjusted", "1", "0", WAVES "+x*y", 20,
     {{1.87626e-02, 1.15634e-01, 3.40466e-03},
     {1.48962e-03, 8.76293e-03, 1.76562e-04},
     {9.22953e-05, 5.27863e-04, 8.34705e-06},
     {4.72272e-06, 2.67702e-05, 3.50411e-07}}},
    {"E trapez, quad exact", WHOLE, 1, trapezoids, "auto", "1", "0", WAVES "+x*y", 20,
     {{1.87427e-02, 1.14123e-01, 3.21086e-03},
     {1.49074e-03, 8.52981e-03, 1.75380e-04},
     {9.24257e-05, 4.96871e-04, 8.31336e-06},
     {4.73157e-06, 2.40501e-05, 3.48640e-07}}},
    {"F jump, tri", ALL, 1, stay, "adjusted", BY_REGION, "0", JUMPS, 40,
     {{6.51752e-02, 1.96031e-01, 2.42627e-03},
     {6.67997e-03, 2.16798e-02, 2.21556e-04},
     {5.60284e-04, 1.88234e-03, 1.58974e-05},
     {3.93617e-05, 1.34501e-04, 9.95841e-07}}},
    {"F jump, quad", WHOLE, 1, stay, "adjusted", BY_REGION, "0", JUMPS, 40,
     {{1.14056e-02, 1.05886e-01, 1.61636e-03},
     {7.57622e-04, 6.94487e-03, 7.15180e-05},
     {3.75181e-05, 3.42082e-04, 2.57885e-06},
     {1.48191e-06, 1.34709e-05, 8.15094e-08}}},
    {"G aniso, tri", ALL, 1, stay, "adjusted", TURNED, "0", WAVES "+x*y", 100,
     {{2.35436e-01, 1.65913e-01, 2.25521e-02},
     {2.58868e-02, 1.89465e-02, 8.92084e-04},
     {2.22803e-03, 1.66826e-03, 3.93430e-05},
     {1.57522e-04, 1.19860e-04, 1.88674e-06}}},
    {"G aniso, quad", WHOLE, 1, stay, "adjusted", TURNED, "0", WAVES "+x*y", 40,
     {{1.62946e-02, 7.54315e-02, 3.50248e-03},
     {1.07693e-03, 4.93758e-03, 2.47905e-04},
     {5.31839e-05, 2.42456e-04, 1.02542e-05},
     {2.09864e-06, 9.55025e-06, 3.14848e-07}}},
    {"H Robin, tri", ALL, 2, wave, "adjusted", TENSOR, "1+x", "sin(2*x+y)*exp(y)", 35,
     {{1.88475e-02, 1.49012e-01, 2.46508e-03},
     {1.73231e-03, 1.31860e-02, 1.02669e-04},
     {1.17712e-04, 1.07359e-03, 6.10612e-06},
     {8.84053e-06, 9.33056e-05, 3.32313e-07}}},
    {"H Robin, quad", WHOLE, 2, wave, "adjusted", TENSOR, "1+x", "sin(2*x+y)*exp(y)", 35,
     {{8.08116e-03, 7.23534e-02, 1.15629e-03},
     {5.23771e-04, 4.75311e-03, 4.56066e-05},
     {2.41960e-05, 3.34023e-04, 1.81404e-06},
     {1.03392e-06, 1.76165e-05, 7.21949e-08}}},
    {"H Robin, mixed", CHECKERED, 2, wave, "adjusted", TENSOR, "1+x", "sin(2*x+y)*exp(y)", 35,
     {{1.44987e-02, 1.07904e-01, 2.03188e-03},
     {1.28883e-03, 1.01164e-02, 7.76100e-05},
     {8.29012e-05, 7.75232e-04, 4.52337e-06},
     {6.26519e-06, 5.77956e-05, 2.16584e-07}}},
    {"J ring g=3, tri", ALL, 3, ring, "adjusted", TENSOR, "0", "sin(3*x+y)*cos(2*y)", 30,
     {{3.77726e-02, 2.28105e-01, 4.02262e-03},
     {3.23329e-03, 2.46326e-02, 2.85863e-04},
     {2.81017e-04, 2.48081e-03, 2.16689e-05},
     {2.10278e-05, 2.51209e-04, 1.80624e-06}}},
    {"J ring g=3, quad", WHOLE, 3, ring, "adjusted", TENSOR, "0", "sin(3*x+y)*cos(2*y)", 30,
     {{2.01371e-02, 1.70921e-01, 3.88039e-03},
     {1.73335e-03, 1.49454e-02, 2.32095e-04},
     {1.10576e-04, 1.36242e-03, 1.42204e-05},
     {6.86836e-06, 1.24241e-04, 8.10859e-07}}},
};
// clang-format on

static int32_t board(int n, int i, int j)
{
  return (i < n / 2) == (j < n / 2) ? 3 : 7;
}

/// Add the conditions, and the diffusion of regions.
static void add_conditions(const reference *ref, setting *to)
{
  static const setting dirichlet[] = {{"boundary default", "type", "dirichlet"}, {0}};
  static const setting robin[] = {{"boundary 1", "type", "dirichlet"},
                                  {"boundary 2", "type", "neumann"},
                                  {"boundary default", "type", "robin"},
                                  {"boundary default", "coefficient", "1+x^2"},
                                  {0}};
  static const setting jumps[] = {
      {"region 7", "diffusion", "1e6"}, {"region default", "diffusion", "1"}, {0}};
  for (const setting *s = ref->name[0] == 'H' ? robin : dirichlet; s->section; ++s) *to++ = *s;
  for (const setting *s = jumps; !ref->diffusion && s->section; ++s) *to++ = *s;
  if (ref->diffusion) *to = (setting){"equation", "diffusion", ref->diffusion};
}

static void check_norm(const reference *ref, int order, const char *what, double found, double norm)
{
  if (fabs(found / norm - 1.0) > 1e-5)
    fail_msg("%s, order %d, %s: %.6e is not %.5e", ref->name, order, what, found, norm);
}

static void check_reference(const reference *ref, int order)
{
  kedge_mesh *mesh = grid_of(ctx, SQUARES, ref->cut, ref->geometry, ref->to, board);
  char order_text[8], rows[8];
  snprintf(order_text, sizeof order_text, "%d", order);
  snprintf(rows, sizeof rows, "%d", order + 6);
  setting settings[16] = {{"space", "order", order_text},
                          {"space", "quadrature", rows},
                          {"space", "inverse", ref->inverse},
                          {"space", "length", "1"},
                          {"equation", "reaction", ref->reaction},
                          {"exact", "u", ref->u},
                          {"exact", "quadrature", rows},
                          {"solver", "tolerance", "1e-12"},
                          {"solver", "preconditioner", "multigrid"}};
  add_conditions(ref, settings + 9);
  const kedge_report r = report_of(ctx, mesh, settings);
  const double *const norm = ref->norm[order - 1];
  check_norm(ref, order, "u", r.u_l2, norm[0]);
  check_norm(ref, order, "sigma", r.sigma_l2, norm[1]);
  check_norm(ref, order, "u*", r.u_star_l2, norm[2]);
  assert_true(r.converged);
  assert_in_range(r.iterations, 1, ref->most);
  kedge_mesh_destroy(mesh);
}

static void errors_are_those_of_another_implementation(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof references / sizeof *references; ++k)
    for (int order = 1; order <= ORDERS; ++order) check_reference(&references[k], order);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_are_those_of_another_implementation),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_context, close_context);
}
