/* TIFF: a stack of gray pages of one size and number format; one page alone is an image.
 *
 * libtiff unpacks; it gets the file through our own functions, and its complaints go into the error
 * record of the handle they belong to. What is not packed is read directly. Pages are read by
 * bands: the lines of one strip or of one row of tiles, which is the least that can be unpacked.
 * Values are delivered as they are stored, whichever end of the scale a page calls white. */
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "base/fail.h"
#include "base/mem.h"
#include "store/file.h"
#include "store/formats.h"
#include "store/tiff_pages.h"
#include "store/tiff_write.h"

enum {
    PACKING_MOST = 65536, /* no packing makes more bytes than this of one */
    BUFFER = 1 << 20      /* of lines whose ends are cut off */
};

typedef struct tiff_store {
    motet_store base;
    store_file file;

    tiff_pages pages;
    int64_t implied; /* pages that follow the first without directories (ImageJ); 0: none */
    TIFF *tiff;
    uint64_t position; /* of libtiff in the file */
    motet_status io;   /* failure of the file itself since `hush`, in the record already */
    char said[200];    /* libtiff's first complaint since `hush` */
    int64_t page;      /* whose directory libtiff holds; -1: none */
    int64_t height, width;
    int64_t line_bytes;
    int64_t band_lines;
    int tiled, plain; /* plain: the bytes of the file are the values */
    uint32_t tile_width;
    char *band, *tile;
    int64_t band_page, band_index; /* what `band` holds; -1: nothing */

    tiff_plan plan; /* writing */
} tiff_store;

/* libtiff's view of the file. */

static tmsize_t read_part(thandle_t handle, void *out, tmsize_t bytes)
{
    tiff_store *s = handle;
    const uint64_t size = (uint64_t)s->file.size;
    if (bytes <= 0 || s->position >= size || s->io != MOTET_OK) return 0;
    if ((uint64_t)bytes > size - s->position) bytes = (tmsize_t)(size - s->position);
    s->io = file_read(&s->file, (int64_t)s->position, (size_t)bytes, out);
    if (s->io != MOTET_OK) return 0;
    s->position += (uint64_t)bytes;
    return bytes;
}

static tmsize_t write_part(thandle_t handle, void *data, tmsize_t bytes)
{
    (void)handle, (void)data, (void)bytes;
    return 0;
}

static toff_t seek_to(thandle_t handle, toff_t offset, int whence)
{
    tiff_store *s = handle;
    if (whence == SEEK_CUR)
        offset += s->position;
    else if (whence == SEEK_END)
        offset += (toff_t)s->file.size;
    return s->position = offset;
}

static int leave_open(thandle_t handle)
{
    (void)handle;
    return 0;
}

static toff_t size_of(thandle_t handle) { return (toff_t)((tiff_store *)handle)->file.size; }

/* 1: handled; libtiff would print otherwise. */
__attribute__((format(printf, 4, 0))) static int
complain(TIFF *tiff, void *user, const char *module, const char *format, va_list list)
{
    tiff_store *s = user;
    (void)tiff, (void)module;
    if (*s->said) return 1;
    vsnprintf(s->said, sizeof s->said, format, list);
    for (char *c = s->said; *c; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    return 1;
}

__attribute__((format(printf, 4, 0))) static int ignore(TIFF *tiff, void *user, const char *module,
                                                        const char *format, va_list list)
{
    (void)tiff, (void)user, (void)module, (void)format, (void)list;
    return 1;
}

/* Before each call of libtiff: what was said and what failed belongs to the one before. */
static void hush(tiff_store *s)
{
    *s->said = 0;
    s->io = MOTET_OK;
}

static motet_status complaint(tiff_store *s, int64_t page, const char *what)
{
    if (s->io != MOTET_OK) return s->io;
    return fail(s->base.context, MOTET_BAD_DATA, "%s: page %lld: %s%s%s", s->base.path,
                (long long)page, what, *s->said ? ": " : "", s->said);
}

static motet_status start_libtiff(tiff_store *s)
{
    motet_context *c = s->base.context;
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return fail(c, MOTET_NO_MEMORY, "%s: no memory to open it", s->base.path);
    TIFFOpenOptionsSetErrorHandlerExtR(options, complain, s);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, s);
    /* What libtiff holds of its own is packed, so no larger than the file, or a line. */
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)s->file.size + (1 << 26));
    s->tiff = TIFFClientOpenExt(s->base.path, "rm", s, read_part, write_part, seek_to, leave_open,
                                size_of, NULL, NULL, options);
    TIFFOpenOptionsFree(options);
    return s->tiff && s->io == MOTET_OK ? MOTET_OK : complaint(s, 0, "is not readable");
}

