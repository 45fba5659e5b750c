/* The pair from and to stores. */
#include "base/call.h"
#include "ct/disk/disk.h"

static motet_status run(motet_ct_geometry *g, motet_store *sinogram, motet_store *volume,
                        int to_volume)
{
    motet_array *pair[2];
    call one;
    call_begin(g->context, &one);
    motet_status st = ct_disk_pair(g, sinogram, volume, to_volume, pair);
    if (st == MOTET_OK) {
        st = to_volume ? motet_ct_backproject(g, pair[0], pair[1])
                       : motet_ct_project(g, pair[1], pair[0]);
        motet_array_free(pair[0]);
        motet_array_free(pair[1]);
    }
    return call_end(&one, st);
}

motet_status motet_ct_project_store(motet_ct_geometry *geometry, motet_store *volume,
                                    motet_store *sinogram)
{
    return run(geometry, sinogram, volume, 0);
}

motet_status motet_ct_backproject_store(motet_ct_geometry *geometry, motet_store *sinogram,
                                        motet_store *volume)
{
    return run(geometry, sinogram, volume, 1);
}
