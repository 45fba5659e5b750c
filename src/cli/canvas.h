/* A picture in colour to draw on: lines and discs with soft edges. */
#ifndef MOTET_CLI_CANVAS_H
#define MOTET_CLI_CANVAS_H

#include <stdint.h>

typedef struct canvas {
    int width, height;
    uint8_t *pixel; /* rows of RGB, row 0 on top */
} canvas;

typedef struct colour {
    uint8_t r, g, b;
    double opacity; /* 0 to 1 */
} colour;

/* A part of the canvas: nothing is drawn outside. Both ends of ranges are pixels' edges. */
typedef struct frame {
    int left, top, right, bottom;
} frame;

int canvas_create(canvas *c, int width, int height); /* white; 0: no memory */
void canvas_free(canvas *c);
/* Places in pixels, (0, 0) the outer corner of the first; they may be far outside, but finite. */
void canvas_line(canvas *c, const frame *f, double x0, double y0, double x1, double y1,
                 double width, colour paint);
void canvas_disc(canvas *c, const frame *f, double x, double y, double radius, colour paint);

#endif
