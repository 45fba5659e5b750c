/* The walker that other tests lean on, against closed forms. */
#include "support/ct_oracle.h"

/* Length of the segment within the box [low, high], in the world's unit. */
static double box_chord(const motet_ct_views *g, int64_t view, int64_t u, int64_t v,
                        const double low[3], const double high[3])
{
    const motet_ct_view *w = &g->view[view];
    double first = g->beam == MOTET_CT_BEAM_CONE ? 0.0 : -1e9, last = -first, size = 0.0;
    if (g->beam == MOTET_CT_BEAM_CONE) last = 1.0;
    for (int i = 0; i < 3; i++) {
        const double pixel = w->detector[i] +
                             ((double)u - 0.5 * (double)(g->columns - 1)) * g->pitch_u * w->u[i] +
                             ((double)v - 0.5 * (double)(g->rows - 1)) * g->pitch_v * w->v[i];
        const double from = g->beam == MOTET_CT_BEAM_CONE ? w->source[i] : pixel;
        const double along = g->beam == MOTET_CT_BEAM_CONE ? pixel - from : w->source[i];
        const double p = (low[i] - from) / along, q = (high[i] - from) / along;
        first = fmax(first, fmin(p, q));
        last = fmin(last, fmax(p, q));
        size += along * along;
    }
    return last > first ? (last - first) * sqrt(size) : 0.0;
}

/* A turned, shifted, stretched scene, so that no axis or unit can stand for another. */
static void rays_have_the_lengths_of_their_boxes(void **state)
{
    (void)state;
    for (int beam = 0; beam < 2; beam++) {
        motet_ct_views g;
        motet_ct_views_init(&g);
        g.beam = (motet_ct_beam)beam;
        g.nx = 7, g.ny = 5, g.nz = 4;
        g.voxel[0] = 0.5, g.voxel[1] = 0.9, g.voxel[2] = 1.3;
        g.centre[0] = 0.21, g.centre[1] = -0.3, g.centre[2] = 0.11;
        g.columns = 9, g.rows = 6, g.views = 5;
        g.pitch_u = 1.1, g.pitch_v = 0.7;
        motet_ct_view view[5];
        for (int k = 0; k < 5; k++) {
            view[k] = ct_oracle_circular(g.beam, 0.3 + 1.1 * k, k == 4 ? 0.9 : 12.0, 20.0);
            view[k].source[2] = 0.37;
        }
        g.view = view;
        float volume[7 * 5 * 4] = {0.0f};
        double low[3], high[3];
        const int64_t n[] = {7, 5, 4}, begin[] = {1, 2, 0}, end[] = {5, 4, 3};
        for (int i = 0; i < 3; i++) {
            low[i] = g.centre[i] + ((double)begin[i] - 0.5 * (double)n[i]) * g.voxel[i];
            high[i] = g.centre[i] + ((double)end[i] - 0.5 * (double)n[i]) * g.voxel[i];
        }
        for (int64_t z = begin[2]; z < end[2]; z++)
            for (int64_t y = begin[1]; y < end[1]; y++)
                for (int64_t x = begin[0]; x < end[0]; x++) volume[(z * 5 + y) * 7 + x] = 1.0f;
        double hit = 0.0;
        for (int64_t k = 0; k < 5; k++)
            for (int64_t u = 0; u < 9; u++)
                for (int64_t v = 0; v < 6; v++) {
                    const double got = ct_oracle_ray(&g, k, u, v, volume);
                    const double chord = box_chord(&g, k, u, v, low, high);
                    hit += chord;
                    if (!(fabs(got - chord) <= 1e-13 * 20.0))
                        fail_msg("beam %d view %d ray %d %d: %.17g, expected %.17g", beam, (int)k,
                                 (int)u, (int)v, got, chord);
                }
        assert_true(hit > 10.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rays_have_the_lengths_of_their_boxes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
