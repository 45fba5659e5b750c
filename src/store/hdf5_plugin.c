/* The plug-in's frame: its table, the guard around HDF5, errors, types. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "store/hdf5_inside.h"

/* HDF5 serialises its calls anyway; ours also keeps the settings of one scope from leaking into
 * another, and makes builds of HDF5 that are not thread safe usable. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

void hdf5_enter(hdf5_scope *scope)
{
    memset(scope, 0, sizeof *scope);
    pthread_mutex_lock(&one_at_a_time);
    scope->second = 1;
    H5Eauto_is_v2(H5E_DEFAULT, &scope->second);
    if (scope->second) {
        H5Eget_auto2(H5E_DEFAULT, &scope->second_print, &scope->print_user);
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    } else {
        H5Eget_auto1(&scope->first_print, &scope->print_user);
        H5Eset_auto1(NULL, NULL);
    }
    H5PLget_loading_state(&scope->filters);
    H5PLset_loading_state(0);
}

void hdf5_leave(const hdf5_scope *scope)
{
    H5PLset_loading_state(scope->filters);
    H5Eclear2(H5E_DEFAULT);
    if (scope->second)
        H5Eset_auto2(H5E_DEFAULT, scope->second_print, scope->print_user);
    else
        H5Eset_auto1(scope->first_print, scope->print_user);
    pthread_mutex_unlock(&one_at_a_time);
}

typedef struct reason {
    char text[200];
    int memory;
} reason;

static herr_t innermost(unsigned depth, const H5E_error2_t *error, void *user)
{
    reason *r = user;
    if (depth) return 0;
    snprintf(r->text, sizeof r->text, "%s", error->desc ? error->desc : "");
    r->memory = error->maj_num == H5E_RESOURCE && error->min_num == H5E_NOSPACE;
    return 0;
}

motet_status hdf5_fail_at(hdf5_file *file, motet_status status, int with_reason, const char *source,
                          int line, const char *format, ...)
{
    reason r = {"", 0};
    if (with_reason) H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &r);
    if (file->io != MOTET_OK) return file->io;
    if (r.memory) status = MOTET_NO_MEMORY;
    if (file->left_the_file) {
        status = MOTET_UNSUPPORTED;
        snprintf(r.text, sizeof r.text, "an external link leads out of the file");
    }
    char said[400], message[sizeof said + sizeof r.text + 4];
    va_list list;
    va_start(list, format);
    vsnprintf(said, sizeof said, format, list);
    va_end(list);
    snprintf(message, sizeof message, "%s%s%s", said, *r.text ? ": " : "", r.text);
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return file->source.host->fail(file->source.context, status, source, line, message);
}

char *hdf5_copy(hdf5_file *file, const char *text, size_t bytes)
{
    char *copy = file->source.host->allocate(file->source.context, bytes + 1);
    if (copy) memcpy(copy, text, bytes);
    return copy;
}

int hdf5_has_room(void)
{
    enum { ROOM = 8 << 20 };
    /* Not malloc: a block of that size changes how it treats all others. */
    void *block = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block != MAP_FAILED && !munmap(block, ROOM);
}

motet_status hdf5_file_new(const hdf5_source *source, hdf5_file **out)
{
    hdf5_file *file = source->host->allocate(source->context, sizeof *file);
    if (!file)
        return source->host->fail(source->context, MOTET_NO_MEMORY, __FILE__, __LINE__,
                                  "no memory for an open HDF5 file");
    file->source = *source;
    file->driver = file->file = file->dataset = file->type = H5I_INVALID_HID;
    *out = file;
    return MOTET_OK;
}

void hdf5_file_free(hdf5_file *file)
{
    if (!file) return;
    if (file->dataset >= 0) H5Dclose(file->dataset);
    if (file->type >= 0) H5Tclose(file->type);
    if (file->file >= 0) H5Fclose(file->file);
    hdf5_detach(file);
    if (file->driver >= 0) H5FDunregister(file->driver);
    const hdf5_source source = file->source;
    source.host->release(source.context, file->entry);
    source.host->release(source.context, file);
}

static herr_t refuse_external(const char *parent, const char *group, const char *child,
                              const char *object, unsigned *flags, hid_t access, void *user)
{
    (void)parent, (void)group, (void)child, (void)object, (void)flags, (void)access;
    ((hdf5_file *)user)->left_the_file = 1;
    return -1;
}

