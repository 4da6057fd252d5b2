/// @file
/// What the verbs of the command share. A verb parses its own arguments, prints, and returns an
/// exit code; wrong usage ends inside argp.
#pragma once
#include <argp.h>
#include <kedge/kedge.h>

enum {
  KG_EXIT_SOLVED = 0,
  KG_EXIT_FAILED = 1,
  KG_EXIT_INPUT = 2,  ///< usage or bad input
  KG_EXIT_NOT_CONVERGED = 3,
};

// argv[0] names the verb for messages: "kedge solve".
int kg_cli_solve(int argc, char **argv);
int kg_cli_mesh(int argc, char **argv);
int kg_cli_info(int argc, char **argv);
int kg_cli_plan(int argc, char **argv);
int kg_cli_help(int argc, char **argv);

/// A verb by its name.
typedef struct kg_cli_verb {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} kg_cli_verb;
extern const kg_cli_verb kg_cli_verbs[];  ///< ends with a NULL name

/// Run the verb that the first argument names; everything after it is left to the verb.
/// @param[in] prefix  what stands before the verb ("kedge", "kedge mesh")
/// @param[in] usage   args_doc and doc, for --help
int kg_cli_dispatch(const char *prefix, const kg_cli_verb *verbs, struct argp usage, int argc,
                    char **argv);

/// The command, main() of the module that the executable loads (launch.c).
KEDGE_API int kg_cli_run(int argc, char **argv);

extern const struct argp_child kg_cli_help_children[];  ///< -h as --help; argp has -? by itself

/// The values of all --set options.
typedef struct kg_cli_overrides {
  const char **values;  ///< [n], room for argc; the strings are borrowed from argv
  int n;
} kg_cli_overrides;

/// The options of a verb that is about one problem: its file, where its report goes, --set, and
/// --backend, --device, --threads.
typedef struct kg_cli_problem {
  const char *file, *report;
  const char *checkpoint;  ///< is written by a march; NULL: none
  const char *resume;      ///< a checkpoint that is read; NULL: none
  bool quiet;
  kg_cli_overrides overrides;
  kedge_context_options context;
} kg_cli_problem;
extern const struct argp_child kg_cli_problem_children[];
/// A key that no other option of the verb has: 'r' for the report, 'q' for quiet, the file.
error_t kg_cli_parse_problem(int key, char *text, struct argp_state *state,
                             kg_cli_problem *problem);

/// Text of a file or of the command line as a terminal may show it (core/text.h); it stands until
/// the fourth call after this.
const char *kg_cli_shown(const char *text);

/// Columns that UTF-8 text takes, a character each; printf() pads by bytes.
int kg_cli_width(const char *text);

/// An integer from minimum to maximum, or a usage error that names the option.
long kg_cli_integer(struct argp_state *state, const char *option, const char *text, long minimum,
                    long maximum);

/// The file to read that an argument names, or a usage error where it is '-'.
const char *kg_cli_input(struct argp_state *state, const char *path);

enum { KG_CLI_SAID = 4096 };  ///< bytes of a sentence, which may be cut

/// A file to write, and what it must be.
typedef struct kg_cli_file {
  const char *path;
  const char *what;           ///< its content, for sentences: "report"
  const char *place;          ///< the key that names it, for sentences: kedge_problem_place()
  bool regular;               ///< no pipe, terminal or device
  const char *const *inputs;  ///< [3] files that are read, NULL: none; the array may be NULL
  char *said;                 ///< [KG_CLI_SAID] out: the sentence of a refusal; may be NULL
} kg_cli_file;

/// Refuse before the work, with a sentence, what could not be written after it, and to write over a
/// file that is read, whatever path leads to it.
/// Returns the file that `path` leads to, links followed, which the caller frees; NULL: refused.
char *kg_cli_target(const kg_cli_file *file);
/// Refuse a name that ends in neither of two endings, with their '.'; the second may be NULL.
/// Devices and pipes may have any name.
bool kg_cli_named(const kg_cli_file *file, const char *ending, const char *other);
/// Whether two paths lead to one file, which need not exist. Neither was refused before.
bool kg_cli_is_one(const char *a, const char *b);
/// Refuse, before the work, an output or a report that kg_cli_target() refuses, both in one file,
/// or an output that kg_cli_named() refuses.
/// @param[in]  output  NULL: the [output] file of the problem, if any
/// @param[out] said    [KG_CLI_SAID] what is printed of an output that is refused where the report
///                     can be written, else ""; may be NULL
bool kg_cli_targets(const kg_cli_problem *from, const kedge_problem *problem, const char *output,
                    char *said);

/// Print the sentence of the last failure and return the exit code that goes with it: bad input
/// where the failing call reads the user's input, else failed.
int kg_cli_fail(const kedge_context *ctx, kedge_status status, bool reads_input);

/// Say that there is no memory, where no call of the library has failed. Returns the exit code.
int kg_cli_no_memory(void);

/// Return the ending of a plural: "s", or "" after 1.
const char *kg_cli_plural(int64_t n);
/// A stage of reports as tables show it: "local matrices (B1-B2)".
const char *kg_cli_stage_title(const char *name);

/// Print what a person reads at the end of a solve to stdout.
/// @param[in] reason  why this backend
/// @param[in] output  the file that was written, NULL: none
void kg_summary_print(const kedge_report *report, const char *problem, const char *reason,
                      const char *output);
