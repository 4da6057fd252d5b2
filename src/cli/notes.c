#include "cli/notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// Where the sentence that begins here, of several with "; " between them, ends.
static const char *sentence_end(const char *note)
{
  const char *const end = strstr(note, "; ");
  return end ? end : note + strlen(note);
}

/// Whether two sentences are one but for their numbers.
static bool are_alike(const char *a, const char *b)
{
  static const char numbers[] = "0123456789.e+-";
  const char *const end_a = sentence_end(a), *const end_b = sentence_end(b);
  for (;; ++a, ++b) {
    a += strspn(a, numbers);
    b += strspn(b, numbers);
    if (a >= end_a || b >= end_b) return a >= end_a && b >= end_b;
    if (*a != *b) return false;
  }
}

/// Whether a sentence like this is kept.
static bool is_kept(const kg_notes *notes, const char *sentence)
{
  for (int i = 0; i < notes->n; ++i) {
    const char *at = strstr(notes->all[i], ": ");  // behind the step
    for (; at; at = strstr(at + 2, "; "))
      if (are_alike(at + 2, sentence)) return true;
  }
  return false;
}

char *kg_notes_with_step(const kedge_marched *at, const char *sentence)
{
  char *text;
  const int n = asprintf(&text, "step %lld, t = %.9g: %s", (long long)at->steps, at->t, sentence);
  return n < 0 ? NULL : text;
}

void kg_notes_add(kg_notes *notes, char *note)
{
  if (note && notes->n < KG_NOTES_MAX)
    notes->all[notes->n++] = note;
  else
    free(note);
}

void kg_notes_keep(kg_notes *notes, const kedge_marched *at, const char *note)
{
  char *const fresh = note && notes->n < KG_NOTES_MAX ? calloc(strlen(note) + 3, 1) : NULL;
  for (const char *from = note; fresh && *from;) {
    const char *const end = sentence_end(from);
    if (!is_kept(notes, from)) {
      if (fresh[0]) strcat(fresh, "; ");
      strncat(fresh, from, (size_t)(end - from));
    }
    from = *end ? end + 2 : end;
  }
  if (fresh && fresh[0]) kg_notes_add(notes, kg_notes_with_step(at, fresh));
  free(fresh);
}

char *kg_notes_join(const kg_notes *notes)
{
  size_t size = 0;
  for (int i = 0; i < notes->n; ++i) size += strlen(notes->all[i]) + 2;
  char *const text = size > 0 ? calloc(size + 1, 1) : NULL;
  for (int i = 0; text && i < notes->n; ++i) {
    if (i > 0) strcat(text, "; ");
    strcat(text, notes->all[i]);
  }
  return text;
}

void kg_notes_free(kg_notes *notes)
{
  for (int i = 0; i < notes->n; ++i) free(notes->all[i]);
  *notes = (kg_notes){0};
}
