/* Elementary functions with the same bits on every processor and compiler: only + - * / sqrt fma,
 * comparisons and integers. Branch-free, so that loops over them become vector code. Each states
 * its domain and error bound in units in the last place (ulp) of the result; the tests check both,
 * for float32 over every bit pattern.
 *
 * exact_f32.h: float32, suffix f as in C. exact_f64.h: float64, for phases and set-up tables. */
#ifndef MOTET_KERN_EXACT_H
#define MOTET_KERN_EXACT_H

#include "kern/bits.h"
#include "kern/convert.h"
#include "kern/exact_f32.h"
#include "kern/exact_f64.h"
#include "kern/exact_pow.h"

#endif
