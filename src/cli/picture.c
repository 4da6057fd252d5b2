// Pictures: python3 with the module kedge.picture, which draws as Output.plot() of the Python
// package does.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/beside.h"

extern char **environ;

/// As -m kedge.picture, but without the current folder among the places of modules: a numpy.py that
/// lies beside a problem is not NumPy. Python 3.11 has -P for that; -I would leave PYTHONPATH out.
static const char program[] =
    "import sys; sys.path[:] = filter(None, sys.path); from kedge.picture import main; "
    "sys.exit(main())";

enum { OUTPUT = 3, SAID = 1000 };  // descriptor that the module reads; bytes of its sentence

/// Read what a program says until it ends, and keep the last line.
static void listen_to(int descriptor, char said[SAID])
{
  size_t n = 0;
  bool ended = false;
  char more[256];
  for (;;) {
    const ssize_t got = read(descriptor, more, sizeof more);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    for (ssize_t i = 0; i < got; ++i) {
      if (ended && more[i] != '\n') n = 0;
      ended = more[i] == '\n';
      if (!ended && n + 1 < SAID) said[n++] = more[i];
    }
  }
  said[n] = '\0';
}

/// Start python3 with the module.
/// @param[in] output  descriptor of an output file, -1: none
/// @param[in] to      its standard streams for output and errors
static int start(int output, const char *picture, int to, pid_t *child)
{
  char *const arguments[] = {"python3", "-c", (char *)program, (char *)picture, NULL};
  posix_spawn_file_actions_t actions;
  int error = posix_spawn_file_actions_init(&actions);
  if (error) return error;
  // An error on the way leaves the module without what it needs, and it says so.
  posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to, STDERR_FILENO);
  if (output >= 0) posix_spawn_file_actions_adddup2(&actions, output, OUTPUT);
  error = posix_spawnp(child, "python3", &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

/// Run the module. @return whether it succeeds; else a sentence is printed
static bool run(int output, const char *picture)
{
  char said[SAID] = "";
  int ends[2], result = -1;
  pid_t child;
  if (pipe2(ends, O_CLOEXEC) != 0) {
    fprintf(stderr, "kedge: --picture: %s\n", strerror(errno));
    return false;
  }
  const int error = start(output, picture, ends[1], &child);
  close(ends[1]);
  if (!error) {
    listen_to(ends[0], said);
    while (waitpid(child, &result, 0) < 0 && errno == EINTR) continue;
  }
  close(ends[0]);
  if (!error && WIFEXITED(result) && WEXITSTATUS(result) == 0) return true;
  if (error)
    fprintf(stderr, "kedge: --picture needs python3, which cannot be run: %s\n", strerror(error));
  else if (!said[0] || (strstr(said, "No module named") && strstr(said, "kedge")))
    fprintf(stderr,
            "kedge: --picture needs the Python package kedge, of this version, where python3 finds "
            "it; install it there with 'pip install .' from the folder of kedge\n");
  else if (strncmp(said, "--picture", strlen("--picture")) == 0)
    fprintf(stderr, "kedge: %s\n", kg_cli_shown(said));
  else
    fprintf(stderr, "kedge: --picture: %s\n", kg_cli_shown(said));
  return false;
}

bool kg_cli_picture_ready(void)
{
  return run(-1, NULL);
}

bool kg_cli_picture_draw(int descriptor, const char *picture)
{
  return run(descriptor, picture);
}
