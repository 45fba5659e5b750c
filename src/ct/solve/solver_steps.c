/* The operations of a step, and how they get room on devices. */
#include "ct/operations.h"
#include "ct/solve/solver.h"

enum { BROUGHT_HOME, AT_HOME, WAYS };

static motet_status make_room_by(motet_array *a, int way)
{
    if (!a) return MOTET_OK;
    return way == AT_HOME ? rt_array_reside(a, RT_RESIDE_HOME) : motet_array_fetch(a);
}

/* What is at home gives way to an operation; an array that is written must fit a device, unless it
 * stays at home from now on. */
static motet_status make_room(ct_solver *s, int way)
{
    if (way == AT_HOME)
        log_text(s->context, MOTET_LOG_INFO, s->name,
                 "its arrays do not fit the devices: each "
                 "operation sends what it reads");
    TRY(make_room_by(s->x, way));
    for (int i = 0; i < CT_SOLVER_ARRAYS; i++) {
        TRY(make_room_by(s->voxels[i], way));
        TRY(make_room_by(s->rays[i], way));
    }
    return way == AT_HOME ? make_room_by(s->b, way) : MOTET_OK;
}

motet_status ct_solver_project(ct_solver *s, motet_array *volume, motet_array *sinogram)
{
    motet_status st = ct_project_anew(s->geometry, volume, sinogram);
    for (int way = BROUGHT_HOME; way < WAYS && st == MOTET_OVER_BUDGET; way++) {
        TRY(make_room(s, way));
        st = ct_project_anew(s->geometry, volume, sinogram);
    }
    return st;
}

motet_status ct_solver_backproject(ct_solver *s, motet_array *sinogram, motet_array *volume)
{
    motet_status st = ct_backproject_anew(s->geometry, sinogram, volume);
    for (int way = BROUGHT_HOME; way < WAYS && st == MOTET_OVER_BUDGET; way++) {
        TRY(make_room(s, way));
        st = ct_backproject_anew(s->geometry, sinogram, volume);
    }
    return st;
}

motet_status ct_solver_run(ct_solver *s, ct_vectors vectors, double *square)
{
    motet_status st = ct_vectors_run(vectors, square);
    for (int way = BROUGHT_HOME; way < WAYS && st == MOTET_OVER_BUDGET; way++) {
        TRY(make_room(s, way));
        st = ct_vectors_run(vectors, square);
    }
    return st;
}
