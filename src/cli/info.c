#include <string.h>

#include "cli/cli.h"
#include "io/json.h"
#include "core/number.h"

static void print_gpu(const kedge_gpu_info *gpu, int number)
{
  char total[16], available[16];
  printf("GPU %-8d %s, compute capability %d.%d, %d multiprocessors, %s free of %s\n", number,
         gpu->name, gpu->capability_major, gpu->capability_minor, gpu->multiprocessors,
         kg_bytes_text((double)gpu->free_bytes, available),
         kg_bytes_text((double)gpu->total_bytes, total));
  if (gpu->near_cores[0]) printf("             near logical CPUs %s", gpu->near_cores);
  if (gpu->near_cores[0] && gpu->numa_node >= 0) printf(" (NUMA node %d)", gpu->numa_node);
  if (gpu->near_cores[0]) putchar('\n');
}

static void print_text(const kedge_machine_info *m)
{
  char memory[16], available[16];
  printf("kedge %s, polynomial orders %d to %d\n", kedge_version(), KEDGE_ORDER_MIN,
         KEDGE_ORDER_MAX);
  printf("build        %s%s\n", m->built_with_cuda ? "with CUDA, for " : "without CUDA",
         m->cuda_architectures);
  printf("CPU          %s\n", m->cpu);
  printf("             packages %d, NUMA nodes %d, cores %d, logical CPUs %d\n", m->packages,
         m->numa_nodes, m->cores, m->logical_cpus);
  printf("allowed      %d of %d cores, logical CPUs %s\n", m->allowed_cores, m->cores,
         m->allowed_list);
  printf("memory       %s, %s can still be allocated\n",
         kg_bytes_text((double)m->memory_bytes, memory),
         kg_bytes_text((double)m->memory_free_bytes, available));
  if (m->cuda_runtime > 0 || m->cuda_driver > 0)
    printf("CUDA         runtime %d.%d, driver %d.%d\n", m->cuda_runtime / 1000,
           m->cuda_runtime % 1000 / 10, m->cuda_driver / 1000, m->cuda_driver % 1000 / 10);
  if (m->cuda_problem[0]) printf("GPU          none usable: %s\n", m->cuda_problem);
  for (int g = 0; g < m->n_gpus; ++g) print_gpu(&m->gpus[g], g);
}

static void write_build(kg_json *json, const kedge_machine_info *m)
{
  kg_json_string(json, "version", kedge_version());
  kg_json_object(json, "build");
  kg_json_bool(json, "cuda", m->built_with_cuda);
  kg_json_string(json, "cuda_architectures", m->cuda_architectures);
  kg_json_integer(json, "order_min", KEDGE_ORDER_MIN);
  kg_json_integer(json, "order_max", KEDGE_ORDER_MAX);
  kg_json_close(json);
}

static void write_cpu(kg_json *json, const kedge_machine_info *m)
{
  kg_json_object(json, "cpu");
  kg_json_string(json, "name", m->cpu);
  kg_json_integer(json, "packages", m->packages);
  kg_json_integer(json, "numa_nodes", m->numa_nodes);
  kg_json_integer(json, "cores", m->cores);
  kg_json_integer(json, "logical_cpus", m->logical_cpus);
  kg_json_integer(json, "allowed_cores", m->allowed_cores);
  kg_json_integer(json, "allowed_cpus", m->allowed_cpus);
  kg_json_string(json, "allowed_list", m->allowed_list);
  kg_json_integer(json, "memory_bytes", m->memory_bytes);
  kg_json_integer(json, "memory_free_bytes", m->memory_free_bytes);
  kg_json_close(json);
}

static void write_cuda(kg_json *json, const kedge_machine_info *m)
{
  kg_json_object(json, "cuda");
  kg_json_integer(json, "runtime", m->cuda_runtime);
  kg_json_integer(json, "driver", m->cuda_driver);
  kg_json_string(json, "problem", m->cuda_problem[0] ? m->cuda_problem : NULL);
  kg_json_array(json, "gpus");
  for (int g = 0; g < m->n_gpus; ++g) {
    const kedge_gpu_info *gpu = &m->gpus[g];
    char capability[32];
    snprintf(capability, sizeof capability, "%d.%d", gpu->capability_major, gpu->capability_minor);
    kg_json_object(json, NULL);
    kg_json_string(json, "name", gpu->name);
    kg_json_string(json, "capability", capability);
    kg_json_integer(json, "multiprocessors", gpu->multiprocessors);
    kg_json_integer(json, "total_bytes", gpu->total_bytes);
    kg_json_integer(json, "free_bytes", gpu->free_bytes);
    kg_json_string(json, "near_cpus", gpu->near_cores);
    kg_json_integer(json, "numa_node", gpu->numa_node);
    kg_json_close(json);
  }
  kg_json_close(json);
  kg_json_close(json);
}

static void print_json(const kedge_machine_info *m)
{
  kg_json json = {.stream = stdout};
  kg_json_object(&json, NULL);
  write_build(&json, m);
  write_cpu(&json, m);
  write_cuda(&json, m);
  kg_json_close(&json);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
  bool *as_json = state->input;
  if (key == ARGP_KEY_ARG) argp_error(state, "'%s' is not expected", kg_cli_shown(text));
  if (key != 'j') return ARGP_ERR_UNKNOWN;
  *as_json = true;
  return 0;
}

int kg_cli_info(int argc, char **argv)
{
  static const struct argp_option list[] = {{"json", 'j', NULL, 0, "Print JSON", 0}, {0}};
  static const struct argp argp = {
      .options = list,
      .parser = parse,
      .doc = "Show version, build options, CPU topology and GPUs, as kedge sees them from here.",
      .children = kg_cli_help_children};
  bool as_json = false;
  argp_parse(&argp, argc, argv, 0, NULL, &as_json);
  kedge_machine_info machine;
  const kedge_status status = kedge_machine_get_info(&machine);
  if (status != KEDGE_OK) return kg_cli_fail(NULL, status, false);
  if (as_json)
    print_json(&machine);
  else
    print_text(&machine);
  return KG_EXIT_SOLVED;
}
