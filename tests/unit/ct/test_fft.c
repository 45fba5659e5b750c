/* The transforms against a naive one in float64. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ct/fft.h"
#include "ct/fft.k.h"
#include "support/support.h"

static const double pi = 3.14159265358979323846;

static float *turns(int bits) /* as fft.k.h wants them for 2^bits complex values */
{
    const size_t count = (size_t)4 << bits;
    double *wide = malloc(sizeof(double) * count);
    float *narrow = malloc(sizeof(float) * count);
    ct_fft_turns(wide, bits + 1);
    for (size_t i = 0; i < count; i++) narrow[i] = (float)wide[i];
    free(wide);
    return narrow;
}

/* Forward is the transform in bit-reversed order to 1e-6; inverse brings back count times the data.
 */
static void transforms_and_returns(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int bits = 1; bits <= 10; bits++) {
        const int64_t count = (int64_t)1 << bits;
        float *turn = turns(bits), *data = malloc(sizeof(float) * 2 * (size_t)count);
        float *kept = malloc(sizeof(float) * 2 * (size_t)count);
        for (int64_t i = 0; i < 2 * count; i++)
            kept[i] = data[i] = (float)test_uniform(&seed, -1.0, 1.0);
        ct_fft_forward(1, data, bits, turn);
        for (int64_t k = 0; k < count; k++) {
            double re = 0.0, im = 0.0;
            for (int64_t n = 0; n < count; n++) {
                const double angle = -2.0 * pi * (double)(k * n % count) / (double)count;
                const double a = (double)kept[2 * n], b = (double)kept[2 * n + 1];
                re += a * cos(angle) - b * sin(angle);
                im += a * sin(angle) + b * cos(angle);
            }
            const float *got = data + 2 * ct_reversed(k, bits);
            const double scale = 1e-6 * sqrt((double)count) + 1e-6;
            assert_true(fabs((double)got[0] - re) < scale && fabs((double)got[1] - im) < scale);
        }
        ct_fft_inverse(1, data, bits, turn);
        for (int64_t i = 0; i < 2 * count; i++)
            assert_true(fabs((double)(data[i] / (float)count) - (double)kept[i]) < 1e-6);
        free(turn);
        free(data);
        free(kept);
    }
}

/* A lane has the same bits alone as among sixteen others, whatever those hold. */
static void lanes_are_strangers(void **state)
{
    (void)state;
    enum { LANES = 16 };
    uint64_t seed = 9;
    for (int bits = 1; bits <= 9; bits++) {
        const int64_t values = (int64_t)2 << bits;
        float *turn = turns(bits), *many = malloc(sizeof(float) * LANES * (size_t)values);
        float *one = malloc(sizeof(float) * LANES * (size_t)values);
        float *response = malloc(sizeof(float) * (size_t)values);
        for (int64_t i = 0; i < values; i++) response[i] = (float)test_uniform(&seed, 0.0, 1.0);
        for (int64_t n = 0; n < values; n++)
            for (int l = 0; l < LANES; l++)
                many[n * LANES + l] = one[l * values + n] =
                    l == 3 ? NAN : (float)test_uniform(&seed, -1.0, 1.0) * (l == 5 ? 1e30f : 1.0f);
        ct_fft_forward(LANES, many, bits, turn);
        ct_fft_respond(LANES, many, bits, turn, response);
        ct_fft_inverse(LANES, many, bits, turn);
        for (int l = 0; l < LANES; l++) {
            if (l == 3) continue;
            float *row = one + l * values;
            ct_fft_forward(1, row, bits, turn);
            ct_fft_respond(1, row, bits, turn, response);
            ct_fft_inverse(1, row, bits, turn);
            for (int64_t n = 0; n < values; n++)
                assert_memory_equal(&row[n], &many[n * LANES + l], sizeof(float));
        }
        free(turn);
        free(many);
        free(one);
        free(response);
    }
}

/* The response multiplies the spectrum of the real sequence: against the naive transform. */
static void responds_to_real_sequences(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int bits = 1; bits <= 7; bits++) {
        const int64_t length = (int64_t)2 << bits, half = length / 2;
        float *turn = turns(bits), *data = malloc(sizeof(float) * (size_t)length);
        float *response = malloc(sizeof(float) * (size_t)(half + 1));
        double *kept = malloc(sizeof(double) * (size_t)length);
        for (int64_t n = 0; n < length; n++)
            kept[n] = (double)(data[n] = (float)test_uniform(&seed, -1.0, 1.0));
        for (int64_t k = 0; k <= half; k++) response[k] = (float)test_uniform(&seed, -1.0, 1.0);
        ct_fft_forward(1, data, bits, turn);
        ct_fft_respond(1, data, bits, turn, response);
        ct_fft_inverse(1, data, bits, turn);
        for (int64_t n = 0; n < length; n++) {
            double sum = 0.0; /* convolution with the response's own transform */
            for (int64_t m = 0; m < length; m++)
                for (int64_t k = 0; k < length; k++)
                    sum += kept[m] * (double)response[k <= half ? k : length - k] *
                           cos(2.0 * pi * (double)(k * (n - m + length) % length) / (double)length);
            assert_true(fabs((double)(data[n] / (4.0f * (float)half)) - sum / (double)length) <
                        2e-6);
        }
        free(turn);
        free(data);
        free(response);
        free(kept);
    }
}

/* The float64 transform for tables: naive to 1e-12. */
static void tables_are_transformed_in_float64(void **state)
{
    (void)state;
    uint64_t seed = 6;
    double data[128], kept[128], turn[128];
    for (int i = 0; i < 128; i++) kept[i] = data[i] = test_uniform(&seed, -1.0, 1.0);
    ct_fft_turns(turn, 6);
    ct_fft_f64(data, 6, turn);
    for (int k = 0; k < 64; k++) {
        double re = 0.0, im = 0.0;
        for (int n = 0; n < 64; n++) {
            const double angle = -2.0 * pi * (k * n % 64) / 64.0;
            re += kept[2 * n] * cos(angle) - kept[2 * n + 1] * sin(angle);
            im += kept[2 * n] * sin(angle) + kept[2 * n + 1] * cos(angle);
        }
        assert_true(fabs(data[2 * k] - re) < 1e-12 && fabs(data[2 * k + 1] - im) < 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(transforms_and_returns),
                                       cmocka_unit_test(lanes_are_strangers),
                                       cmocka_unit_test(responds_to_real_sequences),
                                       cmocka_unit_test(tables_are_transformed_in_float64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
