/* motet version. */
#include <stdio.h>

#include <motet/motet.h>

#include "args.h"

int run_version(const args *a)
{
    (void)a;
    printf("motet %s (%s)\n", motet_version(), MOTET_BUILD);
    return EXIT_OK;
}
