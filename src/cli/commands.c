/* The table of commands and flags. Help, parsing, completion and docs/cli.md have no other source.
 */
#include "command.h"

#include <stddef.h>
#include <string.h>

#include "weights.h"

#define WHOLE_AT_LEAST(n) FLAG_WHOLE, 0, (n), 9e15
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const flag run_flags[] = {
    {"devices", 0, FLAG_DEVICES, 0, 0, 0, "LIST", "auto, cpu, cuda:N or a list such as cpu,cuda:0",
     "auto",
     "where to compute; auto: the GPUs if there are any, else the CPU; sim:N, a simulated device, "
     "is for tests"},
    {"weights", 0, FLAG_WEIGHTS, 0, 0, 0, "LIST",
     "one number of at least 0 for each device, such as 1,2.5 or 1,2;ct.filter=0,1 "
     "(" WEIGHTS_OPERATIONS ")",
     "equal",
     "the devices' parts of the work, in their order; also by operation: 1,2;ct.filter=0,1; never "
     "changes results"},
    {"memory", 0, FLAG_BYTES, 0, 0, 0, "BYTES",
     "whole bytes above 0, such as 4G or 512M (K M G T: powers of 1024)",
     "three quarters of what is free",
     "most memory on each device, such as 4G; the CPU's is the host's, as with --host-memory"},
    {"host-memory", 0, FLAG_BYTES, 0, 0, 0, "BYTES",
     "whole bytes above 0, such as 4G or 512M (K M G T: powers of 1024)", NULL,
     "most memory on the host, such as 16G"},
    {"threads", 0, FLAG_WHOLE, 0, 1, 4096, "N", "a whole number from 1 to 4096",
     "one per processor", "threads of the CPU; never changes results"},
    {"isa", 0, FLAG_CHOICE, 0, 0, 0, "auto|base|v3|v4", "auto, base, v3 or v4", "auto",
     "instruction set of the CPU; never changes results"},
    {"chunk", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", NULL,
     "rows computed at once; never changes results"},
    {"verify-fraction", 0, FLAG_REAL, 0, 0, 1, "F", "a fraction from 0 to 1", "0",
     "part of the chunks that another device computes once more; exit code 6 if bits differ"},
    END};

static const flag talk_flags[] = {
    {"progress", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "show progress even when standard error is no terminal"},
    {"quiet", 'q', FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL, "no summary and no progress"},
    END};

static const flag json_flags[] = {{"json", 0, FLAG_FILE, 0, 0, 0, "FILE",
                                   "a file, or - for standard output", NULL,
                                   "write a report of the run as JSON; - is standard output"},
                                  END};

static const flag overwrite_flags[] = {
    {"overwrite", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL, "replace outputs that exist"}, END};

const flag *const shared_flags[SHARED_GROUPS] = {ct_views_flags, run_flags, talk_flags, json_flags,
                                                 overwrite_flags};

#define OUTPUT_FILE "a path ending in .npy, .tif, .mha, .h5, .png or / for a folder of TIFF pages"
#define ENTRY                                                                                      \
    {                                                                                              \
        "entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /exchange/data",   \
            NULL, "dataset of an HDF5 file or member of an NPZ file"                               \
    }
#define RANGE                                                                                      \
    {                                                                                              \
        "range", 0, FLAG_INTERVAL, MAY_BE_AUTO, 0, 0, "LO:HI|auto",                                \
            "two numbers LO:HI with LO < HI, or auto", NULL,                                       \
            "values that become 0 and the highest integer; auto: minimum and maximum"              \
    }

static const flag verify_flags[] = {{"save", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", NULL,
                                     "write the digests, to compare with another machine's"},
                                    {"against", 0, FLAG_FILE, 0, 0, 0, "FILE",
                                     "a file made with --save", NULL,
                                     "compare with digests saved elsewhere"},
                                    END};

