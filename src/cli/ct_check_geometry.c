/* motet ct check-geometry: whether a scan makes sense before it is run. */
#include <stdio.h>

#include "ct_views.h"

static int check_geometry(run *r)
{
    motet_ct_views v;
    motet_ct_geometry *geometry = NULL;
    int code = ct_views_take(r, NULL, &v);
    if (code) return code;
    code = run_check_distinct(r);
    const motet_status st = code ? MOTET_OK : motet_ct_geometry_create(r->context, &v, &geometry);
    if (st != MOTET_OK) code = run_fail(r, r->context, st);
    if (!code) ct_views_tell(r, &v);
    motet_ct_geometry_free(geometry);
    motet_ct_views_release(r->context, &v);
    return code;
}

int run_ct_check_geometry(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    code = check_geometry(&r);
    return run_end(&r, code);
}
