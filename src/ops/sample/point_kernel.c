#include <stdlib.h>

#include "core/file.h"
#include "expression/expression_cuda.h"
#include "ops/sample/at_points.h"

// The text of source files, which CMakeLists.txt makes into strings.
extern const char kg_circle_text[], kg_point_output_text[], kg_point_kernel_text[];

kedge_status kg_point_kernel_source(kedge_context *ctx, int n_functions,
                                    const kg_function *const *functions, char **source)
{
  *source = NULL;
  char *evaluate;
  KG_TRY(kg_functions_emit(ctx, n_functions, functions, &evaluate));
  size_t size;
  FILE *out = open_memstream(source, &size);
  if (out)
    fprintf(out, "enum { FUNCTIONS = %d };\n\n%s\n%s\n%s\n%s", n_functions, kg_circle_text,
            evaluate, kg_point_output_text, kg_point_kernel_text);
  free(evaluate);
  return kg_text_end(ctx, out, "the source of a kernel", source);
}
