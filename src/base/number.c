/* Numbers as text, independent of the locale and of the thread's rounding mode. Reading: digits ×
 * 10^e in exact integers, rounded once. Printing: digits come from printf's exact decimal
 * expansion; the separator, whatever the locale made it, is skipped. */
#include "base/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int digit(char c) { return c >= '0' && c <= '9'; }

static const char *digits(const char *p)
{
    while (digit(*p)) p++;
    return p;
}

/* Length of a case-blind word at p, or 0. */
static size_t word(const char *p, const char *lower)
{
    size_t i = 0;
    for (; lower[i]; i++)
        if ((p[i] | 0x20) != lower[i]) return 0;
    return i;
}

/* End of the decimal number that begins at p (after the sign); p itself if there is none. */
static const char *decimal_end(const char *p)
{
    const char *whole = digits(p), *end = whole;
    if (*whole == '.') {
        const char *fraction = digits(whole + 1);
        if (whole == p && fraction == whole + 1) return p;
        end = fraction;
    } else if (whole == p) {
        return p;
    }
    if ((*end | 0x20) == 'e') {
        const char *power = end + 1 + (end[1] == '+' || end[1] == '-');
        if (digit(*power)) end = digits(power);
    }
    return end;
}

/* Numbers are read into an exact integer. 800 digits decide any rounding (a value half-way between
 * two doubles has at most 767); of what follows it only matters whether it is zero. */
enum { DIGITS = 800, WORDS = 192 };

typedef struct large {
    uint32_t word[WORDS]; /* least first */
    int count;
} large;

static void multiply_add(large *n, uint32_t factor, uint32_t addend)
{
    uint64_t carry = addend;
    for (int i = 0; i < n->count; i++) {
        carry += (uint64_t)n->word[i] * factor;
        n->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) n->word[n->count++] = (uint32_t)carry;
}

