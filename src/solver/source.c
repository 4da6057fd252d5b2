#include "solver/source.h"

#include "ops/points.h"

void kg_source_open(kg_pipeline *p, kg_source *s)
{
  s->function = &p->resolved.source;
  s->name = p->resolved.owns_source ? "source, derived from u of [exact]," : "source";
  s->sampler =
      kg_sampler_of(p, "source", KG_SAMPLE_LOADS, (kg_sample_set){1, &s->function, &s->name});
}

void kg_source_close(kg_source *s)
{
  kg_sampler_close(&s->sampler);
}

kedge_status kg_source_loads(kg_source *s, int32_t first, int32_t count, kg_buffer values,
                             double *load)
{
  const kg_pipeline *p = s->sampler.pipeline;
  const kg_shape *shape = &p->shape;
  const size_t group = (size_t)shape->size.n_modes * KG_LANES;
  if (s->function->kind == KG_FUNCTION_NONE)
    return kg_zero(p->ctx, load, group * (size_t)count * sizeof *load);
  const size_t room = values.bytes / ((size_t)kg_rule_points(shape->size.order) * KG_LANES *
                                      sizeof(double));  // groups
  const int32_t chunk = room < (size_t)shape->chunk_groups ? (int32_t)room : shape->chunk_groups;
  for (int32_t done = 0; done < count; done += chunk) {
    const int32_t n = count - done < chunk ? count - done : chunk;
    KG_TRY(
        kg_sampler_loads(&s->sampler, first + done, n, values.data, load + group * (size_t)done));
  }
  return KEDGE_OK;
}
