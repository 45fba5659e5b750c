/* What the readers of geometry files share: the file as text, and where its views go. */
#ifndef MOTET_CT_PATHS_READ_H
#define MOTET_CT_PATHS_READ_H

#include <motet/ct_paths.h>

typedef struct paths_file {
    motet_context *context;
    const char *path;
    const char *text; /* `bytes` of it, and a zero after them */
    size_t bytes;
    motet_ct_beam beam; /* for files that do not say */
    double pitch_u;     /* the caller's, to compare; 0: none */
} paths_file;

static inline double paths_degree(void) { return 0x1.1df46a2529d39p-6; } /* in radians */

/* Each fills what its file says of `out`, which comes with nothing but `size`: 0 is left where
 * the file does not say. `out->view` is the context's memory and is freed by the caller, after a
 * failure, too. BAD_DATA names path, place and reason. */
motet_status paths_read_json(const paths_file *file, motet_ct_views *out);
motet_status paths_read_astra(const paths_file *file, motet_ct_views *out);
motet_status paths_read_rtk(const paths_file *file, motet_ct_views *out);
motet_status paths_read_leap(const paths_file *file, motet_ct_views *out);

/* Room for `views` views in out->view, which becomes theirs; NO_MEMORY. */
motet_status paths_room(const paths_file *file, int64_t views, motet_ct_views *out,
                        motet_ct_view **view);

/* The number at *at, after blanks; *at moves past it. 0: there is none, or it is not finite. */
int paths_number(const char **at, double *out);
/* Bytes of the word at `at`, at most 20: for messages. */
int paths_word(const char *at);

#endif
