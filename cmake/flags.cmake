# Flags of everything we compile. CMAKE_C_FLAGS (the user's) come first, so these win.
add_library(motet_flags INTERFACE)
target_compile_options(motet_flags INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror
  -fno-common -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_compile_definitions(motet_flags INTERFACE MOTET_VERSION="${PROJECT_VERSION}")
# Host code that touches numbers obeys the same rules as kernels.
set(MOTET_EXACT_FLAGS -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-fast-math -fno-lto)
target_compile_options(motet_flags INTERFACE ${MOTET_EXACT_FLAGS})
if(MOTET_SANITIZE)
  target_compile_options(motet_flags INTERFACE -fsanitize=${MOTET_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(motet_flags INTERFACE -fsanitize=${MOTET_SANITIZE})
  if(MOTET_SANITIZE MATCHES "undefined")
    target_compile_options(motet_flags INTERFACE -fsanitize=float-cast-overflow -fno-sanitize-recover=all)
  endif()
endif()
if(MOTET_COVERAGE)
  target_compile_options(motet_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(motet_flags INTERFACE --coverage)
endif()
