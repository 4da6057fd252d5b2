/// @file
/// Operators that take numbers of two types (kg_number) are compiled twice, host code and kernels:
/// with kg_real = double, and in the target `kedge_single` with kg_real = float. There the names
/// that KG_REAL() marks end with _single; all others are local to their file.
#pragma once

#ifdef KG_COMPILE_SINGLE
typedef float kg_real;
#define KG_REAL(name) name##_single
#else
typedef double kg_real;
#define KG_REAL(name) name
#endif