/* Answers the remainder. */
static uint32_t divide(large *n, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = n->count - 1; i >= 0; i--) {
        rest = rest << 32 | n->word[i];
        n->word[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (n->count && !n->word[n->count - 1]) n->count--;
    return (uint32_t)rest;
}

static void shift_words(large *n, int words)
{
    memmove(n->word + words, n->word, (size_t)n->count * sizeof *n->word);
    memset(n->word, 0, (size_t)words * sizeof *n->word);
    n->count += words;
}

static int bits_of(const large *n)
{
    return n->count ? 32 * n->count - __builtin_clz(n->word[n->count - 1]) : 0;
}

/* Bits [from, from + 64) of n, and whether one below is set. */
static uint64_t bits_from(const large *n, int from, int *below)
{
    uint64_t value = 0;
    for (int i = 0; i < n->count; i++) {
        const int at = 32 * i - from;
        if (at <= -32) {
            *below |= n->word[i] != 0;
        } else if (at < 0) {
            value |= n->word[i] >> -at;
            *below |= (n->word[i] & (((uint32_t)1 << -at) - 1)) != 0;
        } else if (at < 64) {
            value |= (uint64_t)n->word[i] << at;
        }
    }
    return value;
}

/* A binary format: bits of the significand, exponent of the least subnormal, largest exponent of
 * the first bit. */
typedef struct format {
    int precision, least, most;
} format;
static const format binary64 = {53, -1074, 1023}, binary32 = {24, -149, 127};

/* n × 2^exponent (a little more if `more`), rounded to nearest, ties to even: the bit pattern
 * without sign. A carry out of the significand moves on to the next exponent by itself, and at the
 * top to infinity. */
static uint64_t encode(const large *n, int exponent, int more, format f)
{
    const int top = bits_of(n) + exponent - 1; /* exponent of the first bit */
    const uint64_t infinite = (uint64_t)(2 * f.most + 1) << (f.precision - 1);
    if (!n->count) return 0;
    if (top > f.most) return infinite;
    int least = top - f.precision + 1; /* exponent of the last bit kept */
    if (least < f.least) least = f.least;
    const int from = least - exponent; /* first bit of n that is kept */
    uint64_t kept, half = 0;
    int below = more;
    if (from <= 0) {
        int none = 0;
        kept = bits_from(n, 0, &none) << -from;
    } else {
        int rest = 0;
        const uint64_t with_half = bits_from(n, from - 1, &rest);
        half = with_half & 1;
        kept = with_half >> 1;
        below |= rest;
    }
    const uint64_t biased = (uint64_t)(least - f.least); /* 0 for subnormals and the first binade */
    uint64_t pattern = kept + (biased << (f.precision - 1));
    if (half && (below || (kept & 1))) pattern++;
    return pattern;
}

/* The decimal number in [p, end), which the grammar has accepted. */
static uint64_t read_decimal(const char *p, const char *end, format f)
{
    large n = {.count = 0};
    int used = 0, more = 0, fraction = 0;
    int64_t exponent = 0;
    for (; p < end && (*p | 0x20) != 'e'; p++) {
        if (*p == '.') {
            fraction = 1;
            continue;
        }
        if (used < DIGITS) {
            if (n.count || *p != '0') used++;
            multiply_add(&n, 10, (uint32_t)(*p - '0'));
            exponent -= fraction;
        } else {
            more |= *p != '0';
            exponent += !fraction;
        }
    }
    if (p < end) { /* beyond 10^9 the text itself would have to be that long to matter */
        const int negative = p[1] == '-';
        int64_t written = 0;
        for (p += 1 + (negative || p[1] == '+'); p < end; p++)
            if (written < 100000000000) written = 10 * written + (*p - '0');
        exponent += negative ? -written : written;
    }
    if (!n.count) return 0;
    const int64_t size = used + exponent; /* n × 10^exponent < 10^size, and >= 10^(size - 1) */
    if (size > 310) return encode(&(large){{1}, 1}, 2000, 0, f);
    if (size < -330) return 0;
    /* 10^e = 5^e 2^e; 5^13 is the largest power in 32 bits. */
    enum { FIFTH = 1220703125 };
    int fives = (int)(exponent < 0 ? -exponent : exponent), power = (int)exponent;
    if (exponent < 0) {
        /* log2(5) < 2.33: the quotient keeps at least 64 bits. */
        const int words = (int)((double)fives * 2.33 / 32.0) + 3;
        shift_words(&n, words);
        power -= 32 * words;
        for (; fives >= 13; fives -= 13) more |= divide(&n, FIFTH) != 0;
        uint32_t rest = 1;
        while (fives-- > 0) rest *= 5;
        more |= divide(&n, rest) != 0;
    } else {
        for (; fives >= 13; fives -= 13) multiply_add(&n, FIFTH, 0);
        while (fives-- > 0) multiply_add(&n, 5, 0);
    }
    return encode(&n, power, more, f);
}

/* The value at `text` in double or float, rounded once; answers its length, 0 if there is none. */
static size_t parse(const char *text, double *value, float *narrow)
{
    const int negative = *text == '-';
    const char *p = text + (*text == '-' || *text == '+');
    const char *end = decimal_end(p);
    if (end == p) {
        const int infinite = word(p, "inf") != 0;
        size_t length = word(p, "infinity");
        if (!length) length = word(p, "inf");
        if (!length) length = word(p, "nan");
        if (!length) return 0;
        end = p + length;
        if (value) *value = infinite ? INFINITY : NAN;
        if (narrow) *narrow = infinite ? INFINITY : NAN;
    } else {
        if (value) {
            const uint64_t bits = read_decimal(p, end, binary64);
            memcpy(value, &bits, sizeof bits);
        }
        if (narrow) {
            const uint32_t bits = (uint32_t)read_decimal(p, end, binary32);
            memcpy(narrow, &bits, sizeof bits);
        }
    }
    if (value && negative) *value = -*value;
    if (narrow && negative) *narrow = -*narrow;
    return (size_t)(end - text);
}

double number_prefix(const char *text, const char **end)
{
    double value = 0;
    const size_t length = parse(text, &value, NULL);
    if (end) *end = text + length;
    return value;
}

int number_real(const char *text, double *out)
{
    double value;
    const size_t length = parse(text, &value, NULL);
    if (!length || text[length]) return 0;
    *out = value;
    return 1;
}

const char *number_natural(const char *p, uint64_t *out)
{
    if (!digit(*p)) return NULL;
    uint64_t value = 0;
    for (; digit(*p); p++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return NULL;
    *out = value;
    return p;
}

int number_whole(const char *text, int64_t *out)
{
    uint64_t size;
    const int negative = *text == '-';
    const char *end = number_natural(text + (negative || *text == '+'), &size);
    if (!end || *end || size > (uint64_t)INT64_MAX + (uint64_t)negative) return 0;
    *out = (int64_t)(negative ? 0 - size : size);
    return 1;
}

int number_bytes(const char *text, uint64_t *out)
{
    static const char units[] = "KMGT";
    uint64_t value;
    const char *end = number_natural(text, &value);
    if (!end) return 0;
    if (*end) {
        const char *unit = strchr(units, *end & ~0x20);
        if (!unit || !*unit || (end[1] && strcmp(end + 1, "iB"))) return 0;
        const int shift = 10 * (int)(unit - units + 1);
        if (value > UINT64_MAX >> shift) return 0;
        value <<= shift;
    }
    *out = value;
    return 1;
}

/* Significant digits without separator and trailing zeros, and the exponent of the first. */
typedef struct decimal {
    char digits[24];
    int count, exponent;
} decimal;

static decimal expand(double value, int count)
{
    char text[64];
    decimal d = {.count = 0};
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    const char *p = text;
    for (; *p != 'e'; p++)
        if (digit(*p)) d.digits[d.count++] = *p;
    d.exponent = atoi(p + 1);
    while (d.count > 1 && d.digits[d.count - 1] == '0') d.count--;
    return d;
}

/* Plain notation while the point is near (1e-4 ... 1e16), as most languages print. */
static const char *compose(const decimal *d, int negative, char out[NUMBER_TEXT])
{
    char *p = out;
    if (negative) *p++ = '-';
    if (d->exponent < -4 || d->exponent >= 16) {
        *p++ = d->digits[0];
        if (d->count > 1) *p++ = '.';
        for (int i = 1; i < d->count; i++) *p++ = d->digits[i];
        snprintf(p, (size_t)(NUMBER_TEXT - (p - out)), "e%c%02d", d->exponent < 0 ? '-' : '+',
                 abs(d->exponent));
        return out;
    }
    int place = d->exponent < 0 ? d->exponent : 0; /* power of ten to write next, counted down */
    if (d->exponent < 0) {
        *p++ = '0';
        *p++ = '.';
        for (; place < -1; place++) *p++ = '0';
    }
    for (int i = 0; i < d->count || i <= d->exponent; i++) {
        if (d->exponent >= 0 && i == d->exponent + 1) *p++ = '.';
        *p++ = i < d->count ? d->digits[i] : '0';
    }
    *p = 0;
    return out;
}

static int special(double value, char out[NUMBER_TEXT])
{
    if (value != value)
        strcpy(out, "nan");
    else if (isinf(value))
        strcpy(out, value < 0 ? "-inf" : "inf");
    else if (value == 0)
        strcpy(out, signbit(value) ? "-0" : "0");
    else
        return 0;
    return 1;
}

/* Up to `safe` digits survive decimal -> binary -> decimal, so trailing zeros of that many digits
 * are all there is to strip; not so for subnormals, which are tried from one digit up. */
const char *number_text(double value, char out[NUMBER_TEXT])
{
    if (special(value, out)) return out;
    const double size = fabs(value);
    for (int count = size < 2.3e-308 ? 1 : 15;; count++) {
        const decimal d = expand(size, count);
        compose(&d, value < 0, out);
        double back;
        if (count >= 17 || (parse(out, &back, NULL) && back == value)) return out;
    }
}

const char *number_text_f32(float value, char out[NUMBER_TEXT])
{
    if (special((double)value, out)) return out;
    const double size = fabs((double)value);
    for (int count = size < 1.2e-38 ? 1 : 6;; count++) {
        const decimal d = expand(size, count);
        compose(&d, value < 0, out);
        float back;
        if (count >= 9 || (parse(out, NULL, &back) && back == value)) return out;
    }
}
