/* HDF5 through its plug-in (hdf5_plugin.h): finds it, loads it, lends it the file. */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/hdf5_plugin.h"

typedef struct hdf5_store {
    motet_store base;
    store_file file;
    void *library;
    const hdf5_plugin *plugin;
    hdf5_file *handle;
} hdf5_store;

static motet_status host_fail(motet_context *c, motet_status status, const char *source, int line,
                              const char *message)
{
    return fail_at(c, status, source, line, 0, "%s", message);
}

static motet_status host_read(void *file, uint64_t offset, size_t bytes, void *out)
{
    return file_read(file, (int64_t)offset, bytes, out);
}

static motet_status host_write(void *file, uint64_t offset, size_t bytes, const void *data)
{
    return file_write(file, (int64_t)offset, bytes, data);
}

static const hdf5_host host = {
    .fail = host_fail,
    .allocate = mem_zero,
    .release = mem_free,
    .read = host_read,
    .write = host_write,
};

/* The plug-in lies beside the code that calls it and nowhere else: no search path can put another
 * one in its place. */
static motet_status plugin_path(motet_context *c, char **out)
{
    enum { BYTES = 4096 };
    Dl_info info;
    struct link_map *map = NULL;
    const char *holder = NULL;
    char *self = mem_zero(c, BYTES);
    if (!self) return fail(c, MOTET_NO_MEMORY, "no memory for the path of the HDF5 plug-in");
    if (dladdr1((const void *)&host, &info, (void **)&map, RTLD_DL_LINKMAP) && map) {
        holder = map->l_name;
        /* The executable has no name here, and the one it was called by need not be a path. */
        if (!*holder && readlink("/proc/self/exe", self, BYTES - 1) > 0) holder = self;
    }
    motet_status st = MOTET_OK;
    if (!holder || !strchr(holder, '/')) {
        st = fail(c, MOTET_UNSUPPORTED, "the folder of the HDF5 plug-in cannot be found");
    } else {
        *out = mem_format(c, "%.*s/motet-plugins/hdf5.so", (int)(strrchr(holder, '/') - holder),
                          holder);
        if (!*out) st = fail(c, MOTET_NO_MEMORY, "no memory for the path of the HDF5 plug-in");
    }
    mem_free(c, self);
    return st;
}

/* Never unloaded: HDF5 leaves destructors with every thread that used it. */
static motet_status load(motet_context *c, const char *path, void **library,
                         const hdf5_plugin **plugin)
{
    char *name;
    TRY(plugin_path(c, &name));
    motet_status st = MOTET_OK;
    void *loaded = NULL;
    if (access(name, F_OK))
        TRY_GOTO(fail(c, MOTET_UNSUPPORTED,
                      "%s: reading and writing HDF5 needs the plug-in %s, which is not installed "
                      "(build Motet with libhdf5-dev)",
                      path, name));
    loaded = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!loaded) {
        const char *reason = dlerror();
        TRY_GOTO(fail(c, MOTET_UNSUPPORTED,
                      "%s: the HDF5 plug-in cannot be loaded (package libhdf5-103-1): %s", path,
                      reason ? reason : name));
    }
    const hdf5_plugin *table = dlsym(loaded, HDF5_PLUGIN_SYMBOL);
    if (!table || table->version != HDF5_PLUGIN_VERSION)
        TRY_GOTO(fail(c, MOTET_UNSUPPORTED,
                      "%s: the HDF5 plug-in %s belongs to another version of Motet", path, name));
    *library = loaded;
    *plugin = table;
    loaded = NULL;
out:
    if (loaded) dlclose(loaded);
    mem_free(c, name);
    return st;
}

