/// @file
/// The keys of the problem file: one table that reads them, checks them and suggests them. Their
/// defaults are those of problem.c.
#pragma once
#include "problem/elements.h"
#include "problem/settings.h"

/// Read a setting into a problem.
struct kg_problem_key;
typedef kedge_status kg_key_reader(kedge_problem *problem, const struct kg_problem_key *key,
                                   const kg_settings *settings, const kg_setting *setting);

typedef struct kg_problem_key {
  const char *section;  ///< "space"; "boundary NAME" stands for every section of a boundary
  const char *name;     ///< "order"; in [parameters] NAME stands for any
  const char *values;   ///< what may follow, as words: "1 to 12"
  kg_key_reader *read;
  bool is_expression;  ///< may continue on further lines
  bool may_be_empty;   ///< takes back what was set
  // For readers that several keys have:
  size_t member;             ///< of kedge_problem, that is set: its offset
  int least, most;           ///< of a whole number
  const char *const *words;  ///< [most], in the order of their enumeration
} kg_problem_key;

/// The table, in the order of the documentation, and of the keys that take a function of the caller
/// and never text; both end with a row of NULL.
extern const kg_problem_key kg_problem_keys[], kg_function_keys[];
/// The keys of the functions of a tensor, [0] in the plane and [1] in space. The first is the one
/// of problem files.
extern const char *const kg_tensor_keys[2][KG_TENSOR_MAX];

/// Whether a row of a table is about this section.
bool kg_key_covers(const kg_problem_key *key, const char *section);
/// The key of a setting; refused with the nearest valid section or key when there is none such, and
/// with what to write instead when it or its value is gone.
kedge_status kg_key_find(const kg_settings *settings, const kg_setting *setting,
                         const kg_problem_key **out);
/// Refuse what would make two sides one.
kedge_status kg_periodic_refuse(const kg_settings *settings, const kg_setting *setting);
/// Check a section alone.
kedge_status kg_section_check(const kg_settings *settings, const kg_setting *setting);

/// kg_settings_put() for a setting that comes later than others: it also removes those that it
/// makes void ([mesh] generate takes the place of file, ...).
kedge_status kg_settings_replace(kg_settings *settings, const kg_setting *setting);

/// Note that a section [region NAME] is there, also without keys.
/// @param[in] section  the setting of its empty key
kedge_status kg_region_add(kedge_problem *problem, const kg_settings *settings,
                           const kg_setting *section);

/// Refuse parameters of overrides that neither the file sets nor an expression uses: misspelt ones.
kedge_status kg_settings_check_parameters(const kg_settings *settings);
/// The first setting in whose expression a name stands; NULL: there is none.
const kg_setting *kg_settings_naming(const kg_settings *settings, const char *name);
/// The first parameter that no expression of the settings has; NULL: all are used.
const char *kg_settings_unused(const kg_settings *settings);

/// Read all settings into a problem that holds the defaults; parameters first.
kedge_status kg_settings_apply(const kg_settings *settings, kedge_problem *problem);
