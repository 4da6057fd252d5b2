// build_order_cuda.cu: elements along the Hilbert curve, vertices by first appearance.
//
// Elements: a key each (hilbert.h), radix-sorted with their numbers; the sort is stable. Vertices:
// the first place 3 e + k of each by an atomic minimum of integers; the places that are first,
// counted up to each, number the vertices. Kernels have one thread an element, a side or a vertex.
#include "mesh/build_cuda.cuh"

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "mesh/hilbert.h"

using namespace kg_build;

namespace
{
/// The host checks triangles flatter than this: rounding may differ in the last digit.
constexpr double DOUBTFUL = 1.01 * KG_FLATNESS;
constexpr int KEY_BITS = 2 * KG_HILBERT_LEVELS;

__global__ void __launch_bounds__(BLOCK) check_vertices_kernel(const Work w)
{
  const int64_t i = kg_thread_number();
  if (i < 2 * w.n_raw_vertices && !kg_is_coordinate(w.raw_vertices[i])) w.findings->faults = 1;
}

__global__ void __launch_bounds__(BLOCK) check_elements_kernel(const Work w)
{
  const int64_t e = kg_thread_number();
  bool clockwise = false;
  if (e < w.n_elements &&
      kg_examine_triangle(w.raw_vertices, w.n_raw_vertices, w.raw_triangles + 3 * e, DOUBTFUL,
                          &clockwise) != KG_SOUND)
    w.findings->faults = 1;
  const unsigned turned = __popc(__ballot_sync(0xffffffffu, clockwise));
  if (threadIdx.x % 32 == 0 && turned) atomicAdd(&w.findings->turned, turned);
}

/// The range of the elements' corner sums.
struct Range {
  double xmin, ymin, xmax, ymax;
};

struct RangeOf {
  const double *vertices;
  const int32_t *triangles;
  __device__ Range operator()(int32_t e) const
  {
    const int32_t *v = triangles + 3 * (int64_t)e;
    const double x = kg_corner_sum(vertices, v, 3, 0), y = kg_corner_sum(vertices, v, 3, 1);
    return {x, y, x, y};
  }
};

struct Union {
  __host__ __device__ Range operator()(const Range &a, const Range &b) const
  {
    return {fmin(a.xmin, b.xmin), fmin(a.ymin, b.ymin), fmax(a.xmax, b.xmax), fmax(a.ymax, b.ymax)};
  }
};

/// Finds the range of the elements; without scratch, says how many bytes that takes: `from` may
/// then hold no pointers.
cudaError_t reduce(void *scratch, size_t *bytes, const Work &w, Range *out, cudaStream_t stream)
{
  const Range nothing = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  const auto ranges = thrust::make_transform_iterator(thrust::counting_iterator<int32_t>(0),
                                                      RangeOf{w.raw_vertices, w.raw_triangles});
  return cub::DeviceReduce::Reduce(scratch, *bytes, ranges, out, w.n_elements, Union(), nothing,
                                   stream);
}

__global__ void __launch_bounds__(BLOCK) place_kernel(const Work w, kg_hilbert_box box)
{
  const int64_t e = kg_thread_number();
  if (e >= w.n_elements) return;
  w.key[0][e] = kg_hilbert_key(kg_hilbert_cell(box, w.raw_vertices, w.raw_triangles + 3 * e, 3));
  w.value[0][e] = (int32_t)e;
}

/// Element e at its place, counterclockwise; vertices still have the caller's numbers.
__global__ void __launch_bounds__(BLOCK) gather_kernel(const Work w, const int32_t *sorted)
{
  const int64_t e = kg_thread_number();
  if (e >= w.n_elements) return;
  const int32_t origin = sorted[e];
  const int32_t *from = w.raw_triangles + 3 * (int64_t)origin;
  bool clockwise;
  kg_examine_triangle(w.raw_vertices, w.n_raw_vertices, from, DOUBTFUL, &clockwise);
  const int32_t v[3] = {from[0], from[1 + clockwise], from[2 - clockwise]};
  w.element_origin[e] = origin;
  for (int k = 0; k < 3; ++k) {
    w.element_vertices[3 * e + k] = v[k];
    atomicMin(w.vertex_first + v[k], (uint32_t)(3 * e + k));
  }
}

struct IsFirst {
  const int32_t *element_vertices;
  const uint32_t *vertex_first;
  __device__ int32_t operator()(int32_t i) const
  {
    return vertex_first[element_vertices[i]] == (uint32_t)i;
  }
};

/// rank[i]: vertices that appear up to place i.
cudaError_t count_first(void *scratch, size_t *bytes, const Work &w, cudaStream_t stream)
{
  const auto first = thrust::make_transform_iterator(thrust::counting_iterator<int32_t>(0),
                                                     IsFirst{w.element_vertices, w.vertex_first});
  return cub::DeviceScan::InclusiveSum(scratch, *bytes, first, w.rank, w.n_sides, stream);
}

__global__ void __launch_bounds__(BLOCK) number_vertices_kernel(const Work w)
{
  const int64_t v = kg_thread_number();
  if (v >= w.n_raw_vertices) return;
  const uint32_t first = w.vertex_first[v];
  const int32_t number = first == UINT32_MAX ? -1 : w.rank[first] - 1;
  w.vertex_number[v] = number;
  if (number < 0) return;
  w.vertex_origin[number] = (int32_t)v;
  ((double2 *)w.vertices)[number] = ((const double2 *)w.raw_vertices)[v];
}

__global__ void __launch_bounds__(BLOCK) renumber_kernel(const Work w)
{
  const int64_t i = kg_thread_number();
  if (i < w.n_sides) w.element_vertices[i] = w.vertex_number[w.element_vertices[i]];
}

/// The box of the Hilbert curve over all elements; key[1] holds the result on the device.
kedge_status find_box(kedge_context *ctx, const Work &w, kg_hilbert_box *box)
{
  Range *const out = (Range *)w.key[1], range = {};
  size_t bytes = w.scratch_bytes;
  KG_TRY(kg_cuda_check(ctx, reduce(w.scratch, &bytes, w, out, kg_cuda_stream(ctx)),
                       "finding the range of the elements"));
  KG_TRY(kg_copy_out(ctx, (void *)&range, out, sizeof range));
  *box = kg_hilbert_box_of(range.xmin, range.ymin, range.xmax, range.ymax);
  return KEDGE_OK;
}

kedge_status order_elements(kedge_context *ctx, const Work &w)
{
  const cudaStream_t stream = kg_cuda_stream(ctx);
  kg_hilbert_box box;
  KG_TRY(find_box(ctx, w, &box));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "placing elements on the curve", w.n_elements, place_kernel, w,
                               box));
  cub::DoubleBuffer<uint64_t> key(w.key[0], w.key[1]);
  cub::DoubleBuffer<int32_t> value(w.value[0], w.value[1]);
  size_t bytes = w.scratch_bytes;
  KG_TRY(kg_cuda_check(ctx, sort(w.scratch, &bytes, w.n_elements, KEY_BITS, &key, &value, stream),
                       "sorting elements along the curve"));
  KG_TRY(kg_cuda_check(ctx,
                       cudaMemsetAsync(w.vertex_first, 0xff,
                                       (size_t)w.n_raw_vertices * sizeof *w.vertex_first, stream),
                       "clearing the vertices"));
  return kg_launch_each<BLOCK>(ctx, "gathering the elements", w.n_elements, gather_kernel, w,
                               value.Current());
}
}  // namespace

