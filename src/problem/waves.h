/// @file
/// What a problem says of waves: [equation] system is one of them, and the keys that only these
/// have (docs/waves.md).
#pragma once
#include "expression/function.h"
#include "problem/keys.h"

typedef enum kg_system_kind {
  KG_SYSTEM_ELLIPTIC,
  KG_SYSTEM_MAXWELL,
  KG_SYSTEM_MAXWELL_TM,
  KG_SYSTEM_ACOUSTICS,
  KG_SYSTEM_KINDS
} kg_system_kind;
extern const char *const kg_system_words[KG_SYSTEM_KINDS];  ///< of problem files

enum {
  KG_WAVE_FIELDS = 10,     ///< names of fields of all systems
  KG_WAVE_PROPERTIES = 5,  ///< names of properties of materials of all
  KG_WAVE_BOUNDARIES = 5,  ///< types of boundaries of all
  KG_CURRENTS = 3,         ///< components of a current
};
extern const char *const kg_wave_fields[KG_WAVE_FIELDS],
    *const kg_wave_properties[KG_WAVE_PROPERTIES], *const kg_wave_boundaries[KG_WAVE_BOUNDARIES];

/// Functions of fields by name; of kind NONE where none is given.
typedef struct kg_wave_values {
  kg_function of[KG_WAVE_FIELDS];
} kg_wave_values;

typedef struct kg_wave_settings {
  kg_system_kind system;
  double upwind, cfl;
  bool single;  ///< [solver] precision, which is so where it is not given
  kg_wave_values initial, exact;
} kg_wave_settings;

/// The place of a word in a list; -1: it is not there.
int kg_word_among(const char *const *words, int n, const char *word);

void kg_wave_values_free(kg_wave_values *values);
void kg_wave_values_set_time(kg_wave_values *values, double t);

/// The keys of waves, as kg_problem_keys. In rows named FIELD any field may stand.
extern const kg_problem_key kg_wave_keys[];
kedge_status kg_read_current_part(kedge_problem *problem, const kg_problem_key *key,
                                  const kg_settings *settings, const kg_setting *setting);
/// The row of a key of waves; NULL: it is none.
const kg_problem_key *kg_wave_key_of(const kg_setting *setting);
bool kg_wave_takes_function(const char *section, const char *key);
/// The keys of the functions of a current in space, of which the first is that of problem files.
extern const char *const kg_current_keys[KG_CURRENTS];

/// Read the type of a boundary, if it is one of waves; whether it is of the problem is checked once
/// all is set (kg_problem_check_waves()). @param[out] type  as it is in kg_wave_boundaries; -1: it
/// is of elliptic problems
kedge_status kg_wave_type(const kg_settings *settings, const kg_setting *setting, int *type);

/// Read [solver] precision, if the problem, or the word, is of waves. @param[out] is_wave  it is
kedge_status kg_wave_read_precision(kg_wave_settings *waves, const kg_settings *settings,
                                    const kg_setting *setting, bool *is_wave);

/// Refuse keys of elliptic problems in one of waves, and the other way round, and what waves lack.
kedge_status kg_problem_check_waves(kedge_context *ctx, const kedge_problem *problem);
/// Whether the problem is one of waves.
enum { KG_WAVE_NAMES_MAX = 40 };
/// The names of keys that the system of settings has in a section, or where they name none, that
/// any of waves has. @return how many
int kg_wave_names(const kg_settings *settings, const char *section,
                  const char *names[KG_WAVE_NAMES_MAX]);
/// Whether a setting is one of elliptic problems, and the settings name a system of waves.
bool kg_wave_leaves(const kg_settings *settings, const kg_setting *s);
/// "a, b or c": the types of boundaries of the system that settings name, elliptic too.
const char *kg_boundary_types(const kg_settings *settings, char text[120]);
/// Whether settings name a system of waves, as far as they are read.
bool kg_settings_are_wave(const kg_settings *settings);
bool kg_problem_is_wave(const kedge_problem *problem);
