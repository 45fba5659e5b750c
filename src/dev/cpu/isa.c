/* The levels x86-64-v3 and v4 as the System V ABI supplement defines them, asked of CPUID. A level
 * counts only if the operating system keeps its registers (XGETBV); a virtual machine may offer
 * AVX-512 that the kernel does not save. */
#include "dev/cpu/isa.h"

#include "kern/kernel.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum {
    V2_1C =
        1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23, /* SSE3 SSSE3 CX16 SSE4 POPCNT */
    V3_1C = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29,     /* FMA MOVBE OSXSAVE AVX F16C */
    V3_7B = 1 << 3 | 1 << 5 | 1 << 8,                            /* BMI1 AVX2 BMI2 */
    EXTENDED_C = 1 << 0 | 1 << 5,                                /* LAHF LZCNT */
    STATE_AVX = 1 << 1 | 1 << 2,
    STATE_AVX512 = STATE_AVX | 1 << 5 | 1 << 6 | 1 << 7
};
#define V4_7B (1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31) /* AVX-512 F DQ CD BW VL */

static int has(unsigned value, unsigned bits) { return (value & bits) == bits; }

motet_isa isa_best(void)
{
    unsigned a, b, c, d, features;
    if (!__get_cpuid(1, &a, &b, &features, &d) || !has(features, V2_1C | V3_1C))
        return MOTET_ISA_BASE;
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    if (!has(low, STATE_AVX)) return MOTET_ISA_BASE;
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !has(c, EXTENDED_C)) return MOTET_ISA_BASE;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !has(b, V3_7B)) return MOTET_ISA_BASE;
    return has(b, V4_7B) && has(low, STATE_AVX512) ? MOTET_ISA_V4 : MOTET_ISA_V3;
}
#else
motet_isa isa_best(void) { return MOTET_ISA_BASE; }
#endif

int isa_index(motet_isa isa)
{
    const int index = (int)isa - (int)MOTET_ISA_BASE;
    return index < 0 || index >= K_ISAS ? K_BASE : index;
}

const char *motet_isa_text(motet_isa isa)
{
    static const char *const texts[] = {"auto", "base", "v3", "v4"};
    const unsigned i = (unsigned)isa;
    return i < sizeof texts / sizeof *texts ? texts[i] : "unknown";
}

int motet_isa_available(motet_isa isa)
{
    if (isa == MOTET_ISA_AUTO || isa == MOTET_ISA_BASE) return 1;
    return (isa == MOTET_ISA_V3 || isa == MOTET_ISA_V4) && isa <= isa_best();
}
