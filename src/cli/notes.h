/// @file
/// What a march has to say of its steps: sentences, each once.
#pragma once
#include <kedge/march.h>

enum { KG_NOTES_MAX = 8 };  ///< that are kept

/// Zero-initialise.
typedef struct kg_notes {
  int n;
  char *all[KG_NOTES_MAX];
} kg_notes;

/// A sentence with the step that was reached in front, which the caller frees; NULL: no memory.
char *kg_notes_with_step(const kedge_marched *at, const char *sentence);
/// Keep a note, which belongs to the notes from now on.
/// @param[in] note  NULL: there was no memory for it, and nothing is kept
void kg_notes_add(kg_notes *notes, char *note);
/// Keep those sentences of a note, "; " between them, of which none is kept that is the same but
/// for its numbers. @param[in] note  NULL: there is none
void kg_notes_keep(kg_notes *notes, const kedge_marched *at, const char *note);
/// All as one text, which the caller frees; NULL: there are none, or there is no memory.
char *kg_notes_join(const kg_notes *notes);
void kg_notes_free(kg_notes *notes);
