// The command: standard streams that cannot fail silently, and the way to the verbs.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "expression/nearest.h"

const kg_cli_verb kg_cli_verbs[] = {
    {"solve", kg_cli_solve, "solve a problem, print a stage table, write output and report"},
    {"plan", kg_cli_plan, "predict the memory of a solve"},
    {"mesh", kg_cli_mesh, "look at a mesh file, or generate one"},
    {"info", kg_cli_info, "show version, build, CPU topology and GPUs"},
    {"help", kg_cli_help, "explain a topic, or a key of the problem file"},
    {NULL, NULL, NULL}};

/// A closed standard stream would give its number to the next file that is opened, and messages
/// would end up in it. Its place is taken by a descriptor on which every use fails.
static void occupy_closed_streams(void)
{
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
      (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// Leave no half-written file behind, then end as the signal would have ended it.
static void give_up(int signal_number)
{
  kedge_partial_files_remove();
  raise(signal_number);  // SA_RESETHAND: not here again
}

/// Every signal that ends a process and can be caught. What somebody ignores stays ignored (nohup),
/// and what has a handler keeps it (sanitizers).
static void handle_signals(void)
{
  static const int harmless[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU};
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction before;
    const struct sigaction action = {.sa_handler = give_up, .sa_flags = SA_RESETHAND};
    bool deadly = sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_DFL;
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; ++i) deadly &= number != harmless[i];
    if (deadly) sigaction(number, &action, NULL);
  }
  signal(SIGXFSZ, SIG_IGN);  // the write that goes too far fails, with a sentence
}

/// Runs at exit, also after --help and --version: what was printed has to have arrived.
static void close_stdout(void)
{
  const bool pending = __fpending(stdout) != 0, failed = ferror(stdout) != 0;
  errno = 0;
  const bool close_failed = fclose(stdout) != 0;
  if (!failed && !(close_failed && (pending || errno != EBADF))) return;
  fprintf(stderr, "kedge: cannot write to standard output: %s\n", strerror(errno ? errno : EIO));
  _exit(KG_EXIT_FAILED);
}

/// Everything from the verb on is left to the verb.
static error_t parse_verb(int key, char *text, struct argp_state *state)
{
  int *verb = state->input;
  (void)text;
  if (key == ARGP_KEY_ARG) {
    *verb = state->next - 1;
    state->next = state->argc;
    return 0;
  }
  if (key == ARGP_KEY_NO_ARGS) argp_usage(state);
  return ARGP_ERR_UNKNOWN;
}

int kg_cli_dispatch(const char *prefix, const kg_cli_verb *verbs, struct argp usage, int argc,
                    char **argv)
{
  int place = 0;
  usage.parser = parse_verb;
  usage.children = kg_cli_help_children;
  if (argp_parse(&usage, argc, argv, ARGP_IN_ORDER, NULL, &place) != 0 || place == 0)
    return KG_EXIT_INPUT;
  argc -= place - 1;
  argv += place - 1;
  kg_nearest nearest = kg_nearest_to(argv[1]);
  for (const kg_cli_verb *verb = verbs; verb->name; ++verb) {
    kg_nearest_offer(&nearest, verb->name);
    if (strcmp(verb->name, argv[1]) != 0) continue;
    char name[64];
    snprintf(name, sizeof name, "%s %s", prefix, verb->name);
    argv[1] = name;
    return verb->run(argc - 1, argv + 1);
  }
  if (nearest.best) {
    fprintf(stderr, "%s: there is no command '%s'; did you mean '%s'? (see %s --help)\n", prefix,
            kg_cli_shown(argv[1]), nearest.best, prefix);
    return KG_EXIT_INPUT;
  }
  fprintf(stderr, "%s: there is no command '%s'; the commands are", prefix, kg_cli_shown(argv[1]));
  for (const kg_cli_verb *verb = verbs; verb->name; ++verb)
    fprintf(stderr, "%s %s", verb == verbs ? "" : ",", verb->name);
  fprintf(stderr, " (see %s --help)\n", prefix);
  return KG_EXIT_INPUT;
}

static void print_version(FILE *stream, struct argp_state *state)
{
  (void)state;
  fprintf(stream, "kedge %s\n", kedge_version());
}

static const char doc[] =
    "Solve elliptic problems, problems in time and waves, in the plane and on tetrahedra, with "
    "(hybridizable) discontinuous Galerkin methods, on an NVIDIA GPU or on the host.\v"
    "Commands:\n"
    "  solve PROBLEM.ini        solve; print a stage table; write output and report\n"
    "  plan PROBLEM.ini         predict the memory of a solve\n"
    "  mesh info FILE           counts, groups and quality of a Gmsh mesh\n"
    "  mesh join FILE           join vertices that nearly agree\n"
    "  mesh generate WORDS...   make a mesh: square N, disk N, ring N M and others\n"
    "  info                     version, build, CPU topology, GPUs\n"
    "  help [TOPIC|KEY]         problem file and its keys, expressions, exit codes, ...\n"
    "\n"
    "'kedge COMMAND --help' lists the options of a command.\n"
    "Exit codes: 0 solved, 1 failed, 2 usage or bad input, 3 not converged.";

int kg_cli_run(int argc, char **argv)
{
  occupy_closed_streams();
  handle_signals();
  atexit(close_stdout);
  argp_err_exit_status = KG_EXIT_INPUT;
  argp_program_version_hook = print_version;
  const struct argp usage = {.args_doc = "COMMAND ...", .doc = doc};
  char name[] = "kedge";
  if (argc > 0) argv[0] = name;
  return kg_cli_dispatch("kedge", kg_cli_verbs, usage, argc, argv);
}
