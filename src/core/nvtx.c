// NVTX ranges. Every NVTX call of the library is here: the headers keep their hook to the tool in
// hidden variables of each shared object, so that one file means one domain.
//
// The domain is made on first use; without a tool NVTX answers NULL and every later call returns
// after one load and one comparison.
#include "core/nvtx.h"

#ifdef KEDGE_WITH_NVTX

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif

// Toolkits before 12.9 have older drafts of the two extensions, or none.
#if defined(NVTX_PAYLOAD_API_FUNCTIONS_V1) && defined(NVTX_PAYLOAD_TYPE_EXT)
#define HAVE_PAYLOAD 1
#endif
#if defined(NVTX_COUNTER_API_FUNCTIONS_V1)
#define HAVE_COUNTER 1
#endif

typedef struct range_payload {
  int64_t elements, unknowns;
} range_payload;

enum { NAME_MAX_COUNT = 32 };  ///< more names than kedge has ranges; others go unregistered

static struct {
  pthread_once_t once;
  atomic_bool looked;           ///< `domain` is final
  nvtxDomainHandle_t domain;    ///< NULL: no tool
  uint64_t payload_schema;      ///< 0: the tool knows no schemas
  uint64_t counter;             ///< 0: the tool knows no counters
  pthread_mutex_t names_mutex;  ///< guards the two arrays; taken only when a tool is there
  int n_names;
  const char *names[NAME_MAX_COUNT];
  nvtxStringHandle_t handles[NAME_MAX_COUNT];
} state = {.once = PTHREAD_ONCE_INIT, .names_mutex = PTHREAD_MUTEX_INITIALIZER};

static uint64_t register_payload(nvtxDomainHandle_t domain)
{
#ifdef HAVE_PAYLOAD
  static const nvtxPayloadSchemaEntry_t entries[] = {
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
       .name = "elements",
       .offset = offsetof(range_payload, elements)},
      {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT64,
       .name = "unknowns",
       .offset = offsetof(range_payload, unknowns)},
  };
  const nvtxPayloadSchemaAttr_t schema = {
      .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE,
      .name = "size",
      .type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
      .entries = entries,
      .numEntries = sizeof entries / sizeof *entries,
      .payloadStaticSize = sizeof(range_payload),
  };
  return nvtxPayloadSchemaRegister(domain, &schema);
#else
  (void)domain;
  return 0;
#endif
}

static uint64_t register_counter(nvtxDomainHandle_t domain)
{
#ifdef HAVE_COUNTER
  const nvtxCounterAttr_t counter = {
      .structSize = sizeof counter,
      .schemaId = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE,
      .name = "relative_residual",
      .description = "||r|| / ||r_0|| of the trace solve",
  };
  return nvtxCounterRegister(domain, &counter);
#else
  (void)domain;
  return 0;
#endif
}

static void look_for_tool(void)
{
  state.domain = nvtxDomainCreateA("kedge");
  if (state.domain) {
    state.payload_schema = register_payload(state.domain);
    state.counter = register_counter(state.domain);
  }
  atomic_store_explicit(&state.looked, true, memory_order_release);
}

static inline nvtxDomainHandle_t tool_domain(void)
{
  if (!atomic_load_explicit(&state.looked, memory_order_acquire))
    pthread_once(&state.once, look_for_tool);
  return state.domain;
}

/// The handle of a literal, registered when it is first seen; NULL when the table is full.
static nvtxStringHandle_t handle_of(const char *name)
{
  nvtxStringHandle_t handle = NULL;
  pthread_mutex_lock(&state.names_mutex);
  int i = 0;
  while (i < state.n_names && state.names[i] != name) ++i;
  if (i == state.n_names && i < NAME_MAX_COUNT) {
    state.names[i] = name;
    state.handles[i] = nvtxDomainRegisterStringA(state.domain, name);
    ++state.n_names;
  }
  if (i < state.n_names) handle = state.handles[i];
  pthread_mutex_unlock(&state.names_mutex);
  return handle;
}

static nvtxEventAttributes_t event_named(const char *name)
{
  nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
  const nvtxStringHandle_t handle = handle_of(name);
  event.messageType = handle ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (handle)
    event.message.registered = handle;
  else
    event.message.ascii = name;
  return event;
}

void kg_range_push(const char *name, int64_t elements, int64_t unknowns)
{
  const nvtxDomainHandle_t domain = tool_domain();
  if (!domain) return;
  nvtxEventAttributes_t event = event_named(name);
#ifdef HAVE_PAYLOAD
  const range_payload counts = {elements, unknowns};
  const nvtxPayloadData_t data = {state.payload_schema, sizeof counts, &counts};
  if (state.payload_schema) {
    // The type is set by hand, because the macro of the NVTX header does not compile as C in CUDA
    // 13.0.
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;  // one nvtxPayloadData_t
    event.payload.ullValue = (uint64_t)(uintptr_t)&data;
  }
#endif
  if (!state.payload_schema) {
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = unknowns ? unknowns : elements;
  }
  nvtxDomainRangePushEx(domain, &event);
}

void kg_range_pop(void)
{
  const nvtxDomainHandle_t domain = tool_domain();
  if (domain) nvtxDomainRangePop(domain);
}

void kg_range_residual(double relative_residual)
{
  const nvtxDomainHandle_t domain = tool_domain();
  if (!domain) return;
#ifdef HAVE_COUNTER
  if (state.counter) {
    nvtxCounterSampleFloat64(domain, state.counter, relative_residual);
    return;
  }
#endif
  nvtxEventAttributes_t event = event_named("relative_residual");
  event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  event.payload.dValue = relative_residual;
  nvtxDomainMarkEx(domain, &event);
}

#else

void kg_range_push(const char *name, int64_t elements, int64_t unknowns)
{
  (void)name, (void)elements, (void)unknowns;
}

void kg_range_pop(void)
{
}

void kg_range_residual(double relative_residual)
{
  (void)relative_residual;
}

#endif
