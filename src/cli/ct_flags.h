/* The tables of flags of the commands under ct. */
#ifndef MOTET_CLI_CT_FLAGS_H
#define MOTET_CLI_CT_FLAGS_H

#include "command.h"

extern const flag ct_views_flags[]; /* SHARED_VIEWS: ct_views_flags.c; read by ct_views.c */
extern const flag ct_scan_flags[];  /* SHARED_SCAN: of a file of views, raw or line integrals */

extern const flag ct_info_flags[], ct_convert_flags[], ct_simulate_flags[], ct_recon_flags[];
extern const flag ct_check_geometry_flags[];
extern const flag ct_phantom_flags[], ct_project_flags[], ct_backproject_flags[];
extern const flag ct_fdk_flags[], ct_cgls_flags[], ct_sirt_flags[];

#endif