hid_t hdf5_link_access(hdf5_file *file, hid_t class_)
{
    const hid_t list = H5Pcreate(class_);
    if (list >= 0 && H5Pset_elink_cb(list, refuse_external, file) < 0) {
        H5Pclose(list);
        return H5I_INVALID_HID;
    }
    return list;
}

static hid_t half(H5T_order_t order)
{
    const hid_t type = H5Tcopy(H5T_IEEE_F32LE);
    if (type < 0) return type;
    if (H5Tset_fields(type, 15, 10, 5, 0, 10) < 0 || H5Tset_size(type, 2) < 0 ||
        H5Tset_ebias(type, 15) < 0 || H5Tset_order(type, order) < 0) {
        H5Tclose(type);
        return H5I_INVALID_HID;
    }
    return type;
}

hid_t hdf5_memory_type(store_kind kind)
{
    switch (kind) {
    case KIND_F32: return H5Tcopy(H5T_NATIVE_FLOAT);
    case KIND_F64: return H5Tcopy(H5T_NATIVE_DOUBLE);
    case KIND_F16: return half(H5Tget_order(H5T_NATIVE_FLOAT));
    case KIND_U8: return H5Tcopy(H5T_NATIVE_UINT8);
    case KIND_U16: return H5Tcopy(H5T_NATIVE_UINT16);
    case KIND_U32: return H5Tcopy(H5T_NATIVE_UINT32);
    case KIND_I8: return H5Tcopy(H5T_NATIVE_INT8);
    case KIND_I16: return H5Tcopy(H5T_NATIVE_INT16);
    case KIND_I32: return H5Tcopy(H5T_NATIVE_INT32);
    case KIND_I64: return H5Tcopy(H5T_NATIVE_INT64);
    case KIND_COUNT: break;
    }
    return H5I_INVALID_HID;
}

hid_t hdf5_stored_type(motet_type type)
{
    switch (type) {
    case MOTET_F32: return H5Tcopy(H5T_IEEE_F32LE);
    case MOTET_F64: return H5Tcopy(H5T_IEEE_F64LE);
    case MOTET_F16: return half(H5T_ORDER_LE);
    case MOTET_U8: return H5Tcopy(H5T_STD_U8LE);
    case MOTET_U16: return H5Tcopy(H5T_STD_U16LE);
    case MOTET_I32: return H5Tcopy(H5T_STD_I32LE);
    case MOTET_I64: return H5Tcopy(H5T_STD_I64LE);
    }
    return H5I_INVALID_HID;
}

static int same_as(hid_t type, hid_t other)
{
    const int same = other >= 0 && H5Tequal(type, other) > 0;
    if (other >= 0) H5Tclose(other);
    return same;
}

int hdf5_kind_of(hid_t type, store_kind *out)
{
    const H5T_class_t class_ = H5Tget_class(type);
    const size_t bytes = H5Tget_size(type);
    if (class_ == H5T_INTEGER) {
        const H5T_order_t order = H5Tget_order(type);
        if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) return 0;
        const int is_signed = H5Tget_sign(type) != H5T_SGN_NONE;
        if (bytes == 1)
            *out = is_signed ? KIND_I8 : KIND_U8;
        else if (bytes == 2)
            *out = is_signed ? KIND_I16 : KIND_U16;
        else if (bytes == 4)
            *out = is_signed ? KIND_I32 : KIND_U32;
        else if (bytes == 8 && is_signed)
            *out = KIND_I64;
        else
            return 0;
        return 1;
    }
    if (class_ != H5T_FLOAT) return 0;
    if (H5Tequal(type, H5T_IEEE_F32LE) > 0 || H5Tequal(type, H5T_IEEE_F32BE) > 0)
        *out = KIND_F32;
    else if (H5Tequal(type, H5T_IEEE_F64LE) > 0 || H5Tequal(type, H5T_IEEE_F64BE) > 0)
        *out = KIND_F64;
    else if (same_as(type, half(H5T_ORDER_LE)) || same_as(type, half(H5T_ORDER_BE)))
        *out = KIND_F16;
    else
        return 0;
    return 1;
}

MOTET_API extern const hdf5_plugin motet_hdf5_plugin;
const hdf5_plugin motet_hdf5_plugin = {
    .version = HDF5_PLUGIN_VERSION,
    .open = hdf5_open,
    .create = hdf5_create,
    .read = hdf5_read,
    .text = hdf5_text,
    .write = hdf5_write,
    .add = hdf5_add,
    .set_text = hdf5_set_text,
    .finish = hdf5_finish,
    .close = hdf5_close,
    .entries = hdf5_entries,
};
