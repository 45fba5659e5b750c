/* Lists of devices, as --devices takes them. */
#ifndef MOTET_CLI_DEVICE_LIST_H
#define MOTET_CLI_DEVICE_LIST_H

#include <stddef.h>

typedef struct device_item {
    const char *text;
    size_t length, name; /* bytes; of the name alone, without what follows an '@' or '=' */
    int fallback;        /* it stands behind the '/' */
    int out;             /* "-cuda:1", without the '-': taken out again */
} device_item;

/* The items of a list in turn; `*at` is the list in the beginning, and `*item` all 0. 0: there are
 * no more. */
int device_list_next(const char **at, device_item *item);
/* 1 if `item` is that name. */
int device_item_is(const device_item *item, const char *name);
/* 1 if it is a GPU's name: cuda, cuda:1, GPU-1f2e. */
int device_item_gpu(const device_item *item);
/* 1 if the list is well formed; whether there are such devices is the library's to tell. */
int device_list_good(const char *list);
/* 1 if the list is auto, with nothing but devices that are taken out again. */
int device_list_auto(const char *list);
/* 1 if the CPU is to work, and not as a fallback only. */
int device_list_cpu(const char *list);
/* 1 if a GPU is named. */
int device_list_gpus(const char *list);

#endif
