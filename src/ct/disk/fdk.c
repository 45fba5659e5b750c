/* Filtered back-projection from and to stores. Views in space are filtered on the way. Those of
 * independent slices are filtered into a file first: a slice needs little of every view. */
#include "base/call.h"
#include "base/mem.h"
#include "ct/disk/disk.h"

static motet_status slices(motet_ct_geometry *g, const motet_ct_filter_options *options,
                           motet_array *const pair[2], const motet_store *beside)
{
    motet_context *c = g->context;
    motet_array *filtered = NULL;
    char *folder;
    TRY(ct_disk_folder(c, beside, &folder));
    motet_status st =
        rt_disk_scratch(c, folder, MOTET_F32, pair[0]->axes, pair[0]->shape, &filtered);
    mem_free(c, folder);
    if (st == MOTET_OK) st = ct_fbp_by_way_of(g, options, pair[0], filtered, pair[1]);
    motet_array_free(filtered);
    return st;
}

motet_status motet_ct_fdk_store(motet_ct_geometry *g, const motet_ct_fdk_options *options,
                                motet_store *sinogram, motet_store *volume)
{
    motet_array *pair[2];
    call one;
    call_begin(g->context, &one);
    motet_status st = ct_disk_pair(g, sinogram, volume, 1, pair);
    if (st == MOTET_OK) {
        st = g->beam ? motet_ct_fdk(g, options, pair[0], pair[1])
                     : slices(g, options ? &options->filter : NULL, pair, volume);
        motet_array_free(pair[0]);
        motet_array_free(pair[1]);
    }
    return call_end(&one, st);
}
