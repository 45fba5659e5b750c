/* What a command on views in space makes: an array of float32 in a file, and perhaps a picture of
 * one slice or view of it. */
#ifndef MOTET_CLI_CT_OUTPUT_H
#define MOTET_CLI_CT_OUTPUT_H

#include "run.h"

typedef struct ct_output {
    run *r;
    const char *path;
    motet_store *store, *png;
    int64_t shape[3]; /* of the array */
    int views;        /* they are (view, u, v); else slices (z, y, x) */
    int turned;       /* the file has (view, v, u) */
    int64_t slice;    /* of the picture, along axis 0 */
    double minimum, maximum, black, white;
    char digest[33];
} ct_output;

/* Begins the file of the flag `name` ("output"; and for it --png, of --slice) beside its place:
 * what can be refused without computing is refused here. An exit code. */
int ct_output_volume(ct_output *out, run *r, const char *name, const motet_ct_views *views);
int ct_output_sinogram(ct_output *out, run *r, const char *name, const motet_ct_views *views);
/* Writes the whole array, takes extent and digest, draws. */
int ct_output_fill(ct_output *out, motet_array *array);
/* Puts the files of all into their places, once all are whole. */
int ct_output_commit(ct_output *const outs[], int count);
/* The same for one whose file was written by the work itself: extent and picture are taken from the
 * file when it is in its place; there is no digest of its values. */
int ct_output_finish(ct_output *out);
/* Lines of the summary, and members of the report's result. */
void ct_output_tell(ct_output *out);
void ct_output_free(ct_output *out);

#endif
