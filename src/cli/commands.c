/* The table of commands and flags. Help, parsing, completion and docs/cli.md have no other source.
 */
#include "command.h"

#include <stddef.h>

#include "ct_flags.h"
#include "weights.h"

#define WHOLE_AT_LEAST(n) FLAG_WHOLE, 0, (n), 9e15
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }

static const flag run_flags[] = {
    {"devices", 0, FLAG_DEVICES, 0, 0, 0, "LIST", "auto, cpu, cuda, or a list such as cpu,cuda:0",
     "auto",
     "where to compute: cpu, cuda:N, GPU-UUID (its beginning), cuda (all GPUs), or several with "
     "commas; what stands behind a / computes only what the others decline or leave: cuda:0/cpu; "
     "-cuda:1 leaves one out; auto: cuda/cpu if there are GPUs, else cpu; sim:N, a simulated "
     "device, is for tests"},
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

const shared_group shared_groups[SHARED_GROUPS] = {
    {ct_views_flags, "geometry"}, {ct_scan_flags, "scan"}, {run_flags, "common"},
    {talk_flags, "common"},       {json_flags, "common"},  {overwrite_flags, "common"}};

#define OUTPUT_FILE "a path ending in .npy, .tif, .mha, .h5, .png or / for a folder of TIFF pages"

static const flag verify_flags[] = {{"save", 0, FLAG_FILE, 0, 0, 0, "FILE", "a file", NULL,
                                     "write the digests, to compare with another machine's"},
                                    {"against", 0, FLAG_FILE, 0, 0, 0, "FILE",
                                     "a file made with --save", NULL,
                                     "compare with digests saved elsewhere"},
                                    END};

static const flag bench_flags[] = {
    {"columns", 0, FLAG_WHOLE, 0, 16, 8192, "N", "a whole number from 16 to 8192", "512",
     "columns of the detector and of a slice, of a parallel beam"},
    {"rows", 0, FLAG_WHOLE, 0, 1, 8192, "N", "a whole number from 1 to 8192", "32",
     "rows of the detector, of a parallel beam"},
    {"views", 0, FLAG_WHOLE, 0, 1, 100000, "N", "a whole number from 1 to 100000", "360", "views"},
    {"size", 0, FLAG_WHOLE, 0, 8, 1024, "N", "a whole number from 8 to 1024", "128",
     "voxels along each axis of the volume that a cone beam sees"},
    {"repeat", 0, FLAG_WHOLE, 0, 1, 1000, "N", "a whole number from 1 to 1000", "5",
     "timed runs of each case, after one warm-up; the least counts"},
    END};

#define COUNT_OF(name, most, initial, help)                                                        \
    {                                                                                              \
        name, 0, FLAG_WHOLE, 0, 1, most, "N", "a whole number from 1 to " #most, initial, help     \
    }

static const flag plan_flags[] = {
    COUNT_OF("columns", 1000000, "the scan's, else 128", "columns of the detector, of slices"),
    COUNT_OF("rows", 1000000, "the scan's, else 128", "rows of the detector, of slices"),
    {"pad", 0, FLAG_WHOLE, 0, 0, 1000000, "N", "a whole number of columns from 0 to 1000000", "0",
     "columns by which the filter continues each end"},
    {"slab", 0, WHOLE_AT_LEAST(1), "ROWS", "a whole number of at least 1", "chosen from memory",
     "rows that a reconstruction holds at once"},
    {"devices", 0, FLAG_TEXT, 0, 0, 0, "LIST", "a list such as cpu or cuda:0=80G,cuda:1=80G",
     "auto",
     "devices to plan for, as a run takes them, with what is free and held there now; or, each "
     "perhaps with the memory that is free there, some that need not exist"},
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

#define SCAN_FILE                                                                                  \
    "line integrals (--line-integrals) or counts: (view, row, column) in TIFF, a folder of "       \
    "pages, MHA or HDF5, (view, column, row) in NPY; or DataExchange or NXtomo HDF5"
#define ALL (SHARED_RUN | SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE)

const command commands[] = {
    {.name = "ct", .help = "X-ray scans: look at, convert, simulate and reconstruct them"},
    {"ct info",
     "what a file is: format, shape, type, angles, flats, darks",
     NULL,
     {{"FILE", "a scan, volume or picture", 0, NULL}},
     ct_info_flags,
     SHARED_JSON | SHARED_OVERWRITE,
     "motet ct info scan.h5",
     "tells views, rows, columns, angles and pixel size of a scan",
     run_ct_info},
    {"ct convert",
     "copy an array from one file format to another",
     "Rows are streamed: the array need not fit in memory. Values are kept as they are unless "
     "--dtype says otherwise; a conversion that would lose range needs --range.",
     {{"IN", "the array to read", 0, NULL}, {"OUT", OUTPUT_FILE, 0, NULL}},
     ct_convert_flags,
     ALL,
     "motet ct convert volume.mha slices/ --dtype u16 --range auto",
     "a folder of 16-bit TIFF pages for viewers that want them",
     run_ct_convert},
    {"ct simulate",
     "make a scan of a Shepp-Logan head, to try things on",
     NULL,
     {{NULL, NULL, 0, NULL}},
     ct_simulate_flags,
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
     ct_recon_flags,
     ALL,
     "motet ct recon tooth.h5 -o tooth.mha --png tooth.png",
     "a volume that 3D Slicer and Fiji open, and a picture of its middle slice",
     run_ct_recon},
    {"ct phantom",
     "make exact line integrals of a known head, to try a geometry on",
     "The Shepp-Logan head in three dimensions: ten ellipsoids, whose line integrals are known in "
     "closed form. --truth writes what a reconstruction should find.",
     {{NULL, NULL, 0, NULL}},
     ct_phantom_flags,
     ALL | SHARED_VIEWS,
     "motet ct phantom -o views.npy --truth head.mha --sid 160 --sdd 256 --views 180 --detector "
     "128x96 --pitch 1.25 --size 64 --voxel 1",
     "a circular cone beam around 64^3 voxels",
     run_ct_phantom},
    {"ct project",
     "line integrals of a volume along the rays of any geometry",
     "Exact for volumes that are constant in each voxel (Siddon). Where source and detector are "
     "follows from the geometry flags or from a file. The same bits for any device, threads or "
     "chunk.",
     {{"VOLUME", "the volume (z, y, x): .mha .npy .npz .tif .h5 or a folder of pages", 0, NULL}},
     ct_project_flags,
     ALL | SHARED_VIEWS,
     "motet ct project head.mha -o views.npy --sid 320 --sdd 512 --views 360 --detector 256x192 "
     "--pitch 1.25",
     "360 views of a circular cone beam",
     run_ct_project},
    {"ct backproject",
     "the transpose of ct project: line integrals spread over a volume",
     "The exact transpose, without filter or weights; motet ct fdk reconstructs.",
     {{"SCAN", SCAN_FILE, 0, NULL}},
     ct_backproject_flags,
     ALL | SHARED_VIEWS | SHARED_SCAN,
     "motet ct backproject views.npy -o back.mha --line-integrals --sid 320 --sdd 512 --pitch 1.25 "
     "--size 128",
     "what an iterative method of one's own needs beside ct project",
     run_ct_backproject},
    {"ct fdk",
     "reconstruct a cone beam by filtered back-projection (Feldkamp)",
     "Cosine and redundancy weights, ramp filter, back-projection by distance; attenuation per mm. "
     "Any arc and detector place; the same bits for any device, threads or chunk.",
     {{"SCAN", SCAN_FILE, 0, NULL}},
     ct_fdk_flags,
     ALL | SHARED_VIEWS | SHARED_SCAN,
     "motet ct fdk views.npy -o head.mha --line-integrals --sid 160 --sdd 256 --pitch 1.25 --size "
     "64 "
     "--png head.png",
     "a volume, and a picture of its middle slice",
     run_ct_fdk},
    {"ct fbp",
     "reconstruct a fan beam, or parallel views in space, by filtered back-projection",
     "As motet ct fdk, for one row of a fan beam or for --beam parallel. motet ct recon takes "
     "parallel scans slab by slab and finds their axis.",
     {{"SCAN", SCAN_FILE, 0, NULL}},
     ct_fdk_flags,
     ALL | SHARED_VIEWS | SHARED_SCAN,
     "motet ct fbp fan.npy -o slice.mha --line-integrals --sid 160 --sdd 256 --pitch 1.25",
     "one slice",
     run_ct_fbp},
    {"ct cgls",
     "reconstruct by conjugate gradients: the least |b - A x|",
     "Each iteration projects and back-projects once, with an exact pair; dots are in float64 in a "
     "fixed order, so that the same iterations give the same bits on any devices.",
     {{"SCAN", SCAN_FILE, 0, NULL}},
     ct_cgls_flags,
     ALL | SHARED_VIEWS | SHARED_SCAN,
     "motet ct cgls views.npy -o head.mha --line-integrals --sid 160 --sdd 256 --pitch 1.25 --size "
     "64 --iterations 30",
     "30 iterations; with --progress, the residual of each",
     run_ct_cgls},
    {"ct sirt",
     "reconstruct by simultaneous iterations, with bounds",
     "Every ray and voxel is weighted by its own sum. Slower than ct cgls, but keeps voxels "
     "between bounds and is gentle with noise.",
     {{"SCAN", SCAN_FILE, 0, NULL}},
     ct_sirt_flags,
     ALL | SHARED_VIEWS | SHARED_SCAN,
     "motet ct sirt views.npy -o head.mha --line-integrals --sid 160 --sdd 256 --pitch 1.25 --size "
     "64 --iterations 200 --nonnegative",
     "200 iterations, no voxel below 0",
     run_ct_sirt},
    {"ct check-geometry",
     "tell and draw whether the geometry of a scan makes sense",
     "Measures the arc, the axis, the isocentre and what falls beside the detector, and warns of "
     "truncation, a short arc, the pitch of a helix, mirrored columns, an offset detector and "
     "units that look mistaken "
     "(degrees and radians, pixels and mm). Exit code 0 also with warnings. docs/geometry.md tells "
     "the conventions and the files that can be read.",
     {{NULL, NULL, 0, NULL}},
     ct_check_geometry_flags,
     SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE | SHARED_VIEWS,
     "motet ct check-geometry --sid 320 --sdd 512 --views 360 --detector 256x192 --pitch 1.25 "
     "--size 128 --voxel 1 --png scan.png",
     "a circular cone beam scan of 128^3 voxels, and a drawing of it",
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
     "are not read. fdk, cgls and sirt, and whatever comes with geometry flags, are of views in "
     "space; the others of slices of a parallel beam. A plan that does not fit is refused with the "
     "least memory that would do.",
     {{"ENGINE", "ct", 0, "ct"},
      {"OPERATION", "project, backproject, filter, recon, fdk, cgls or sirt", 0,
       "project|backproject|filter|recon|fdk|cgls|sirt"},
      {"SCAN", "a scan whose sizes are meant", 1, NULL}},
     plan_flags,
     SHARED_VIEWS | SHARED_TALK | SHARED_JSON | SHARED_OVERWRITE,
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
     {{"ENGINE", "the engine to measure: ct", 1, "ct"},
      {"SCAN", "parallel or cone; both if it is not given", 1, "parallel|cone"}},
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
