// Arrays taken from memory made beforehand, and from what is allocated where that ends.
#include "context.h"
#include "matrix.h"
#include "precondition/amg/arena.h"

static char *take(kg_arena *arena, size_t bytes)
{
  char *array;
  must(ctx, kg_arena_take(ctx, arena, bytes, 1, &array));
  return array;
}

static void arrays_lie_behind_each_other(void **state)
{
  (void)state;
  kg_buffer memory;
  must(ctx, kg_alloc(ctx, 4 * KG_ALIGNMENT, 1, &memory));
  const int64_t before = ctx->bytes_in_use;
  kg_arena arena = {.memory = memory.data, .bytes = memory.bytes};
  char *const first = take(&arena, 1);
  const kg_arena_mark mark = kg_arena_now(&arena);
  assert_ptr_equal(first, memory.data);
  assert_ptr_equal(take(&arena, KG_ALIGNMENT + 1), first + KG_ALIGNMENT);
  assert_ptr_equal(take(&arena, 0), first + 3 * KG_ALIGNMENT);
  assert_ptr_equal(take(&arena, KG_ALIGNMENT), first + 3 * KG_ALIGNMENT);
  kg_arena_return(ctx, &arena, mark);
  assert_ptr_equal(take(&arena, 1), first + KG_ALIGNMENT);
  assert_int_equal(arena.most, 4 * KG_ALIGNMENT);
  kg_arena_free(ctx, &arena);
  assert_int_equal(arena.used, 0);
  assert_int_equal(ctx->bytes_in_use, before);
  kg_free(ctx, &memory);
}

static void what_has_no_room_is_allocated_until_it_is_given_back(void **state)
{
  (void)state;
  kg_buffer memory;
  must(ctx, kg_alloc(ctx, 2 * KG_ALIGNMENT, 1, &memory));
  const int64_t before = ctx->bytes_in_use;
  kg_arena arena = {.memory = memory.data, .bytes = memory.bytes};
  take(&arena, 1);
  take(&arena, 2 * KG_ALIGNMENT);
  assert_int_equal(ctx->bytes_in_use, before + 2 * KG_ALIGNMENT);
  const kg_arena_mark mark = kg_arena_now(&arena);
  assert_ptr_equal(take(&arena, 1), (char *)memory.data + KG_ALIGNMENT);  // a smaller one has room
  take(&arena, 1);
  take(&arena, 1);
  assert_int_equal(ctx->bytes_in_use, before + 4 * KG_ALIGNMENT);
  kg_arena_return(ctx, &arena, mark);
  assert_int_equal(ctx->bytes_in_use, before + 2 * KG_ALIGNMENT);
  kg_arena_free(ctx, &arena);
  assert_int_equal(ctx->bytes_in_use, before);
  kg_free(ctx, &memory);
}

static void an_arena_without_memory_allocates(void **state)
{
  (void)state;
  const int64_t before = ctx->bytes_in_use;
  kg_arena arena = {0};
  assert_non_null(take(&arena, 1));
  assert_int_equal(ctx->bytes_in_use, before + KG_ALIGNMENT);
  void *array = &arena;
  assert_int_equal(kg_arena_take(ctx, &arena, SIZE_MAX / 4, 1, &array), KEDGE_ERR_MEMORY);
  assert_null(array);
  kg_arena_free(ctx, &arena);
  assert_int_equal(ctx->bytes_in_use, before);
}

int main(void)
{
  test_skip_without_backend();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arrays_lie_behind_each_other),
      cmocka_unit_test(what_has_no_room_is_allocated_until_it_is_given_back),
      cmocka_unit_test(an_arena_without_memory_allocates),
  };
  return cmocka_run_group_tests_name("multigrid.arena", tests, open_context, close_context);
}
