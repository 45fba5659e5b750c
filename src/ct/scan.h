/* The inside of a scan. */
#ifndef MOTET_CT_SCAN_H
#define MOTET_CT_SCAN_H

#include <motet/ct.h>

#include "rt/op.h"

/* Frames of detector pixels in a store, whatever their order of axes. */
typedef struct scan_frames {
    motet_store *store;
    motet_store_info info;
    int64_t count, rows, columns;
    int transposed; /* frames are (u, v) rather than (v, u) */
    int single;     /* the store is one frame of two axes */
} scan_frames;

/* `single`: two axes are legal and mean one frame. */
motet_status scan_frames_open(motet_context *context, const char *path, const char *entry,
                              int single, scan_frames *out);
/* Detector rows [row, row + rows) of frames [first, first + count); a pixel of a frame then lies at
 * v * *stride_v + u * *stride_u, v counted from `row`, and a frame is rows * columns. */
motet_status scan_frames_read(scan_frames *frames, int64_t first, int64_t count, int64_t row,
                              int64_t rows, double *out);
void scan_frames_strides(const scan_frames *frames, int64_t rows, int64_t *stride_v,
                         int64_t *stride_u);
/* The bytes that raw frames may take at once, and views of so many pixels that are read at once,
 * when so many bytes are left on the host. */
int64_t scan_room(int64_t left);
int64_t scan_block(int64_t left, int64_t pixels, int64_t views);

/* Reading `count` views as an operation, also with arrays that are sizes only. */
enum { SCAN_RAW, SCAN_SINOGRAM, SCAN_COUNTERS, SCAN_DARK, SCAN_OPEN, SCAN_LIVE, SCAN_PORTS };
rt_op scan_normalise_op(const motet_array *const arrays[SCAN_PORTS], int64_t count);
/* Type, axes and shape of an array of it, for `rows` of the scan's rows. */
motet_type scan_port_shape(int port, int64_t scan_rows, int64_t columns, int64_t rows,
                           int64_t count, int *axes, int64_t shape[3]);
void scan_frames_close(scan_frames *frames);

struct motet_ct_scan {
    motet_context *context;
    motet_ct_scan_info info;
    char *path;
    scan_frames data;
    int64_t *frame_of_view; /* NULL: view k is frame k */
    double *angles;         /* radians */
    double *dark, *open;    /* (rows, columns): mean dark, mean flat less dark */
    int32_t *live;          /* (rows, columns, 2), see normalise.k.h */
    int line_integrals, nan_as_zero;
};

/* What a file turned out to hold, before anything is averaged: filled by dataexchange.c. */
typedef struct scan_parts {
    scan_frames flats, darks;         /* store NULL: none */
    int64_t *flat_index, *dark_index; /* frames of those stores; NULL: all, in order */
    int64_t flat_count, dark_count;   /* may lie in the scan's own store, which is closed once */
} scan_parts;

/* *found: the file begins as HDF5 does. */
motet_status scan_is_hdf5(motet_context *context, const char *path, int *found);
/* Opens /exchange or NXtomo; *found 0 when the file is neither (its only dataset may still be a
 * scan). */
motet_status scan_open_hdf5(motet_ct_scan *scan, const motet_ct_scan_options *options,
                            scan_parts *parts, int *found);

/* motet_ct_scan_read that gives the counts instead of warnings. */
motet_status scan_read(motet_ct_scan *scan, int64_t first, motet_array *sinogram, int64_t *clamped,
                       int64_t *broken);
void scan_warn(motet_ct_scan *scan, int64_t clamped, int64_t broken);

#endif
