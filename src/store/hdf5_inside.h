/* The inside of the plug-in: the open file, the guard around every use of HDF5, its types. */
#ifndef MOTET_STORE_HDF5_INSIDE_H
#define MOTET_STORE_HDF5_INSIDE_H

#define H5_USE_110_API
#include <hdf5.h>

#include "store/hdf5_plugin.h"

enum {
    HDF5_NAMES = 65536,  /* entries listed of one file, at most */
    HDF5_GROUPS = 4096,  /* groups looked into */
    HDF5_DEPTH = 32,     /* of nesting */
    HDF5_TEXT = 1 << 20, /* bytes of one text attribute */
};

struct hdf5_file {
    hdf5_source source;
    hid_t driver, file, dataset;
    hid_t type; /* of elements in memory */
    motet_store_info info;
    int scalar; /* the dataset has no axes; `info` says one, of size 1 */
    int writing;
    struct hdf5_driver *opened; /* handed out to HDF5 and not given back */
    int abandoned;              /* what is still written is dropped */
    int left_the_file;          /* an external link was met */
    motet_status io;            /* the first failure of the file itself, OK: none */
    char *entry;                /* the dataset's path */
};

/* HDF5's settings are those of the process. Between enter and leave its printing of errors and its
 * loading of filters are off; leave puts back what was there. One caller at a time. */
typedef struct hdf5_scope {
    unsigned second; /* the form in which the host set its printing */
    H5E_auto1_t first_print;
    H5E_auto2_t second_print;
    void *print_user;
    unsigned filters;
} hdf5_scope;

void hdf5_enter(hdf5_scope *scope);
void hdf5_leave(const hdf5_scope *scope);

/* "path: message: HDF5's innermost reason" (the reason only if `reason`). Answers the file's own
 * failure, already recorded, if there was one. */
#define hdf5_fail(file, status, reason, ...)                                                       \
    hdf5_fail_at((file), (status), (reason), __FILE__, __LINE__, __VA_ARGS__)
motet_status hdf5_fail_at(hdf5_file *file, motet_status status, int reason, const char *source,
                          int line, const char *format, ...)
    __attribute__((format(printf, 6, 7), cold));

/* A handle without a file; hdf5_file_free closes whatever it holds by then. */
motet_status hdf5_file_new(const hdf5_source *source, hdf5_file **out);
void hdf5_file_free(hdf5_file *file);
/* 1 if memory for opening a file is there: libhdf5 1.10.8 writes to where it got none
 * (H5AC_create). */
int hdf5_has_room(void);
/* Property list of file access that reaches the source and nothing else; negative on failure. */
hid_t hdf5_access(hdf5_file *file);
/* Parts from what HDF5 may still hold of the file. */
void hdf5_detach(hdf5_file *file);
/* Property list for opening a dataset or link: external links are refused. */
hid_t hdf5_link_access(hdf5_file *file, hid_t class_);

/* The type of elements in memory, and as we store it. To be closed by the caller. */
hid_t hdf5_memory_type(store_kind kind);
hid_t hdf5_stored_type(motet_type type);
/* The kind that holds every value of a file's type; 0 if there is none. */
int hdf5_kind_of(hid_t type, store_kind *out);

char *hdf5_copy(hdf5_file *file, const char *text, size_t bytes); /* with a zero after it */

/* hdf5_list.c: datasets that hold numbers, '\n' after each. */
motet_status hdf5_list(hdf5_file *file, char **names, int64_t *count);

/* The plug-in's table, by part. */
motet_status hdf5_open(const hdf5_source *source, const char *entry, motet_store_info *info,
                       store_kind *kind, hdf5_file **out);
motet_status hdf5_read(hdf5_file *file, const int64_t *first, const int64_t *count, void *out);
motet_status hdf5_text(hdf5_file *file, const char *name, char *out, size_t bytes);
motet_status hdf5_entries(const hdf5_source *source, char **names);
motet_status hdf5_create(const hdf5_source *source, const char *entry, const motet_store_info *info,
                         hdf5_file **out);
motet_status hdf5_write(hdf5_file *file, int64_t first, int64_t count, const void *rows);
motet_status hdf5_add(hdf5_file *file, const char *entry, const motet_store_info *info,
                      const void *data);
motet_status hdf5_set_text(hdf5_file *file, const char *entry, const char *name, const char *text);
motet_status hdf5_finish(hdf5_file *file);
void hdf5_close(hdf5_file *file);

#endif
