/* Motet: computations that outgrow one device, with one answer on any of them. */
#ifndef MOTET_MOTET_H
#define MOTET_MOTET_H

#include <motet/array.h>
#include <motet/calibrate.h>
#include <motet/context.h>
#include <motet/ct.h>
#include <motet/ct_disk.h>
#include <motet/ct_geometry.h>
#include <motet/ct_paths.h>
#include <motet/ct_phantom.h>
#include <motet/ct_reconstruct.h>
#include <motet/device.h>
#include <motet/job.h>
#include <motet/journal.h>
#include <motet/plan.h>
#include <motet/status.h>
#include <motet/store.h>

#endif
