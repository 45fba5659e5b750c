/* Digests that every machine must find. Made with motet verify --save and copied here; each had the
 * same value on base, v3 and v4, with gcc and clang, on 1, 2 and 4 threads. They change only when
 * an operation's arithmetic is meant to change. */
#ifndef MOTET_CLI_GOLDEN_H
#define MOTET_CLI_GOLDEN_H

/* X(scan, step, case, digest) */
#define GOLDEN_LIST(X)                                                                             \
    X(CT_SLICES, CT_PROJECT, "ct.project", "05e0bee0496d071c85bb1d75a74b13b7")                     \
    X(CT_SLICES, CT_BACKPROJECT, "ct.backproject", "bffafd9a2a410d5c1e5798bbf7ab1825")             \
    X(CT_SLICES, CT_FILTER, "ct.filter", "068970ff04dd0db193dee9e8318bc10f")                       \
    X(CT_SLICES, CT_FBP, "ct.fbp", "84b9de8b227a0d2ec118478a61a75264")                             \
    X(CT_CONE, CT_PROJECT, "ct.cone.project", "366a1af295c47c536fb941336e9c7388")                  \
    X(CT_CONE, CT_BACKPROJECT, "ct.cone.backproject", "7bd16d044de56238ac3bd95474ab1bbf")          \
    X(CT_CONE, CT_FDK, "ct.cone.fdk", "17a629c414c0e1d18b14b7e1d0c57382")                          \
    X(CT_CONE, CT_CGLS, "ct.cone.cgls", "ff769b8498cbfbc99b1166665a171239")                        \
    X(CT_CONE, CT_SIRT, "ct.cone.sirt", "c15ec46eff3bfe9f9284523a91aa76ad")                        \
    X(CT_TILTED, CT_PROJECT, "ct.tilted.project", "21e428ef8c79ed589e0b6459e783f5de")              \
    X(CT_TILTED, CT_BACKPROJECT, "ct.tilted.backproject", "49f27e923b70adec88b59e3698ccf0ed")

#endif
