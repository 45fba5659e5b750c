/* Sorts the entries of a bucket by key and makes one of those whose keys are equal.
 *
 * An entry is a key, which counts as unsigned, and words of a payload. Merge sort from the bottom
 * up (Knuth, The Art of Computer Programming 3, 5.2.4), which is stable: entries of one key stay in
 * the order in which they came. Sums are taken in 128 bits, so that their order never decides
 * whether one leaves the range. */
#ifndef MOTET_KERN_COMBINE_K_H
#define MOTET_KERN_COMBINE_K_H

#include "kern/k.h"

typedef enum k_combine_how {
    K_COMBINE_NONE,  /* all entries stay */
    K_COMBINE_SUM,   /* word by word */
    K_COMBINE_LOWEST /* of payloads, word by word, signed */
} k_combine_how;

typedef struct k_combine_args {
    const int64_t *span; /* of each bucket three words: its number, its first entry, how many */
    const int64_t *from; /* entries from number `first` on */
    int64_t *sorted, *work;
    int64_t first, width;
    /* Of each bucket two words: entries that are left, at the front of its part of `sorted`; and 1
     * + the place there of the first one whose sum leaves int64, 0: none does. */
    int64_t *left;
    k_combine_how how;
} k_combine_args;

K_FN void k_combine_copy(const int64_t *from, int64_t *to, int64_t words)
{
    for (int64_t i = 0; i < words; i++) to[i] = from[i];
}

/* Runs of `run` entries become runs of twice as many. */
K_FN void k_combine_merge(const int64_t *from, int64_t *to, int64_t n, int64_t run, int64_t width)
{
    for (int64_t begin = 0; begin < n; begin += 2 * run) {
        const int64_t middle = k_min_i64(begin + run, n), end = k_min_i64(begin + 2 * run, n);
        int64_t a = begin, b = middle;
        for (int64_t k = begin; k < end; k++) {
            const int second =
                a >= middle || (b < end && (uint64_t)from[b * width] < (uint64_t)from[a * width]);
            k_combine_copy(from + (second ? b++ : a++) * width, to + k * width, width);
        }
    }
}

/* The sum over n entries of one word. 1: it leaves int64. */
K_FN int k_combine_sum(const int64_t *word, int64_t n, int64_t width, int64_t *sum)
{
    uint64_t low = 0;
    int64_t high = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = word[i * width];
        low += (uint64_t)v;
        high += (v < 0 ? -1 : 0) + (low < (uint64_t)v ? 1 : 0);
    }
    *sum = (int64_t)low;
    return high != (low >> 63 ? -1 : 0);
}

K_FN int k_combine_less(const int64_t *a, const int64_t *b, int64_t width)
{
    for (int64_t w = 1; w < width; w++)
        if (a[w] != b[w]) return a[w] < b[w];
    return 0;
}

K_FN void k_combine_item(const k_combine_args *a, int64_t i, void *scratch)
{
    (void)scratch;
    const int64_t width = a->width, n = a->span[3 * i + 2];
    const int64_t at = (a->span[3 * i + 1] - a->first) * width;
    const int64_t *from = a->from + at;
    int64_t *sorted = a->sorted + at, *work = a->work + at;
    int passes = 0;
    for (int64_t run = 1; run < n; run *= 2) passes++;
    k_combine_copy(from, sorted, n * width);
    k_combine_copy(from, work, n * width); /* every element is written, whatever n is */
    for (int pass = 0; pass < passes; pass++) {
        int64_t *to = (passes - pass) % 2 ? sorted : work;
        k_combine_merge(pass ? (to == sorted ? work : sorted) : from, to, n, (int64_t)1 << pass,
                        width);
    }

    int64_t left = 0, bad = 0;
    for (int64_t begin = 0, end; begin < n; begin = end, left++) {
        const int64_t *first = sorted + begin * width;
        int64_t *to = sorted + left * width;
        const int64_t key = first[0];
        end = begin + 1;
        while (a->how != K_COMBINE_NONE && end < n && sorted[end * width] == key) end++;
        const int64_t *best = first;
        for (int64_t k = begin + 1; k < end && a->how == K_COMBINE_LOWEST; k++)
            if (k_combine_less(sorted + k * width, best, width)) best = sorted + k * width;
        to[0] = key;
        for (int64_t w = 1; w < width; w++) {
            int64_t word = best[w];
            if (a->how == K_COMBINE_SUM && k_combine_sum(first + w, end - begin, width, &word))
                bad = bad ? bad : left + 1;
            to[w] = word;
        }
    }
    a->left[2 * i] = left;
    a->left[2 * i + 1] = bad;
}

#endif
