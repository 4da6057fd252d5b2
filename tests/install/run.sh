#!/usr/bin/env bash
# run.sh BUILD CONSUMER CMAKE CC: install BUILD into a scratch prefix; compile every public header
# alone, and CONSUMER through find_package() and through pkg-config; run what comes out.
set -euo pipefail
build=$1 consumer=$2 cmake=$3 cc=$4
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix

fail() { printf 'FAILED: %s\n' "$*" >&2; exit 1; }
run() { "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log" >&2; fail "$*"; }; }

# A sanitized library needs programs that are sanitized too.
sanitize=()
if [ -n "${KEDGE_SANITIZE:-}" ]; then sanitize=("-fsanitize=$KEDGE_SANITIZE"); fi

run "$cmake" --install "$build" --prefix "$prefix"
library=$(find "$prefix" -name libkedge.so)
[ -n "$library" ] || fail "libkedge.so is not installed"

echo "public headers, each alone, as C17 and C++17"
for header in "$prefix"/include/kedge/*.h; do
  for language in "c -std=c17" "c++ -std=c++17"; do
    # shellcheck disable=SC2086  # two words on purpose
    run "$cc" -x $language -Wall -Wextra -pedantic -Werror -fsyntax-only \
      -include "$header" -I "$prefix/include" /dev/null
  done
done

echo "only the API is exported"
if [ -z "${KEDGE_SANITIZE:-}" ] && nm -D --defined-only "$library" | grep -v ' kedge_'; then
  fail "these symbols are no part of the API"
fi

echo "find_package, as docs/install.md has it"
asked=$(grep -o 'find_package(kedge.*)' "$consumer/../../../docs/install.md")
grep -qxF "$asked" "$consumer/CMakeLists.txt" || fail "docs/install.md has '$asked', the test another"
run env CFLAGS="${sanitize[*]}" "$cmake" -S "$consumer" -B "$scratch/build" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release
run "$cmake" --build "$scratch/build"
run "$scratch/build/consumer"

# From another place than it was installed to: nothing may depend on the prefix.
mv "$prefix" "$scratch/moved"
prefix=$scratch/moved

echo "pkg-config"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name kedge.pc)")
export PKG_CONFIG_PATH
read -ra flags <<<"$(pkg-config --cflags --libs kedge)"
libdir=$(dirname "$(find "$prefix" -name libkedge.so)")
run "$cc" -std=c17 "${sanitize[@]}" "$consumer/consumer.c" -o "$scratch/by_pkg_config" \
  "${flags[@]}" -lm "-Wl,-rpath,$libdir"
run "$scratch/by_pkg_config"

if [ -x "$prefix/bin/kedge" ]; then
  echo "the command"
  run "$prefix/bin/kedge" --version
  grep -q "$(pkg-config --modversion kedge)" "$scratch/log" || fail "kedge --version and kedge.pc disagree"
  if [ -f "$build/kedge.1" ]; then
    [ -f "$prefix/share/man/man1/kedge.1" ] || fail "the man page is not installed"
  fi
  ln -s "$prefix/bin/kedge" "$scratch/link"
  run "$scratch/link" --version
  loader=$(ldd "$prefix/bin/kedge" | awk '$1 ~ /\/ld-/ { print $1 }')
  run "$loader" "$prefix/bin/kedge" --version

  echo "HDF5 is loaded for output alone"
  cd "$scratch"
  printf '[mesh]\ngenerate = square 2\n[boundary default]\ntype = dirichlet\nvalue = x\n' >p.ini
  solve=("$prefix/bin/kedge" solve p.ini -q -b host -t 1)
  run env LD_DEBUG=files "${solve[@]}"
  grep -q 'calling init: .*libkedge' log || fail "LD_DEBUG says nothing of libkedge"
  if grep -q hdf5 log; then fail "a solve without output loads HDF5"; fi
  run env LD_DEBUG=files "${solve[@]}" -o u.vtkhdf
  grep -q 'calling init: .*libhdf5' log || fail "LD_DEBUG says nothing of HDF5"
  [ -s u.vtkhdf ] || fail "no output"
  mkdir elsewhere
  ln -s "$libdir/libkedge.so.0" elsewhere
  run env LD_DEBUG=files LD_LIBRARY_PATH=elsewhere "${solve[@]}" -o v.vtkhdf
  grep -q 'calling init: elsewhere/libkedge' log || fail "the link was not taken"
  cmp u.vtkhdf v.vtkhdf || fail "through a link of the library the output is another"

  echo "without what calls HDF5, output is refused before the solve"
  rm "$libdir"/libkedge_hdf5.so.* u.vtkhdf v.vtkhdf
  sed -i 's/generate.*/file = missing.msh/' p.ini  # what is read after the check
  code=0
  "${solve[@]}" -o u.vtkhdf >log 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit code $code"
  path=$libdir/libkedge_hdf5.so.$(pkg-config --modversion kedge)
  needs="output files needs HDF5, by a file beside libkedge; loading them failed:"
  again="install kedge again, or HDF5's libraries"
  missing="$needs $path: cannot open shared object file: No such file or directory; $again"
  [ "$(cat log)" = "kedge: writing $missing" ] || fail "it says: $(cat log)"
  [ -z "$(find . -maxdepth 1 -name '*vtkhdf*')" ] || fail "something was written"
  sed -i 's/file.*/generate = square 2/' p.ini
  code=0
  "$prefix/bin/kedge" plan p.ini -q -b host -s output.file=u.vtkhdf >log 2>&1 || code=$?
  [ "$code: $(cat log)" = "1: kedge: writing $missing" ] || fail "plan says: $(cat log)"
  cat >read.c <<'END'
#include <kedge/kedge.h>
#include <stdio.h>
int main(void)
{
  int64_t n = 0;
  for (int i = 0; i < 2; ++i) {
    if (kedge_output_read(NULL, "u.vtkhdf", "Types", &n, NULL) != KEDGE_ERR_UNSUPPORTED) return 1;
    puts(kedge_context_error(NULL));
  }
}
END
  run "$cc" -std=c17 "${sanitize[@]}" read.c -o read "${flags[@]}" "-Wl,-rpath,$libdir"
  [ "$(./read | uniq)" = "reading $missing" ] || fail "reading says: $(./read)"

  echo "a file in its place that lacks the symbol is said, and closed before it is tried again"
  run "$cc" -shared -nostdlib -x c /dev/null -o "$path"
  [ "$(./read | uniq)" = "reading $needs $path: undefined symbol: kg_hdf5_open; $again" ] \
    || fail "reading says: $(./read)"
  LD_DEBUG=files ./read >log 2>&1
  [ "$(grep -c "calling fini: $path" log)" = 2 ] || fail "it was not closed each time: $(cat log)"

  echo "without its module the command says so"
  module=libkedge_command.so.$(pkg-config --modversion kedge)
  rm "$libdir/$module"
  code=0
  "$prefix/bin/kedge" --version >log 2>&1 || code=$?
  [ "$code" = 1 ] || fail "exit code $code"
  [ "$(cat log)" = "kedge: the command is in a file beside libkedge; loading them failed: $module: cannot open shared \
object file: No such file or directory; install kedge again, or the libraries that it needs" ] || fail "it says: $(cat log)"
fi
echo "installed and used"
