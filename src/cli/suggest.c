/* "Did you mean": the candidate at the smallest edit distance (a swap of neighbours counts once).
 */
#include <string.h>

#include "args.h"

enum { LONGEST = 40 };

static int smaller(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, const char *b)
{
    const int n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    int rows[3][LONGEST + 1];
    for (int j = 0; j <= m; j++) rows[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = rows[i % 3], *before = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];
        now[0] = i;
        for (int j = 1; j <= m; j++) {
            const int change = before[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = smaller(change, smaller(before[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = smaller(now[j], two[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

const char *suggest(const char *word, const char *const *candidates)
{
    const char *best = NULL;
    const int length = (int)strlen(word);
    int nearest = 1 + (length > 2 ? (length + 1) / 3 : 0); /* further away is another word */
    for (int i = 0; candidates[i]; i++) {
        /* A beginning of at least three letters is as good as one mistake. */
        const int d = length >= 3 && !strncmp(word, candidates[i], strlen(word))
                          ? 1
                          : distance(word, candidates[i]);
        if (d < nearest) {
            nearest = d;
            best = candidates[i];
        }
    }
    return best;
}
