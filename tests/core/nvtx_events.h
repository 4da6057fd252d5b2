/// @file
/// The file that nvtx_record.c writes, read back.
#pragma once
#include <stdio.h>
#include <string.h>

typedef enum nvtx_kind { NVTX_PUSH, NVTX_POP, NVTX_COUNTER, NVTX_MARK, NVTX_OTHER } nvtx_kind;

typedef struct nvtx_event {
  nvtx_kind kind;
  double seconds;
  char domain[64], name[64];
  long long elements, unknowns;  ///< of a push; -1: no payload
  double value;                  ///< of a counter or a mark
  int depth;                     ///< ranges of the domain around this event; of a push: without it
  int parent;                    ///< event of the push around this one; -1: none
} nvtx_event;

static inline nvtx_event nvtx_parse_line(const char *line)
{
  nvtx_event e = {.kind = NVTX_OTHER, .elements = -1, .unknowns = -1, .parent = -1};
  char kind[16] = "";
  int used = 0;
  if (sscanf(line, "%lf %15s %63s %n", &e.seconds, kind, e.domain, &used) < 3) return e;
  const char *rest = line + used;
  if (strcmp(kind, "push") == 0) {
    if (sscanf(rest, "%63s %lld %lld", e.name, &e.elements, &e.unknowns) == 3) e.kind = NVTX_PUSH;
  } else if (strcmp(kind, "pop") == 0) {
    e.kind = NVTX_POP;
  } else if (sscanf(rest, "%63s %lf", e.name, &e.value) == 2) {
    e.kind = strcmp(kind, "counter") == 0 ? NVTX_COUNTER : NVTX_MARK;
  }
  return e;
}

/// Read at most `room` events of the domain "kedge" and find out how they are nested.
/// Returns their number, or -1 when the file cannot be read or the ranges are not balanced.
static inline int nvtx_read_events(const char *path, nvtx_event events[], int room)
{
  FILE *stream = fopen(path, "r");
  if (!stream) return -1;
  char line[512];
  int n = 0, depth = 0, open[16];
  bool balanced = true;
  while (n < room && balanced && fgets(line, sizeof line, stream)) {
    nvtx_event e = nvtx_parse_line(line);
    if (strcmp(e.domain, "kedge") != 0) continue;
    if (e.kind == NVTX_POP) --depth;
    balanced = depth >= 0 && depth < 16;
    if (!balanced) break;
    e.depth = depth;
    e.parent = depth > 0 ? open[depth - 1] : -1;
    if (e.kind == NVTX_PUSH) open[depth++] = n;
    events[n++] = e;
  }
  fclose(stream);
  return balanced && depth == 0 ? n : -1;
}

/// Pushes (or counters) with this name directly inside a range with the name `parent`; NULL:
/// anywhere.
static inline int nvtx_count(const nvtx_event events[], int n, nvtx_kind kind, const char *name,
                             const char *parent)
{
  int count = 0;
  for (int i = 0; i < n; ++i) {
    const nvtx_event *e = &events[i];
    if (e->kind != kind || strcmp(e->name, name) != 0) continue;
    const char *around = e->parent >= 0 ? events[e->parent].name : "";
    count += parent == NULL || strcmp(around, parent) == 0;
  }
  return count;
}