static const flag bench_flags[] = {
    {"columns", 0, FLAG_WHOLE, 0, 16, 8192, "N", "a whole number from 16 to 8192", "512",
     "columns of the detector and of a slice"},
    {"rows", 0, FLAG_WHOLE, 0, 1, 8192, "N", "a whole number from 1 to 8192", "32",
     "rows of the detector"},
    {"views", 0, FLAG_WHOLE, 0, 1, 100000, "N", "a whole number from 1 to 100000", "360", "views"},
    {"repeat", 0, FLAG_WHOLE, 0, 1, 1000, "N", "a whole number from 1 to 1000", "5",
     "timed runs of each case, after one warm-up; the least counts"},
    END};

#define COUNT_OF(name, most, initial, help)                                                        \
    {                                                                                              \
        name, 0, FLAG_WHOLE, 0, 1, most, "N", "a whole number from 1 to " #most, initial, help     \
    }

static const flag plan_flags[] = {
    COUNT_OF("views", 100000000, "the scan's, else 180", "views"),
    COUNT_OF("columns", 1000000, "the scan's, else 128", "columns of the detector"),
    COUNT_OF("rows", 1000000, "the scan's, else 128", "rows of the detector"),
    {"size", 0, FLAG_SIZE, 0, 1, 1e6, "NX[xNY]", "a number of voxels NX or NXxNY from 1 to 1000000",
     "the columns", "voxels of a slice"},
    {"pad", 0, FLAG_WHOLE, 0, 0, 1000000, "N", "a whole number of columns from 0 to 1000000", "0",
     "columns by which the filter continues each end"},
    {"slab", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", "chosen from memory",
     "rows that a reconstruction holds at once"},
    {"devices", 0, FLAG_TEXT, 0, 0, 0, "LIST", "a list such as cpu or cuda:0=80G,cuda:1=80G", "cpu",
     "devices to plan for, each perhaps with the memory that is free there; they need not exist"},
    {"weights", 0, FLAG_TEXT, 0, 0, 0, "LIST", "a list of numbers such as 1,2.5", "equal",
     "the devices' parts of the work, one number for each"},
    {"memory", 0, FLAG_BYTES, 0, 0, 0, "BYTES",
     "whole bytes above 0, such as 4G or 512M (K M G T: powers of 1024)",
     "three quarters of what is free",
     "most memory on each device, such as 4G; the CPU's is the host's, as with --host-memory"},
    {"host-memory", 0, FLAG_BYTES, 0, 0, 0, "BYTES",
     "whole bytes above 0, such as 4G or 512M (K M G T: powers of 1024)", NULL,
     "most memory on the host, such as 16G"},
    {"chunk", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", "chosen",
     "rows computed at once"},
    END};

static const flag info_flags[] = {ENTRY, END};

static const flag convert_flags[] = {
    ENTRY,
    {"out-entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /exchange/data",
     "/data", "dataset to write in an HDF5 file"},
    {"dtype", 0, FLAG_CHOICE, 0, 0, 0, "f32|f64|u8|u16|i32|i64", "f32, f64, u8, u16, i32 or i64",
     "the input's", "type of the values written"},
    RANGE,
    {"sinogram", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "swap the last two axes: (view, v, u) of TIFF, MHA and HDF5 and (view, u, v) of NPY"},
    END};

static const flag simulate_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE", "a path ending in .h5", NULL,
     "the scan, DataExchange HDF5"},
    {"views", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "180",
     "angles"},
    {"rows", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "4",
     "rows of the detector"},
    {"columns", 0, FLAG_WHOLE, 0, 1, 1000000, "N", "a whole number from 1 to 1000000", "128",
     "columns of the detector"},
    {"flats", 0, FLAG_WHOLE, 0, 0, 10000, "N", "a whole number from 0 to 10000", "10",
     "frames of the open beam"},
    {"darks", 0, FLAG_WHOLE, 0, 0, 10000, "N", "a whole number from 0 to 10000", "10",
     "frames without beam"},
    {"center", 0, FLAG_REAL, 0, -1e7, 1e7, "X", "a number of pixels", "(columns - 1) / 2",
     "column of the rotation axis, 0-based"},
    {"arc", 0, FLAG_REAL, 0, 1e-6, 36000, "DEGREES", "an angle from 1e-6 to 36000 degrees", "180",
     "from the first view to the last"},
    {"counts", 0, FLAG_REAL, 0, 0, 40000, "N", "a number from 0 to 40000", "20000",
     "mean counts of the open beam; 0: no noise"},
    {"pitch", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "0.05",
     "of the detector"},
    {"seed", 0, WHOLE_AT_LEAST(0), "N", "a whole number of at least 0", "0",
     "of the noise; the same seed gives the same scan"},
    END};

