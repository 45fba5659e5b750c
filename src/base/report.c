#include "base/report.h"
motet_status report_create(motet_context *c, struct report **out) { (void)c; *out = NULL; return MOTET_OK; }
void report_free(motet_context *c, struct report *r) { (void)c; (void)r; }
void report_warning(motet_context *c, const char *t) { (void)c; (void)t; }
