#include "solver/pipeline.h"

/// The number of residuals in double precision that most solves with precision = compact make.
enum { RESIDUALS = 3 };

static void open_source(kg_pipeline *p)
{
  kg_source *s = &p->source;
  s->function = &p->resolved.equation.source;
  const bool derived = p->resolved.derives_source;
  s->name = derived ? "source, derived from u of [exact]," : "source";
  kedge_problem_place(p->problem, derived ? "exact" : "equation", derived ? "u" : "source",
                      s->place, sizeof s->place);
  s->sampler =
      kg_sampler_of(p, KG_SAMPLE_LOADS, (kg_sample_set){1, &s->function, &s->name, s->place});
  const int residuals = p->shape.choice.residual == KG_REMADE_WITH_LOADS ? RESIDUALS : 1;
  s->sampler.evaluations = residuals + (p->shape.choice.loads_stay ? 0 : 1);
}

kedge_status kg_source_loads(kg_pipeline *p, int batch, int32_t first, int32_t count,
                             kg_buffer values, double *load)
{
  kg_source *s = &p->source;
  const size_t group = (size_t)p->shape.batch[batch].size.n_modes * KG_LANES;
  if (!s->function) open_source(p);
  return s->function->kind == KG_FUNCTION_NONE
             ? kg_zero(p->ctx, load, group * (size_t)count * sizeof *load)
             : kg_sampler_loads(&s->sampler, batch, first, count, values, load);
}

void kg_source_rest(kg_source *s)
{
  kg_sampler_rest(&s->sampler);
}

void kg_source_close(kg_source *s)
{
  kg_sampler_close(&s->sampler);
  *s = (kg_source){0};
}
