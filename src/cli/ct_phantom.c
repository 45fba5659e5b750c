/* motet ct phantom: exact line integrals of a head that is known, and the head itself. */
#include <stdio.h>

#include "ct_output.h"
#include "ct_views.h"
#include "words.h"

typedef struct phantom {
    run *r;
    motet_ct_views views;
    motet_ct_geometry *geometry;
    motet_ct_phantom head;
    motet_array *array;
    ct_output sinogram, truth;
} phantom;

/* The arrays are there one after the other. */
static int make(phantom *p, ct_output *out)
{
    run *r = p->r;
    const double begun = run_now();
    motet_status st = motet_array_create(r->context, MOTET_F32, 3, out->shape, &p->array);
    if (st == MOTET_OK)
        st = out->views ? motet_ct_phantom_project(p->geometry, &p->head, p->array)
                        : motet_ct_phantom_volume(p->geometry, &p->head, p->array);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    run_stage(r, out->views ? "project" : "sample", run_now() - begun);
    const int code = ct_output_fill(out, p->array);
    motet_array_free(p->array);
    p->array = NULL;
    return code;
}

static int begin(phantom *p)
{
    run *r = p->r;
    const args *a = r->args;
    run_output(r, args_text(a, "output"));
    run_output(r, args_text(a, "truth"));
    run_output(r, args_text(a, "png"));
    motet_ct_phantom_init(&p->head);
    p->head.radius = args_real(a, "radius", 0);
    p->head.value = args_real(a, "value", p->head.value);
    p->head.points = args_whole(a, "points", p->head.points);
    int code = ct_views_take(r, NULL, &p->views);
    if (!code) code = run_check_distinct(r);
    if (code) return code;
    const motet_status st = motet_ct_geometry_create(r->context, &p->views, &p->geometry);
    if (st != MOTET_OK) return run_fail(r, r->context, st);
    code = ct_output_sinogram(&p->sinogram, r, "output", &p->views);
    if (!code && args_given(a, "truth")) code = ct_output_volume(&p->truth, r, "truth", &p->views);
    return code;
}

static int all(phantom *p)
{
    run *r = p->r;
    int code = begin(p);
    if (code) return code;
    ct_views_tell(r, &p->views);
    if (p->truth.store) code = make(p, &p->truth);
    if (!code) code = make(p, &p->sinogram);
    ct_output *const outs[] = {&p->sinogram, &p->truth};
    if (!code) code = ct_output_commit(outs, p->truth.store ? 2 : 1);
    if (code) return code;
    ct_output_tell(&p->sinogram);
    if (!p->truth.store) return EXIT_OK;
    json_object_set_new(r->result, "truth_digest", json_string(p->truth.digest));
    if (r->talks) printf("truth     %s, digest %s\n", p->truth.path, p->truth.digest);
    return EXIT_OK;
}

int run_ct_phantom(const args *a)
{
    run r;
    int code = run_begin(&r, a);
    if (code) return code;
    phantom p = {.r = &r};
    code = all(&p);
    ct_output_free(&p.sinogram);
    ct_output_free(&p.truth);
    motet_array_free(p.array);
    motet_ct_geometry_free(p.geometry);
    motet_ct_views_release(r.context, &p.views);
    return run_end(&r, code);
}
