/* The flags that say where views are, in degrees and mm; all commands on such geometries have them.
 */
#include <stddef.h>

#include "command.h"

#define LENGTH_ABOVE_0 FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0"
#define LENGTH         FLAG_REAL, 0, -1e9, 1e9, "MM", "a length in mm"
#define DEGREES        FLAG_REAL, 0, -1e6, 1e6, "DEGREES", "an angle in degrees"

const flag ct_views_flags[] = {
    {"geometry", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", NULL,
     "where source and detector are, from a file: Motet's JSON, ASTRA vectors (.npy or text), RTK "
     "XML, LEAP parameters; in place of --path and what belongs to it; what it says must agree "
     "with "
     "the input"},
    {"geometry-format", 0, FLAG_CHOICE, 0, 0, 0, "auto|motet|astra|rtk|leap",
     "auto, motet, astra, rtk or leap", "auto", "what wrote that file"},
    {"path", 0, FLAG_CHOICE, 0, 0, 0, "circular|helical|saddle|sinusoidal|random",
     "circular, helical, saddle, sinusoidal or random", "circular",
     "how source and detector move about the z axis; at angle t the source is at sid (sin t, -cos "
     "t, 0), u along (cos t, sin t, 0), v along z"},
    {"beam", 0, FLAG_CHOICE, 0, 0, 0, "cone|parallel", "cone or parallel", "cone",
     "cone: rays from a point (a fan, of one row); parallel: all along one direction; of a file, "
     "too, "
     "where it does not say"},
    {"views", 0, FLAG_WHOLE, 0, 1, 1073741824, "N", "a whole number from 1 to 1073741824",
     "the input's", "how many views"},
    {"arc", 0, DEGREES, "360, parallel 180",
     "angles of the views, evenly spaced from --start on, the end excluded; negative: the other "
     "way "
     "round"},
    {"angles", 0, FLAG_TEXT, 0, 0, 0, "START:STOP|FILE",
     "two angles in degrees START:STOP, or a file", "a scan's own, else by --arc",
     "in place of --arc and --start: evenly spaced angles in degrees, both ends included; or a "
     "file, one angle a line or .npy"},
    {"start", 0, DEGREES, "0", "angle of the first view"},
    {"sid", 0, LENGTH_ABOVE_0, NULL, "source to axis; cone beams need it"},
    {"sdd", 0, LENGTH_ABOVE_0, NULL, "source to detector; cone beams need it"},
    {"rise", 0, LENGTH, "0", "of a helix, in one turn; its middle is at z = 0"},
    {"amplitude", 0, LENGTH, "0", "of a saddle's or sinusoid's height"},
    {"periods", 0, FLAG_REAL, 0, -100, 100, "N", "a number from -100 to 100", "1",
     "of a sinusoid, in one turn"},
    {"path-seed", 0, FLAG_WHOLE, 0, 0, 9e15, "N", "a whole number of at least 0", "0",
     "of random directions"},
    {"detector", 0, FLAG_SIZE, 0, 1, 1073741824, "NU[xNV]", "a number of pixels NU or NUxNV",
     "the input's", "columns and rows of the detector"},
    {"pitch", 0, FLAG_REALS, NOT_ZERO, 0, 1e9, "P[xQ]", "lengths in mm above 0",
     "a voxel's size on the detector", "from one column, one row to the next"},
    {"shift-u", 0, LENGTH, "0", "of the detector, in mm along its columns' axis u"},
    {"shift-v", 0, LENGTH, "0", "of the detector, in mm along its rows' axis v"},
    {"tilt", 0, DEGREES, "0", "of the detector about its normal, from u towards v's opposite"},
    {"size", 0, FLAG_SIZES, 0, 1, 1073741824, "N[xNxN]", "numbers of voxels NX or NXxNYxNZ",
     "the input's; columns x columns x rows", "voxels of the volume along x, y and z"},
    {"voxel", 0, FLAG_REALS, NOT_ZERO, 0, 1e9, "V[xVxV]", "lengths in mm above 0",
     "the input's; the pitch seen at the axis", "size of a voxel along x, y and z"},
    {"offset", 0, FLAG_REALS, 0, -1e9, 1e9, "X,Y,Z", "three lengths X,Y,Z in mm", "0,0,0",
     "where the volume's middle is"},
    {.name = NULL}};
