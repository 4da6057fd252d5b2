// What is read of a march of waves: its fields, energies, errors and files.
#include <math.h>

#include "core/clock.h"
#include "device/context.h"
#include "kedge/waves.h"
#include "march/march.h"
#include "march/waves.h"
#include "waves/waves.h"

static kedge_status field_of(const kg_waves *waves, const char *call, const char *name, int *field)
{
  *field = kg_waves_field(waves, name);
  KG_REQUIRE(waves->ctx, *field >= 0, KEDGE_ERR_ARG, "%s: system = %s has no field '%s'", call,
             waves->law->name, name);
  return KEDGE_OK;
}

static kedge_status check_order(const kg_waves *waves, const char *call, int order)
{
  KG_REQUIRE(waves->ctx, order >= 1 && order <= KEDGE_ORDER_MAX + 1, KEDGE_ERR_ARG,
             "%s: order of nodes is %d, and must be 1 to %d", call, order, KEDGE_ORDER_MAX + 1);
  return KEDGE_OK;
}

/// Add what a call took, whose status is handed on.
static kedge_status add_time(double *seconds, double begun, kedge_status status)
{
  *seconds += kg_seconds() - begun;
  return status;
}

double kedge_march_longest(const kedge_march *m)
{
  const kg_waves *const w = kg_waves_in(m);
  return w ? w->longest : 0.0;
}

int kedge_march_order(const kedge_march *m)
{
  const kg_waves *const w = kg_waves_in(m);
  return w ? w->nodal.order : 0;
}

const char *kedge_march_kernel(const kedge_march *m)
{
  const kg_waves *const w = kg_waves_in(m);
  return w ? w->kernel : NULL;
}

const char *kedge_march_note(const kedge_march *m)
{
  const kg_waves *const w = kg_waves_in(m);
  return w ? w->note : NULL;
}

const char *kedge_march_field(const kedge_march *m, int index)
{
  const kg_waves *const w = kg_waves_in(m);
  return w && index >= 0 && index < w->law->n_fields ? w->law->fields[index] : NULL;
}

kedge_status kedge_march_values(const kedge_march *m, const char *field, int order, double *values)
{
  kg_waves *waves;
  int number;
  KG_TRY(kg_waves_of(m, __func__, field ? values : NULL, &waves));
  KG_TRY(field_of(waves, __func__, field, &number));
  KG_TRY(check_order(waves, __func__, order));
  return kg_waves_values(waves, number, order, values);
}

kedge_status kedge_march_values_device(const kedge_march *m, const char *field, int order,
                                       double *values)
{
  kg_waves *waves;
  int number;
  KG_TRY(kg_waves_of(m, __func__, field ? values : NULL, &waves));
  KG_TRY(field_of(waves, __func__, field, &number));
  KG_TRY(check_order(waves, __func__, order));
  KG_TRY(kg_enter(m->ctx));
  KG_TRY(kg_join(m->ctx, values));
  KG_TRY(kg_waves_values_there(waves, number, order, values));
  return kg_sync(m->ctx);
}

kedge_status kedge_march_nodes(const kedge_march *m, int order, double *at)
{
  kg_waves *waves;
  KG_TRY(kg_waves_of(m, __func__, at, &waves));
  KG_TRY(check_order(waves, __func__, order));
  return kg_waves_nodes(waves, order, at);
}

kedge_status kedge_march_probe_values(const kedge_march *m, const kedge_probe *probe,
                                      const char *field, double *values)
{
  kg_waves *waves;
  int number;
  KG_TRY(kg_waves_of(m, __func__, probe && field ? values : NULL, &waves));
  KG_TRY(field_of(waves, __func__, field, &number));
  KG_REQUIRE(m->ctx, probe->mesh == waves->mesh, KEDGE_ERR_ARG,
             "%s: probe and march are of two mesh objects", __func__);
  const double begun = kg_seconds();
  return add_time(&waves->account.probe_seconds, begun,
                  kg_waves_probe(waves, probe, number, values));
}

kedge_status kedge_march_energy(const kedge_march *m, double *energy)
{
  kg_waves *waves;
  KG_TRY(kg_waves_of(m, __func__, energy, &waves));
  const double begun = kg_seconds();
  KG_TRY(add_time(&waves->account.output_seconds, begun, kg_waves_energy(waves, -1, energy)));
  return kg_waves_watch(m, *energy);
}

kedge_status kedge_march_energy_of(const kedge_march *m, const char *region, double *energy)
{
  kg_waves *waves;
  kg_integral_place at;
  KG_TRY(kg_waves_of(m, __func__, energy, &waves));
  const kg_wanted_integral on = {.on = (char *)region, .who = __func__};
  KG_TRY(kg_integral_find(m->ctx, NULL, &on, waves->mesh, &at));
  KG_REQUIRE(m->ctx, at.group < 0 || !kg_is_edge_group(waves->mesh, &waves->mesh->groups[at.group]),
             KEDGE_ERR_INPUT, "%s: '%s' is no region of the mesh", __func__, region);
  return kg_waves_energy(waves, at.group, energy);
}

kedge_status kedge_march_write(const kedge_march *m, const char *path)
{
  kg_waves *waves;
  KG_TRY(kg_waves_of(m, __func__, path, &waves));
  const double begun = kg_seconds();
  return add_time(&waves->account.output_seconds, begun, kg_waves_write(waves, m->plan.t, path));
}

kedge_status kedge_march_error(const kedge_march *m, const char *field, double *error)
{
  kg_waves *waves;
  double errors[KG_WAVE_FIELDS_MAX];
  int number = -1;
  KG_TRY(kg_waves_of(m, __func__, error, &waves));
  if (field) KG_TRY(field_of(waves, __func__, field, &number));
  KG_REQUIRE(m->ctx, kg_waves_has_exact(waves, number), KEDGE_ERR_ARG,
             "kedge_march_error: [exact] has no %s", field ? field : "field");
  KG_TRY(kg_waves_errors(waves, m->plan.t, errors));
  double sum = 0.0;
  for (int f = 0; f < waves->law->n_fields; ++f)
    if (number < 0 || f == number) sum += errors[f] * errors[f];
  *error = sqrt(sum);
  return KEDGE_OK;
}
