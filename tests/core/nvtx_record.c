// An NVTX tool for tests: writes every event of this process to the file that NVTX_RECORD names,
// one line each, so that a test can check names, nesting and counts.
//
//   SECONDS push DOMAIN NAME ELEMENTS UNKNOWNS
//   SECONDS pop DOMAIN
//   SECONDS counter DOMAIN NAME VALUE
//   SECONDS mark DOMAIN NAME VALUE
//
// Load it with NVTX_INJECTION64_PATH=libkedge_nvtx_record.so. Blanks in names become underscores.
#define NVTX_NO_IMPL  // types and identifiers only: this is the other side of NVTX
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#if __has_include(<nvtx3/nvToolsExtCounters.h>)
#include <nvtx3/nvToolsExtCounters.h>
#endif

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct nvtxDomainRegistration_st {
  char name[64];
};
struct nvtxStringRegistration_st {
  char text[64];
};

enum { ID_COUNT = 16 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;
static char counter_names[ID_COUNT][64];
static int n_counters, n_schemas;

static double seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void copy_name(char to[64], const char *from)
{
  snprintf(to, 64, "%s", from && *from ? from : "-");
  for (char *c = to; *c; ++c)
    if (*c == ' ') *c = '_';
}

static const char *domain_name(nvtxDomainHandle_t domain)
{
  return domain ? domain->name : "-";
}

/// The name of an event, into `name`.
static void event_name(const nvtxEventAttributes_t *event, char name[64])
{
  const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  const bool ascii = event->messageType == NVTX_MESSAGE_TYPE_ASCII;
  copy_name(name, registered ? event->message.registered->text
                  : ascii    ? event->message.ascii
                             : NULL);
}

static int on_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
  char name[64];
  event_name(event, name);
  int64_t counts[2] = {-1, -1};
  if (event->payloadType == NVTX_PAYLOAD_TYPE_EXT && event->reserved0 == 1) {
    const nvtxPayloadData_t *data = (const void *)(uintptr_t)event->payload.ullValue;
    if (data->size == sizeof counts) memcpy(counts, data->payload, sizeof counts);
  }
  pthread_mutex_lock(&mutex);
  fprintf(record, "%.9f push %s %s %lld %lld\n", seconds(), domain_name(domain), name,
          (long long)counts[0], (long long)counts[1]);
  pthread_mutex_unlock(&mutex);
  return 0;
}

static int on_pop(nvtxDomainHandle_t domain)
{
  pthread_mutex_lock(&mutex);
  fprintf(record, "%.9f pop %s\n", seconds(), domain_name(domain));
  pthread_mutex_unlock(&mutex);
  return 0;
}

static void on_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
  char name[64];
  event_name(event, name);
  const double value = event->payloadType == NVTX_PAYLOAD_TYPE_DOUBLE ? event->payload.dValue : 0;
  pthread_mutex_lock(&mutex);
  fprintf(record, "%.9f mark %s %s %.17g\n", seconds(), domain_name(domain), name, value);
  pthread_mutex_unlock(&mutex);
}

// Handles live as long as the process: kedge keeps them to the end.
static nvtxDomainHandle_t on_domain(const char *name)
{
  nvtxDomainHandle_t domain = calloc(1, sizeof *domain);
  if (domain) copy_name(domain->name, name);
  return domain;
}

static nvtxStringHandle_t on_string(nvtxDomainHandle_t domain, const char *text)
{
  (void)domain;
  nvtxStringHandle_t string = calloc(1, sizeof *string);
  if (string) copy_name(string->text, text);
  return string;
}

static uint64_t on_schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t *schema)
{
  (void)domain, (void)schema;
  return NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + (uint64_t)n_schemas++;
}

#ifdef NVTX_COUNTER_API_FUNCTIONS_V1
static uint64_t on_counter(nvtxDomainHandle_t domain, const nvtxCounterAttr_t *counter)
{
  (void)domain;
  if (n_counters == ID_COUNT) return NVTX_COUNTER_ID_NONE;
  copy_name(counter_names[n_counters], counter->name);
  return NVTX_COUNTER_ID_DYNAMIC_START + (uint64_t)n_counters++;
}

static void on_sample(nvtxDomainHandle_t domain, uint64_t id, double value)
{
  const uint64_t i = id - NVTX_COUNTER_ID_DYNAMIC_START;
  pthread_mutex_lock(&mutex);
  fprintf(record, "%.9f counter %s %s %.17g\n", seconds(), domain_name(domain),
          i < ID_COUNT ? counter_names[i] : "-", value);
  pthread_mutex_unlock(&mutex);
}
#endif

/// Called once by every shared object that uses NVTX: the file must not be opened twice.
static bool open_record(void)
{
  const char *path = getenv("NVTX_RECORD");
  if (!record && path) record = fopen(path, "w");
  if (record) setvbuf(record, NULL, _IOLBF, 0);
  return record != NULL;
}

static void hook(NvtxFunctionTable table, unsigned size, unsigned id, NvtxFunctionPointer function)
{
  if (id < size && table[id]) *table[id] = function;
}
#define HOOK(id, function) hook(table, size, (id), (NvtxFunctionPointer)(function))

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
  const NvtxExportTableCallbacks *callbacks = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size;
  if (!open_record() || !callbacks ||
      !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
    return 0;
  HOOK(NVTX_CBID_CORE2_DomainCreateA, on_domain);
  HOOK(NVTX_CBID_CORE2_DomainRegisterStringA, on_string);
  HOOK(NVTX_CBID_CORE2_DomainRangePushEx, on_push);
  HOOK(NVTX_CBID_CORE2_DomainRangePop, on_pop);
  HOOK(NVTX_CBID_CORE2_DomainMarkEx, on_mark);
  return 1;
}

int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module);
int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t *module)
{
  intptr_t *slots = module->segments->functionSlots;
  if (module->moduleId == NVTX_EXT_PAYLOAD_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = (intptr_t)on_schema;
    return 1;
  }
#ifdef NVTX_COUNTER_API_FUNCTIONS_V1
  if (module->moduleId == NVTX_EXT_COUNTERS_MODULEID) {
    slots[NVTX3EXT_CBID_nvtxCounterRegister] = (intptr_t)on_counter;
    slots[NVTX3EXT_CBID_nvtxCounterSampleFloat64] = (intptr_t)on_sample;
    return 1;
  }
#endif
  return 0;
}