static int kind_from(unsigned bits, unsigned format, store_kind *out)
{
    static const struct {
        unsigned bits, format;
        store_kind kind;
    } rows[] = {
        {8, SAMPLEFORMAT_UINT, KIND_U8},     {16, SAMPLEFORMAT_UINT, KIND_U16},
        {32, SAMPLEFORMAT_UINT, KIND_U32},   {8, SAMPLEFORMAT_INT, KIND_I8},
        {16, SAMPLEFORMAT_INT, KIND_I16},    {32, SAMPLEFORMAT_INT, KIND_I32},
        {64, SAMPLEFORMAT_INT, KIND_I64},    {16, SAMPLEFORMAT_IEEEFP, KIND_F16},
        {32, SAMPLEFORMAT_IEEEFP, KIND_F32}, {64, SAMPLEFORMAT_IEEEFP, KIND_F64},
    };
    if (format == SAMPLEFORMAT_VOID) format = SAMPLEFORMAT_UINT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].bits == bits && rows[i].format == format) {
            *out = rows[i].kind;
            return 1;
        }
    return 0;
}

static uint16_t short_tag(TIFF *tiff, uint32_t tag, uint16_t otherwise)
{
    uint16_t value = otherwise;
    return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : otherwise;
}

static uint32_t long_tag(TIFF *tiff, uint32_t tag, uint32_t otherwise)
{
    uint32_t value = otherwise;
    return TIFFGetFieldDefaulted(tiff, tag, &value) ? value : otherwise;
}