kedge_status kg_build::order_scratch(kedge_context *ctx, int32_t n_elements, size_t *bytes)
{
  Work none = {};
  none.n_elements = n_elements;
  none.n_sides = 3 * n_elements;
  cub::DoubleBuffer<uint64_t> key(nullptr, nullptr);
  cub::DoubleBuffer<int32_t> value(nullptr, nullptr);
  size_t need[3] = {};
  KG_TRY(kg_cuda_check(ctx, reduce(nullptr, &need[0], none, nullptr, nullptr),
                       "sizing the range of the elements"));
  KG_TRY(kg_cuda_check(ctx, sort(nullptr, &need[1], n_elements, KEY_BITS, &key, &value, nullptr),
                       "sizing the sort of the elements"));
  KG_TRY(kg_cuda_check(ctx, count_first(nullptr, &need[2], none, nullptr),
                       "sizing the scan of the vertices"));
  *bytes = 0;
  for (size_t n : need) *bytes = n > *bytes ? n : *bytes;
  return KEDGE_OK;
}

kedge_status kg_build::check(kedge_context *ctx, const Work &w)
{
  KG_TRY(kg_launch_each<BLOCK>(ctx, "checking the vertices", 2 * w.n_raw_vertices,
                               check_vertices_kernel, w));
  return kg_launch_each<BLOCK>(ctx, "checking the elements", w.n_elements, check_elements_kernel,
                               w);
}

kedge_status kg_build::order(kedge_context *ctx, Work *w)
{
  KG_TRY(order_elements(ctx, *w));
  size_t bytes = w->scratch_bytes;
  KG_TRY(kg_cuda_check(ctx, count_first(w->scratch, &bytes, *w, kg_cuda_stream(ctx)),
                       "counting the vertices"));
  KG_TRY(kg_copy_out(ctx, &w->n_vertices, w->rank + w->n_sides - 1, sizeof w->n_vertices));
  KG_TRY(kg_launch_each<BLOCK>(ctx, "numbering the vertices", w->n_raw_vertices,
                               number_vertices_kernel, *w));
  return kg_launch_each<BLOCK>(ctx, "renumbering the vertices of the elements", w->n_sides,
                               renumber_kernel, *w);
}
