/* Digests that every machine must find. Made with motet verify --save and copied here; each had the
 * same value on base, v3 and v4, with gcc and clang, on 1, 2 and 4 threads. They change only when
 * an operation's arithmetic is meant to change. */
#ifndef MOTET_CLI_GOLDEN_H
#define MOTET_CLI_GOLDEN_H

/* X(case, digest) */
#define GOLDEN_LIST(X)                                                                             \
    X("ct.project", "05e0bee0496d071c85bb1d75a74b13b7")                                            \
    X("ct.backproject", "bffafd9a2a410d5c1e5798bbf7ab1825")                                        \
    X("ct.filter", "068970ff04dd0db193dee9e8318bc10f")                                             \
    X("ct.fbp", "84b9de8b227a0d2ec118478a61a75264")

#endif