static const flag recon_flags[] = {
    {"output", 'o', FLAG_FILE, NEEDED, 0, 0, "FILE",
     "a path ending in .mha, .npy, .tif, .h5, or / for a folder of TIFF pages", NULL,
     "the volume: .mha .npy .tif .h5, or a folder of TIFF pages (ends in /); .h5 keeps the unit "
     "and what integers stand for"},
    {"png", 0, FLAG_FILE, 0, 0, 0, "FILE", "a path ending in .png", NULL,
     "picture of one slice, grey, row 0 on top; from the 0.5 to the 99.5 percentile of the "
     "values inside the circle"},
    {"slice", 0, WHOLE_AT_LEAST(0), "N", "a whole number of at least 0", "the middle",
     "slice of the picture, counted from the first reconstructed"},
    {"center", 0, FLAG_REAL, MAY_BE_AUTO, -1e7, 1e7, "X|auto", "a number of pixels, or auto",
     "auto", "column of the rotation axis, 0-based; auto: found from the middle rows"},
    {"rows", 0, FLAG_SPAN, 0, 0, 0, "A:B", "two whole numbers A:B with 0 <= A < B", "all",
     "detector rows A to B - 1"},
    {"angles", 0, FLAG_TEXT, 0, 0, 0, "START:STOP|FILE",
     "two angles in degrees START:STOP, or a file", "the scan's",
     "evenly spaced angles in degrees, both ends included; or a file, one angle a line or .npy"},
    {"entry", 0, FLAG_TEXT, 0, 0, 0, "NAME", "the name of a dataset, such as /data", NULL,
     "dataset with the views, of HDF5 that is neither DataExchange nor NXtomo, or member of an NPZ "
     "file"},
    {"flats", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's",
     "frames of the open beam (motet ct convert --entry takes a dataset out of HDF5)"},
    {"darks", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", "the scan's", "frames without beam"},
    {"line-integrals", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
     "the data are line integrals already: no flats, darks or logarithm"},
    {"window", 0, FLAG_CHOICE, 0, 0, 0, "ram-lak|shepp-logan|cosine|hamming|hann",
     "ram-lak, shepp-logan, cosine, hamming or hann", "ram-lak",
     "window on the ramp filter, sharp to smooth"},
    {"cutoff", 0, FLAG_REAL, NOT_ZERO, 0, 1, "F", "a fraction above 0, at most 1", "1",
     "part of the Nyquist frequency that passes"},
    {"pad", 0, FLAG_WHOLE, 0, 0, 1000000, "N", "a whole number of columns from 0 to 1000000", "0",
     "columns by which each end is continued with its edge value, for objects wider than the "
     "detector"},
    {"mask", 0, FLAG_REAL, MAY_BE_BARE | NOT_ZERO, 0, 10, "R", "a radius above 0, at most 10", "1",
     "voxels outside a circle become 0; R is its radius over half the slice's width"},
    {"size", 0, FLAG_SIZE, 0, 1, 1e6, "NX[xNY]", "a number of voxels NX or NXxNY from 1 to 1000000",
     "the columns", "voxels of a slice"},
    {"voxel", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "the pitch",
     "size of a voxel"},
    {"pitch", 0, FLAG_REAL, NOT_ZERO, 0, 1e9, "MM", "a length in mm above 0", "the scan's, else 1",
     "distance of two detector columns and of two rows"},
    {"dtype", 0, FLAG_CHOICE, 0, 0, 0, "f32|u16|u8", "f32, u16 or u8", "f32",
     "type of the values written"},
    RANGE,
    {"slab", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", "chosen from memory",
     "rows held at once; never changes results"},
    {"resume", 0, FLAG_FILE, 0, 0, 0, "FOLDER", "a folder", NULL,
     "keep what is finished in a folder, up to half of the free space there; the same command goes "
     "on from it after Ctrl-C, a kill or a full disk; removed when all is done"},
    {"supervise", 0, FLAG_CHOICE, 0, 0, 0, "auto|yes|no", "auto, yes or no", "auto",
     "compute in a process of its own and replace it, without losing what is finished, when it is "
     "killed, crashes or falls silent; auto: where a GPU is used"},
    END};

#define ALL (SHARED_RUN | SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE)

const command commands[] = {
    {.name = "ct", .help = "X-ray scans: look at, convert, simulate and reconstruct them"},
    {"ct info",
     "what a file is: format, shape, type, angles, flats, darks",
     NULL,
     {{"FILE", "a scan, volume or picture", 0, NULL}},
     info_flags,
     SHARED_JSON | SHARED_OVERWRITE,
     "motet ct info scan.h5",
     "tells views, rows, columns, angles and pixel size of a scan",
     run_ct_info},
    {"ct convert",
     "copy an array from one file format to another",
     "Rows are streamed: the array need not fit in memory. Values are kept as they are unless "
     "--dtype says otherwise; a conversion that would lose range needs --range.",
     {{"IN", "the array to read", 0, NULL}, {"OUT", OUTPUT_FILE, 0, NULL}},
     convert_flags,
     ALL,
     "motet ct convert volume.mha slices/ --dtype u16 --range auto",
     "a folder of 16-bit TIFF pages for viewers that want them",
     run_ct_convert},
    {"ct simulate",
     "make a scan of a Shepp-Logan head, to try things on",
     NULL,
     {{NULL, NULL, 0, NULL}},
     simulate_flags,
     ALL,
     "motet ct simulate -o scan.h5 --views 360 --columns 256",
     "a noisy scan with flats and darks, the same on every machine",
     run_ct_simulate},
    {"ct recon",
     "reconstruct a scan: filtered back-projection, slab by slab",
     "Reads counts, flats and darks, takes the logarithm, finds the rotation axis, filters and "
     "back-projects. Results are attenuation per mm. The volume has the same bits for any number "
     "of threads, device, chunk or slab. Row 0 of a slice is its smallest y; ASTRA and "
     "scikit-image put the largest there, so their slices are these upside down. For the other "
     "sense of rotation change the sign of the angles: --angles 0:-180.",
     {{"SCAN",
       "the scan: DataExchange or NXtomo HDF5; or views (view, row, column) in TIFF, a folder of "
       "pages, MHA or HDF5, or (view, column, row) in NPY",
       0, NULL}},
     recon_flags,
     ALL,
     "motet ct recon tooth.h5 -o tooth.mha --png tooth.png",
     "a volume that 3D Slicer and Fiji open, and a picture of its middle slice",
     run_ct_recon},
    {"ct check-geometry",
     "whether the geometry of a scan makes sense",
     NULL,
     {{NULL, NULL, 0, NULL}},
     NULL,
     SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE | SHARED_VIEWS,
     "motet ct check-geometry --sid 320 --sdd 512 --views 360 --detector 256x192 --pitch 1.25 "
     "--size 128 --voxel 1",
     "a circular cone beam scan of 128^3 voxels",
     run_ct_check_geometry},
    {"devices",
     "list the devices of this machine",
     NULL,
     {{NULL, NULL, 0, NULL}},
     NULL,
     SHARED_RUN | SHARED_JSON | SHARED_OVERWRITE,
     "motet devices",
     "names as --devices takes them",
     run_devices},
    {"plan",
     "print what an operation would take, without running it",
     "Devices, shares, chunks and peak memory for sizes given by flags or by a scan, whose data "
     "are not "
     "read. A plan that does not fit is refused with the least memory that would do.",
     {{"ENGINE", "ct", 0, "ct"},
      {"OPERATION", "project, backproject, filter or recon", 0, "project|backproject|filter|recon"},
      {"SCAN", "a scan whose sizes are meant", 1, NULL}},
     plan_flags,
     SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE,
     "motet plan ct recon scan.h5 --devices cuda:0=80G,cuda:1=80G --memory 2G",
     "how two GPUs would share a reconstruction within 2 GiB each",
     run_plan},
    {"verify",
     "check that every device, instruction set and thread count gives the same bits",
     "Runs a small fixed case of each engine everywhere and compares digests with those that "
     "Motet was released with. Exit code 6 if any differs.",
     {{NULL, NULL, 0, NULL}},
     verify_flags,
     ALL,
     "motet verify --against other-machine.txt",
     "this machine against one where motet verify --save other-machine.txt ran",
     run_verify},
    {"bench",
     "measure speed and how it grows with threads",
     "Each operation runs on one thread and on --threads (2 unless given), which take turns; the "
     "least "
     "time of each counts, as whatever else the machine does only adds to it. Unless --isa says "
     "otherwise, the instruction sets v4 and v3 are measured where the processor has them. The "
     "sizes are such that one run takes long enough to show how threads share the work.",
     {{"ENGINE", "the engine to measure: ct", 1, "ct"}},
     bench_flags,
     ALL,
     "motet bench ct --repeat 9",
     "projection, back-projection and reconstruction, by threads and instruction set",
     run_bench},
    {"completion",
     "print a completion script for a shell",
     NULL,
     {{"SHELL", "bash, zsh or fish", 0, "bash|zsh|fish"}},
     NULL,
     0,
     "motet completion bash > ~/.local/share/bash-completion/completions/motet",
     "the next shell completes commands, flags and choices",
     run_completion},
    {"help",
     "print help on a command",
     NULL,
     {{"COMMAND", "a command, such as ct", 1, NULL}, {"SUBCOMMAND", "such as recon", 1, NULL}},
     (const flag[]){{"markdown", 0, FLAG_SWITCH, 0, 0, 0, NULL, NULL, NULL,
                     "print all help as one Markdown page"},
                    END},
     0,
     "motet help ct recon",
     "the same as motet ct recon --help",
     run_help},
    {"version",
     "print the version",
     NULL,
     {{NULL, NULL, 0, NULL}},
     NULL,
     0,
     "motet version",
     "version, compiler and kind of build",
     run_version},
    {.name = NULL}};

const command *command_find(const char *name)
{
    for (const command *c = commands; c->name; c++)
        if (!strcmp(c->name, name)) return c;
    return NULL;
}

const char *command_word(const command *c)
{
    const char *space = strrchr(c->name, ' ');
    return space ? space + 1 : c->name;
}

int command_is_below(const command *c, const char *group)
{
    const size_t n = strlen(group);
    if (!n) return !strchr(c->name, ' ');
    return !strncmp(c->name, group, n) && c->name[n] == ' ' && !strchr(c->name + n + 1, ' ');
}

int command_is_group(const command *c)
{
    for (const command *other = commands; other->name; other++)
        if (command_is_below(other, c->name)) return 1;
    return 0;
}

int command_own_flags(const command *c)
{
    int n = 0;
    while (c->flags && c->flags[n].name) n++;
    return n;
}

const flag *command_flag(const command *c, int index)
{
    const int own = command_own_flags(c);
    if (index < own) return &c->flags[index];
    index -= own;
    for (int group = 0; group < SHARED_GROUPS; group++) {
        if (!(c->shared & (1u << group))) continue;
        const flag *f = shared_flags[group];
        for (; f->name; f++)
            if (index-- == 0) return f;
    }
    return NULL;
}
