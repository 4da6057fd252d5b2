#!/bin/sh
# Make every mesh of this folder anew with Gmsh (the committed ones: 4.8.4, those in space 4.15.2).
set -eu
cd "$(dirname "$0")"

mesh() { # mesh GEOMETRY OUTPUT OPTION...
  geometry=$1 output=$2
  shift 2
  gmsh -v 1 ${dimension--2} "$geometry.geo" "$@" -o "$output.msh"
}

mesh plate plate -format msh41
mesh lshape lshape -format msh41 -bin
mesh slit slit -format msh22

# One geometry in all four formats.
mesh inclusion inclusion41 -format msh41
gmsh -v 1 inclusion41.msh -save -format msh41 -bin -o inclusion41-binary.msh
gmsh -v 1 inclusion41.msh -save -format msh22 -o inclusion22.msh
gmsh -v 1 inclusion41.msh -save -format msh22 -bin -o inclusion22-binary.msh
gmsh -v 1 inclusion41.msh -part 3 -save -format msh41 -o inclusion41-parts.msh

# Other elements.
mesh quadrilaterals quadrilaterals -format msh41
mesh inclusion curved -order 2 -clscale 3 -format msh41

# In space.
dimension=-3
mesh heatsink heatsink -format msh41 -bin
mesh capacitor capacitor -format msh41 -bin
mesh fichera fichera -format msh41 -bin
