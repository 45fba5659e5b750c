#include <stddef.h>

#include <motet/status.h>

typedef struct status_row {
    int number;
    const char *name;
    motet_status_class class_;
    int retryable;
    const char *text;
} status_row;

static const status_row rows[] = {
#define ROW(name, number, class_, retry, text) {number, #name, MOTET_CLASS_##class_, retry, text},
    MOTET_STATUS_LIST(ROW)
#undef ROW
};

static const status_row *find(motet_status status)
{
    static const status_row unknown = {-1, "UNKNOWN", MOTET_CLASS_INTERNAL, 0, "unknown status"};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].number == (int)status) return &rows[i];
    return &unknown;
}

const char *motet_status_name(motet_status status) { return find(status)->name; }
const char *motet_status_text(motet_status status) { return find(status)->text; }
motet_status_class motet_status_class_of(motet_status status) { return find(status)->class_; }
int motet_status_retryable(motet_status status) { return find(status)->retryable; }