/* What this page is, from the directory that libtiff holds; the rest of `s` describes it after. */
static motet_status check_page(tiff_store *s, int64_t page, store_kind *kind)
{
    motet_context *c = s->base.context;
    TIFF *t = s->tiff;
    const char *path = s->base.path;
    const long long n = (long long)page;
    const unsigned samples = short_tag(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    const unsigned bits = short_tag(t, TIFFTAG_BITSPERSAMPLE, 1);
    const unsigned format = short_tag(t, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    const unsigned color = short_tag(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    const uint16_t packing = short_tag(t, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    s->width = long_tag(t, TIFFTAG_IMAGEWIDTH, 0);
    s->height = long_tag(t, TIFFTAG_IMAGELENGTH, 0);
    if (samples != 1)
        return fail(c, MOTET_UNSUPPORTED, "%s: page %lld has %u samples a pixel, expected 1 (gray)",
                    path, n, samples);
    if (color == PHOTOMETRIC_PALETTE || color == PHOTOMETRIC_LOGL)
        return fail(c, MOTET_UNSUPPORTED, "%s: page %lld has %s, expected gray values", path, n,
                    color == PHOTOMETRIC_LOGL ? "logarithmic values" : "a palette");
    if (!kind_from(bits, format, kind))
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: page %lld has %u-bit samples of format %u; expected 8, 16 or 32-bit "
                    "integers, 64-bit signed ones, or floats of 16, 32 or 64 bits",
                    path, n, bits, format);
    if (!TIFFIsCODECConfigured(packing)) {
        const TIFFCodec *codec = TIFFFindCODEC(packing);
        return fail(c, MOTET_UNSUPPORTED,
                    "%s: page %lld is packed with compression %u (%s), which this libtiff lacks",
                    path, n, packing, codec ? codec->name : "unknown");
    }
    if (s->width < 1 || s->height < 1 || long_tag(t, TIFFTAG_IMAGEDEPTH, 1) != 1)
        return fail(c, MOTET_BAD_DATA, "%s: page %lld has %lld x %lld pixels", path, n,
                    (long long)s->height, (long long)s->width);

    const int64_t bytes = (int64_t)kind_bytes(*kind);
    s->line_bytes = s->width * bytes;
    s->tiled = TIFFIsTiled(t);
    s->plain = !s->tiled && packing == COMPRESSION_NONE &&
               short_tag(t, TIFFTAG_FILLORDER, FILLORDER_MSB2LSB) == FILLORDER_MSB2LSB;
    s->tile_width = s->tiled ? long_tag(t, TIFFTAG_TILEWIDTH, 0) : 0;
    s->band_lines = s->tiled ? long_tag(t, TIFFTAG_TILELENGTH, 0)
                             : long_tag(t, TIFFTAG_ROWSPERSTRIP, UINT32_MAX);
    if (s->band_lines < 1 ||
        (s->tiled && (s->tile_width < 1 || long_tag(t, TIFFTAG_TILEDEPTH, 1) != 1)))
        return fail(c, MOTET_BAD_DATA, "%s: page %lld has strips or tiles of no size", path, n);

    /* Sizes that the file cannot hold are refused before anyone asks for memory. */
    const int64_t most = s->plain                                  ? s->file.size
                         : INT64_MAX / PACKING_MOST < s->file.size ? INT64_MAX
                                                                   : s->file.size * PACKING_MOST;
    int64_t page_bytes, tile_bytes = 0;
    if (__builtin_mul_overflow(s->line_bytes, s->height, &page_bytes) || page_bytes > most ||
        (s->tiled &&
         (__builtin_mul_overflow(s->band_lines * bytes, (int64_t)s->tile_width, &tile_bytes) ||
          tile_bytes > most || tile_bytes != TIFFTileSize(t))) ||
        (!s->tiled && TIFFScanlineSize(t) != s->line_bytes))
        return fail(c, MOTET_BAD_DATA,
                    "%s: page %lld claims %lld x %lld pixels of %u bits, the file has %lld bytes",
                    path, n, (long long)s->height, (long long)s->width, bits,
                    (long long)s->file.size);
    if (s->band_lines > s->height && !s->tiled) s->band_lines = s->height;
    return MOTET_OK;
}

static motet_status load_page(tiff_store *s, int64_t page)
{
    if (s->implied) page = 0;
    if (s->page == page) return MOTET_OK;
    s->page = -1;
    s->band_index = -1;
    const int64_t height = s->height, width = s->width;
    const store_kind first = s->base.kind;
    store_kind kind;
    hush(s);
    if (!TIFFSetSubDirectory(s->tiff, s->pages.offsets[page]))
        return complaint(s, page, "its directory is not readable");
    if (s->io != MOTET_OK) return s->io; /* libtiff does without tags that it could not read */
    if (height) {
        motet_status st = check_page(s, page, &kind);
        if (st == MOTET_OK && (s->height != height || s->width != width || kind != first))
            st = fail(s->base.context, MOTET_BAD_DATA,
                      "%s: page %lld has %lld x %lld pixels, the first page %lld x %lld; all must "
                      "be of one size and number format",
                      s->base.path, (long long)page, (long long)s->height, (long long)s->width,
                      (long long)height, (long long)width);
        s->height = height;
        s->width = width;
        TRY(st);
    }
    s->page = page;
    /* Tiles may differ from page to page, and their buffers with them. */
    mem_free(s->base.context, s->band);
    mem_free(s->base.context, s->tile);
    s->band = s->tile = NULL;
    return MOTET_OK;
}

/* Lines [from, from + lines) of a strip that is not packed. */
static motet_status read_plain(tiff_store *s, int64_t page, int64_t band, int64_t from,
                               int64_t lines, void *out)
{
    const uint64_t skip = (uint64_t)(from * s->line_bytes),
                   bytes = (uint64_t)(lines * s->line_bytes);
    hush(s);
    uint64_t start = TIFFGetStrileOffset(s->tiff, s->implied ? 0 : (uint32_t)band);
    const uint64_t held =
        s->implied ? skip + bytes : TIFFGetStrileByteCount(s->tiff, (uint32_t)band);
    if (s->io != MOTET_OK) return s->io;
    if (s->implied && start)
        start += (uint64_t)page * (uint64_t)(s->height * s->line_bytes) +
                 (uint64_t)(band * s->band_lines * s->line_bytes);
    const uint64_t size = (uint64_t)s->file.size;
    if (!start || held < skip + bytes || start > size || size - start < skip + bytes)
        return fail(s->base.context, MOTET_BAD_DATA,
                    "%s: page %lld: strip %lld has %llu bytes at %llu, expected %llu; the file has "
                    "%llu",
                    s->base.path, (long long)page, (long long)band, (unsigned long long)held,
                    (unsigned long long)start, (unsigned long long)(skip + bytes),
                    (unsigned long long)size);
    TRY(file_read(&s->file, (int64_t)(start + skip), bytes, out));
    const size_t element = kind_bytes(s->base.kind);
    if (TIFFIsByteSwapped(s->tiff)) convert_swap(out, lines * s->width, element);
    return MOTET_OK;
}

static motet_status unpack_tiles(tiff_store *s, int64_t page, int64_t band, int64_t lines,
                                 char *out)
{
    const tmsize_t bytes = TIFFTileSize(s->tiff);
    const size_t element = kind_bytes(s->base.kind), tile_line = s->tile_width * element;
    if (!s->tile) s->tile = mem_alloc(s->base.context, (size_t)bytes);
    if (!s->tile)
        return fail(s->base.context, MOTET_NO_MEMORY, "%s: no memory for a tile of %lld bytes",
                    s->base.path, (long long)bytes);
    for (int64_t x = 0; x < s->width; x += s->tile_width) {
        const uint32_t index =
            TIFFComputeTile(s->tiff, (uint32_t)x, (uint32_t)(band * s->band_lines), 0, 0);
        hush(s);
        memset(s->tile, 0, (size_t)bytes);
        if (TIFFReadEncodedTile(s->tiff, index, s->tile, bytes) != bytes)
            return complaint(s, page, "a tile is not readable");
        const int64_t left = s->width - x;
        const size_t part = left < (int64_t)s->tile_width ? (size_t)left * element : tile_line;
        for (int64_t y = 0; y < lines; y++)
            memcpy(out + y * s->line_bytes + x * (int64_t)element, s->tile + (size_t)y * tile_line,
                   part);
    }
    return MOTET_OK;
}

static motet_status unpack(tiff_store *s, int64_t page, int64_t band, int64_t lines, char *out)
{
    if (s->tiled) return unpack_tiles(s, page, band, lines, out);
    const tmsize_t bytes = (tmsize_t)(lines * s->line_bytes);
    hush(s);
    memset(out, 0, (size_t)bytes); /* lenient decoders leave out what they cannot read */
    if (TIFFReadEncodedStrip(s->tiff, (uint32_t)band, out, bytes) != bytes)
        return complaint(s, page, "a strip is not readable");
    return MOTET_OK;
}

static motet_status read_lines(tiff_store *s, int64_t page, int64_t first, int64_t count, char *out)
{
    TRY(load_page(s, page));
    while (count > 0) {
        const int64_t band = first / s->band_lines, from = first % s->band_lines;
        const int64_t top = band * s->band_lines;
        const int64_t lines = s->height - top < s->band_lines ? s->height - top : s->band_lines;
        const int64_t part = count < lines - from ? count : lines - from;
        if (s->plain) {
            TRY(read_plain(s, page, band, from, part, out));
        } else if (part == lines) {
            TRY(unpack(s, page, band, lines, out));
        } else {
            if (s->band_index != band) {
                const int64_t bytes = lines * s->line_bytes;
                mem_free(s->base.context, s->band);
                s->band_index = -1;
                s->band = mem_alloc(s->base.context, (size_t)bytes);
                if (!s->band)
                    return fail(s->base.context, MOTET_NO_MEMORY,
                                "%s: no memory for %lld lines of page %lld, which are packed "
                                "together",
                                s->base.path, (long long)lines, (long long)page);
                TRY(unpack(s, page, band, lines, s->band));
                s->band_index = band;
            }
            memcpy(out, s->band + from * s->line_bytes, (size_t)(part * s->line_bytes));
        }
        out += part * s->line_bytes;
        first += part;
        count -= part;
    }
    return MOTET_OK;
}

/* ImageJ writes stacks past 4 GiB as one directory and a number of pages in its description; the
 * pixels of the others follow those of the first. */
static motet_status find_implied(tiff_store *s, const char *description)
{
    const char *images = strstr(description, "\nimages=");
    if (strncmp(description, "ImageJ=", 7) || !images || s->pages.count != 1 || !s->plain)
        return MOTET_OK;
    int64_t pages = 0;
    for (const char *digit = images + 8; *digit >= '0' && *digit <= '9' && pages < INT32_MAX;
         digit++)
        pages = 10 * pages + (*digit - '0');
    if (pages < 2) return MOTET_OK;
    hush(s);
    const uint64_t start = TIFFGetStrileOffset(s->tiff, 0), size = (uint64_t)s->file.size;
    if (s->io != MOTET_OK) return s->io;
    int64_t bytes;
    if (__builtin_mul_overflow(s->height * s->line_bytes, pages, &bytes) || start > size ||
        size - start < (uint64_t)bytes)
        return fail(s->base.context, MOTET_BAD_DATA,
                    "%s: ImageJ announces %lld pages of %lld bytes, the file has %lld",
                    s->base.path, (long long)pages, (long long)(s->height * s->line_bytes),
                    (long long)s->file.size);
    s->implied = pages;
    return MOTET_OK;
}

static motet_status open_tiff(motet_store *store, const char *entry)
{
    tiff_store *s = (tiff_store *)store;
    motet_store_info *info = &store->info;
    s->page = -1;
    if (entry)
        return fail(store->context, MOTET_BAD_ARGUMENT, "%s: a TIFF file has no entries, got %s",
                    store->path, entry);
    TRY(file_open(store->context, store->path, &s->file));
    TRY(tiff_find_pages(&s->file, &s->pages));
    TRY(start_libtiff(s));
    TRY(load_page(s, 0));
    TRY(check_page(s, 0, &store->kind));
    const char *description = NULL;
    if (!TIFFGetField(s->tiff, TIFFTAG_IMAGEDESCRIPTION, &description) || !description)
        description = "";
    if (s->io != MOTET_OK) return s->io;
    TRY(find_implied(s, description));
    const int64_t pages = s->implied ? s->implied : s->pages.count;
    info->axes = pages > 1 ? 3 : 2;
    if (pages > 1) info->shape[0] = pages;
    info->shape[info->axes - 2] = s->height;
    info->shape[info->axes - 1] = s->width;
    tiff_read_description(description, info);
    return MOTET_OK;
}

/* Lines of which only the columns [first, first + count) are wanted, through a buffer. */
static motet_status read_columns(tiff_store *s, int64_t page, int64_t top, int64_t lines,
                                 int64_t first, int64_t count, char *buffer, int64_t room,
                                 char *out)
{
    const size_t element = kind_bytes(s->base.kind), part = (size_t)count * element;
    for (int64_t line = 0; line < lines; line += room) {
        const int64_t step = lines - line < room ? lines - line : room;
        TRY(read_lines(s, page, top + line, step, buffer));
        for (int64_t i = 0; i < step; i++, out += part)
            memcpy(out, buffer + i * s->line_bytes + first * (int64_t)element, part);
    }
    return MOTET_OK;
}

static motet_status read_tiff(motet_store *store, const int64_t *first, const int64_t *count,
                              void *out)
{
    tiff_store *s = (tiff_store *)store;
    const int axis = store->info.axes - 2; /* of the lines */
    const int64_t page = axis ? first[0] : 0, pages = axis ? count[0] : 1;
    const int64_t top = first[axis], lines = count[axis], columns = count[axis + 1];
    const int64_t fit = BUFFER / s->line_bytes, room = fit < 1 ? 1 : fit < lines ? fit : lines;
    char *to = out, *buffer = NULL;
    motet_status st = MOTET_OK;
    if (columns < s->width &&
        !(buffer = mem_alloc_array(store->context, room, (size_t)s->line_bytes)))
        TRY_GOTO(fail(store->context, MOTET_NO_MEMORY, "%s: no memory for lines of %lld bytes",
                      store->path, (long long)s->line_bytes));
    for (int64_t i = 0; i < pages; i++) {
        if (buffer)
            TRY_GOTO(
                read_columns(s, page + i, top, lines, first[axis + 1], columns, buffer, room, to));
        else
            TRY_GOTO(read_lines(s, page + i, top, lines, to));
        to += lines * columns * (int64_t)kind_bytes(store->kind);
    }
out:
    mem_free(store->context, buffer);
    return st;
}

static motet_status create_tiff(motet_store *store, const char *entry)
{
    tiff_store *s = (tiff_store *)store;
    if (entry)
        return fail(store->context, MOTET_BAD_ARGUMENT, "%s: a TIFF file has no entries, got %s",
                    store->path, entry);
    TRY(tiff_plan_pages(store->context, store->path, &store->info, &s->plan));
    return file_begin(store->context, store->path, store->overwrite, &s->file);
}

static motet_status write_tiff(motet_store *store, int64_t first, int64_t count, const void *rows)
{
    tiff_store *s = (tiff_store *)store;
    return file_write(&s->file, tiff_plan_pixels(&s->plan) + first * (int64_t)store->row_bytes,
                      (size_t)count * store->row_bytes, rows);
}

static motet_status write_tiff_at(motet_store *store, int64_t first, int64_t count,
                                  const void *values)
{
    tiff_store *s = (tiff_store *)store;
    const size_t element = kind_bytes(store->kind);
    return file_write(&s->file, tiff_plan_pixels(&s->plan) + first * (int64_t)element,
                      (size_t)count * element, values);
}

static motet_status finish_tiff(motet_store *store)
{
    tiff_store *s = (tiff_store *)store;
    TRY(tiff_write_frame(&s->plan, &s->file));
    return file_sync(&s->file);
}

static motet_status place_tiff(motet_store *store)
{
    return file_place(&((tiff_store *)store)->file);
}

static void close_tiff(motet_store *store)
{
    tiff_store *s = (tiff_store *)store;
    if (s->tiff) TIFFClose(s->tiff);
    mem_free(store->context, s->pages.offsets);
    mem_free(store->context, s->band);
    mem_free(store->context, s->tile);
    file_close(&s->file);
}

static int probe(const unsigned char *head, size_t bytes, const char *path)
{
    (void)path;
    return head && tiff_begins(head, bytes);
}

const store_format store_tiff = {
    .name = "tiff",
    .endings = ".tif .tiff",
    .bytes = sizeof(tiff_store),
    .probe = probe,
    .open = open_tiff,
    .create = create_tiff,
    .read = read_tiff,
    .write = write_tiff,
    .write_at = write_tiff_at,
    .finish = finish_tiff,
    .place = place_tiff,
    .close = close_tiff,
};