static int probe(const unsigned char *head, size_t bytes, const char *path)
{
    static const unsigned char mark[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    (void)path;
    for (size_t offset = 0; head && offset + sizeof mark <= bytes; offset += 512)
        if (!memcmp(head + offset, mark, sizeof mark)) return 1; /* after a user block as well */
    return 0;
}

static hdf5_source source_of(hdf5_store *s)
{
    return (hdf5_source){.context = s->base.context,
                         .host = &host,
                         .path = s->base.path,
                         .file = &s->file,
                         .bytes = s->base.writing ? 0 : (uint64_t)s->file.size};
}

static motet_status open_hdf5(motet_store *store, const char *entry)
{
    hdf5_store *s = (hdf5_store *)store;
    TRY(load(store->context, store->path, &s->library, &s->plugin));
    TRY(file_open(store->context, store->path, &s->file));
    const hdf5_source source = source_of(s);
    return s->plugin->open(&source, entry, &store->info, &store->kind, &s->handle);
}

static motet_status create_hdf5(motet_store *store, const char *entry)
{
    hdf5_store *s = (hdf5_store *)store;
    TRY(load(store->context, store->path, &s->library, &s->plugin));
    TRY(file_begin(store->context, store->path, store->overwrite, &s->file));
    const hdf5_source source = source_of(s);
    return s->plugin->create(&source, entry ? entry : "/data", &store->info, &s->handle);
}

static motet_status read_hdf5(motet_store *store, const int64_t *first, const int64_t *count,
                              void *out)
{
    hdf5_store *s = (hdf5_store *)store;
    return s->plugin->read(s->handle, first, count, out);
}

static motet_status write_hdf5(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    hdf5_store *s = (hdf5_store *)store;
    return s->plugin->write(s->handle, first, count, rows);
}

static motet_status add_hdf5(motet_store *store, const char *entry, const motet_store_info *info,
                             const void *data)
{
    hdf5_store *s = (hdf5_store *)store;
    return s->plugin->add(s->handle, entry, info, data);
}

static motet_status text_hdf5(motet_store *store, const char *name, char *out, size_t bytes)
{
    hdf5_store *s = (hdf5_store *)store;
    return s->plugin->text(s->handle, name, out, bytes);
}

static motet_status set_text_hdf5(motet_store *store, const char *entry, const char *name,
                                  const char *text)
{
    hdf5_store *s = (hdf5_store *)store;
    return s->plugin->set_text(s->handle, entry, name, text);
}

static motet_status finish_hdf5(motet_store *store)
{
    hdf5_store *s = (hdf5_store *)store;
    TRY(s->plugin->finish(s->handle));
    return file_sync(&s->file);
}

static motet_status place_hdf5(motet_store *store)
{
    return file_place(&((hdf5_store *)store)->file);
}

static void close_hdf5(motet_store *store)
{
    hdf5_store *s = (hdf5_store *)store;
    if (s->handle) s->plugin->close(s->handle);
    file_close(&s->file);
    if (s->library) dlclose(s->library);
}

static motet_status entries_hdf5(motet_context *c, const char *path, char **names)
{
    void *library;
    const hdf5_plugin *plugin;
    TRY(load(c, path, &library, &plugin));
    store_file file = {0};
    motet_status st = file_open(c, path, &file);
    if (st == MOTET_OK) {
        const hdf5_source source = {
            .context = c, .host = &host, .path = path, .file = &file, .bytes = (uint64_t)file.size};
        st = plugin->entries(&source, names);
    }
    file_close(&file);
    dlclose(library);
    return st;
}

const store_format store_hdf5 = {
    .name = "hdf5",
    .endings = ".h5 .hdf5 .nxs",
    .bytes = sizeof(hdf5_store),
    .probe = probe,
    .open = open_hdf5,
    .create = create_hdf5,
    .read = read_hdf5,
    .write = write_hdf5,
    .finish = finish_hdf5,
    .place = place_hdf5,
    .close = close_hdf5,
    .add = add_hdf5,
    .text = text_hdf5,
    .set_text = set_text_hdf5,
    .entries = entries_hdf5,
};
