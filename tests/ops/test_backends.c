// Every operator on this backend against the host with one thread, from the same inputs. On the
// host itself and in shadow memory this is the same code with three threads: there the bits agree.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "compare.h"
#include "dense.h"
#include "operations.h"

static kedge_context *host, *device;
static double condition_of[KEDGE_ORDER_MAX + 1];  ///< of a typical element's local problem

static const kg_material material = {1.7, 0.6, 1.3, KEDGE_SCALING_H};

static int open_contexts(void **state)
{
  (void)state;
  host = open_backend(KEDGE_BACKEND_HOST, 1);
  device = open_backend(test_backend(), 3);
  const double corner[3][2] = {{0.1, -0.1}, {1.2, 0.15}, {-0.2, 0.8}};
  const bool reversed[3] = {false, true, false};
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    dense_element element;
    dense_create(&element, order, corner, material, reversed);
    condition_of[order] = element.condition;
    dense_free(&element);
  }
  return 0;
}

static int close_contexts(void **state)
{
  (void)state;
  kedge_context_destroy(device);
  kedge_context_destroy(host);
  return 0;
}

/// Sums of products differ by their rounding; solutions of local problems by that times the
/// condition number.
static double tolerance_of(const op_case *c, op_array array)
{
  switch (array) {
    case OP_LOCAL:
    case OP_CONDENSED:
    case OP_U:
    case OP_Q:
    case OP_U_STAR:
    case OP_INDICATOR:
      return rounding(3 * c->size.n_modes) * condition_of[c->size.order];
    case OP_PRODUCT_STATE:
    case OP_START_STATE:
    case OP_UPDATE_STATE:
    case OP_OPEN_STATE:
    case OP_DIRECTION_STATE:
    case OP_P_NEXT:
      return rounding((double)op_count(c, OP_TRACE));
    default:
      return rounding(c->sampling.n + c->size.n_trace);
  }
}

/// What empty lanes hold is nobody's business: let them agree.
static void copy_empty_lanes(const op_case *c, op_array array, const double *from, double *to)
{
  const int rows = op_lane_rows(c, array);
  const int32_t last = c->layout.count.n_groups - 1, n = c->layout.count.n_elements;
  for (int row = 0; row < rows; ++row)
    for (int32_t lane = n - last * KG_LANES; lane < KG_LANES; ++lane) {
      const size_t at = ((size_t)last * (size_t)rows + (size_t)row) * KG_LANES + (size_t)lane;
      to[at] = from[at];
    }
}

static void compare(const op_case *c, op_array array, const char *name, const double *actual,
                    const double *expected)
{
  const size_t n = op_count(c, array);
  const double d = distance(n, actual, expected), bound = tolerance_of(c, array);
  if (!(d <= bound))
    fail_msg("%s, output %d: order %d, %d elements: %.3e is not within %.3e of the host", name,
             (int)array, c->size.order, c->layout.count.n_elements, d, bound);
  const bool same_code = device->backend != KEDGE_BACKEND_CUDA;
  if (same_code && memcmp(actual, expected, n * sizeof *actual) != 0)
    fail_msg("%s, output %d: order %d, %d elements: the bits depend on the number of threads", name,
             (int)array, c->size.order, c->layout.count.n_elements);
}

/// Run an operator twice on the device, from what the host has computed so far.
static void check_operation(op_case *c, const op_operation *operation, const op_data *expected)
{
  op_data first = {0}, second = {0};
  operation->run(c, expected, &first);
  case_release(c);
  operation->run(c, expected, &second);
  case_release(c);
  for (int k = 0; k < operation->n_outputs; ++k) {
    const op_array array = operation->outputs[k];
    const size_t n = op_count(c, array);
    copy_empty_lanes(c, array, expected->array[array], first.array[array]);
    copy_empty_lanes(c, array, expected->array[array], second.array[array]);
    if (memcmp(first.array[array], second.array[array], n * sizeof(double)) != 0)
      fail_msg("%s, output %d: two calls give different bits", operation->name, (int)array);
    compare(c, array, operation->name, first.array[array], expected->array[array]);
  }
  op_free(&first);
  op_free(&second);
}

static void check_operations(int count, int n_elements, int order, enum case_boundary boundary)
{
  op_case on_host, on_device;
  op_data expected;
  case_create(&on_host, host, n_elements, order, boundary, material);
  case_create(&on_device, device, n_elements, order, boundary, material);
  on_device.in_chunks = true;
  op_run_first(&on_host, count, &expected);
  for (int i = 0; i < count; ++i) check_operation(&on_device, &op_operations[i], &expected);
  op_free(&expected);
  case_destroy(&on_device);
  case_destroy(&on_host);
}

static void check_all_operations(int n_elements, int order, enum case_boundary boundary)
{
  check_operations(OPERATIONS, n_elements, order, boundary);
}

static void all_orders_agree_with_the_host_repeatably_and_within_their_memory(void **state)
{
  (void)state;
  for (int order = KEDGE_ORDER_MIN; order <= KEDGE_ORDER_MAX; ++order) {
    check_all_operations(33, order, CASE_MIXED);
    if (test_is_quick()) continue;
    check_all_operations(test_has_few_blocks() ? 1003
                         : order <= 3          ? 300
                                               : 150,
                         order, (enum case_boundary)(order % CASE_BOUNDARIES));
  }
}

static void all_sizes_about_groups_and_patches_agree_with_the_host(void **state)
{
  (void)state;
  const int sizes[] = {1, 257, 2, 31, 32, 33, 127, 128, 129, 255, 256, 1000};
  const size_t n = test_is_quick() ? 2 : sizeof sizes / sizeof *sizes;
  for (size_t i = 0; i < n; ++i)
    for (int boundary = 0; boundary < CASE_BOUNDARIES; ++boundary) {
      check_all_operations(sizes[i], 2, (enum case_boundary)boundary);
      if (sizes[i] < 300) check_all_operations(sizes[i], 4, (enum case_boundary)boundary);
    }
}

/// Kernels that stay on their multiprocessor take one group after the other only where there are
/// many.
static void local_matrices_of_more_elements_than_a_gpu_takes_at_once_agree_with_the_host(
    void **state)
{
  (void)state;
  const bool many =
      test_backend() == KEDGE_BACKEND_CUDA && !test_is_quick() && !test_has_few_blocks();
  for (int order = 3; order <= 7; ++order)
    check_operations(2, !many ? 1003 : order <= 5 ? 102003 : 40003, order, CASE_MIXED);
}

/// GPUs of compute capability 8.0 and later have 99 KiB of shared memory for a block, or more.
static void local_matrices_by_a_gpu_with_99_KiB_of_shared_memory_agree_with_the_host(void **state)
{
  (void)state;
  if (test_backend() != KEDGE_BACKEND_CUDA) skip();
  const int had = case_limit_shared(device, 99 << 10);
  for (int order = 3; order <= KEDGE_ORDER_MAX; ++order) check_operations(2, 70, order, CASE_MIXED);
  case_limit_shared(device, had);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_orders_agree_with_the_host_repeatably_and_within_their_memory),
      cmocka_unit_test(all_sizes_about_groups_and_patches_agree_with_the_host),
      cmocka_unit_test(
          local_matrices_of_more_elements_than_a_gpu_takes_at_once_agree_with_the_host),
      cmocka_unit_test(local_matrices_by_a_gpu_with_99_KiB_of_shared_memory_agree_with_the_host),
  };
  test_skip_without_backend();
  return cmocka_run_group_tests(tests, open_contexts, close_contexts);
}
