#!/bin/sh
# run.sh PROGRAM FILE: the example solves, says what it found, and writes FILE.
set -eu
rm -f "$2"
output=$("$1" "$2")
echo "$output"
echo "$output" | grep -q '^128 triangles of order 4 on '
echo "$output" | grep -q ': converged$'
echo "$output" | grep -Eq '^error of u [0-9.]+e-0[789], of q = grad u [0-9.]+e-0[6789], of u\* [0-9.]+e-(0[89]|10)$'
echo "$output" | grep -q '^hottest: u = 2.7182.. at (0.500, 1.000)$'
[ -s "$2" ]
[ "$(head -c 4 "$2" | tail -c 3)" = HDF ]
