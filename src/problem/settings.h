/// @file
/// The settings of a problem as text, each with the place it came from. Values are read from here
/// all at once, so their order does not matter and one can be replaced later.
#pragma once
#include "core/error.h"
#include "kedge/problem.h"

typedef enum kg_origin { KG_FROM_FILE, KG_FROM_OVERRIDE, KG_FROM_CALL } kg_origin;

typedef struct kg_setting {
  char *section, *key;
  char *value;  ///< lines joined by '\n', one for each line of the file; NULL: a function, or the
                ///< section alone, with an empty key
  const char *whole;         ///< the value that `value` is a part of; borrowed; NULL: it is whole
  kedge_function *function;  ///< of the caller
  void *user;
  kg_origin origin;
  int line;  ///< of the file, where the value (or one replaced since) begins; 0: not in the file
} kg_setting;

typedef struct kg_settings {
  kedge_context *ctx;
  char *name;  ///< of the problem file, for messages; NULL: none
  kg_setting *items;
  int n, capacity;
} kg_settings;

static inline bool kg_is_blank(char c)
{
  return c == ' ' || c == '\t';
}

/// Bring the name of a section into its normal form: no blanks around it, one before NAME.
void kg_section_normalize(char *section);
/// Copy a setting in, in its normal form; one of the same section and key is replaced where it
/// stands.
kedge_status kg_settings_put(kg_settings *settings, const kg_setting *setting);
/// Find a setting of a section; NULL when there is none.
kg_setting *kg_settings_find(const kg_settings *settings, const char *section, const char *key);
void kg_settings_remove(kg_settings *settings, const char *section, const char *key);
/// Append text to a value.
kedge_status kg_settings_extend(kg_settings *settings, kg_setting *setting, int newlines,
                                const char *text);
kedge_status kg_settings_copy(const kg_settings *from, kg_settings *to);
void kg_settings_free(kg_settings *settings);
/// Put "section.key=value"; the section ends at the last '.' before the first '='. Without a value
/// the key is taken away, of a section with a name, or a parameter, that is there.
kedge_status kg_settings_override(kg_settings *settings, const char *text);

enum { KG_PLACE_BYTES = 400 };
/// Write where a setting was made, as a sentence about it begins: "plate.ini:12: ", or
/// "--set space.order=4: "; "" for one of a call, and for NULL.
void kg_setting_place(const kg_settings *settings, const kg_setting *setting,
                      char text[KG_PLACE_BYTES]);
/// The words of sections with a name, as in [boundary NAME]; ends with NULL.
extern const char *const kg_named_sections[];
/// NAME of the section "boundary NAME", with `word` = "boundary"; NULL: it is another section.
const char *kg_section_group(const char *section, const char *word);

/// Fail with KEDGE_ERR_INPUT and the place of a setting before the sentence: "plate.ini:12: ...".
kedge_status kg_setting_fail(const kg_settings *settings, const kg_setting *setting,
                             const char *format, ...) __attribute__((format(printf, 3, 4)));

/// Read the text of a problem file (ini.c).
/// @param[out] sections  every section, also without keys: an item with its line and an empty key
kedge_status kg_settings_read(kg_settings *settings, kg_settings *sections, const char *text,
                              size_t bytes);
/// The text of settings, none of which is a function (write.c); whether it is read back as it was
/// is not looked at.
/// @param[out] text  of malloc(), ends with '\0'; the caller frees it
kedge_status kg_settings_text(const kg_settings *settings, char **text, size_t *bytes);
