/// @file
/// A locale that numbers in texts must not follow.
#pragma once
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmocka_all.h"

/// A locale with a decimal comma: one that is installed, else one compiled for the moment.
static const char *comma_locale(void)
{
  static const char *const locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "nl_NL.UTF-8"};
  const char *set = NULL;
  for (size_t i = 0; i < sizeof locales / sizeof *locales && !set; ++i)
    set = setlocale(LC_NUMERIC, locales[i]);
  if (set) return set;
  char folder[] = "/tmp/kedge_locale_XXXXXX", command[200];
  if (mkdtemp(folder) == NULL) return NULL;
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 2>/dev/null",
           folder);
  setenv("LOCPATH", folder, 1);
  if (system(command) == 0) set = setlocale(LC_NUMERIC, "de_DE.UTF-8");
  snprintf(command, sizeof command, "rm -r %s", folder);
  if (system(command) != 0) print_message("%s is left behind\n", folder);
  return set;
}
