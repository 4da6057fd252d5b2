#include "solver/source.h"

void kg_source_open(kg_pipeline *p, kg_source *s)
{
  s->function = &p->resolved.source;
  const bool derived = p->resolved.owns_source;
  s->name = derived ? "source, derived from u of [exact]," : "source";
  kedge_problem_place(p->problem, derived ? "exact" : "equation", derived ? "u" : "source",
                      s->place, sizeof s->place);
  s->sampler =
      kg_sampler_of(p, KG_SAMPLE_LOADS, (kg_sample_set){1, &s->function, &s->name, s->place});
}

void kg_source_close(kg_source *s)
{
  kg_sampler_close(&s->sampler);
}

kedge_status kg_source_loads(kg_source *s, int32_t first, int32_t count, kg_buffer values,
                             double *load)
{
  const kg_pipeline *p = s->sampler.pipeline;
  const size_t group = (size_t)p->shape.size.n_modes * KG_LANES;
  return s->function->kind == KG_FUNCTION_NONE
             ? kg_zero(p->ctx, load, group * (size_t)count * sizeof *load)
             : kg_sampler_loads(&s->sampler, first, count, values, load);
}
