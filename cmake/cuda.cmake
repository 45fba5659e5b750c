# The kernels for GPUs: one image of all of them, which src/dev/cuda/image.c embeds. Without nvcc
# the build is complete for CPUs, and says so where a GPU is asked for.
find_program(MOTET_NVCC nvcc HINTS /usr/local/cuda/bin DOC "CUDA compiler")
set(motet_cuda_default OFF)
if(MOTET_NVCC AND NOT MOTET_SANITIZE AND NOT MOTET_COVERAGE)
  set(motet_cuda_default ON)
endif()
option(MOTET_CUDA "Compile the kernels for GPUs (needs nvcc)" ${motet_cuda_default})
# Machine code for each; code for drivers to translate for what comes after the last.
set(MOTET_CUDA_ARCHITECTURES 75 80 86 89 90 100 120 CACHE STRING "Compute capabilities, ascending")

if(MOTET_CUDA)
  if(NOT MOTET_NVCC)
    message(FATAL_ERROR "MOTET_CUDA is ON, but there is no nvcc")
  endif()
  get_property(files GLOBAL PROPERTY MOTET_KERNEL_FILES)
  set(text "")
  foreach(file ${files})
    string(APPEND text "#include \"${file}\"\n")
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/kernels.cu CONTENT "${text}" @ONLY)
  set(targets "")
  foreach(architecture ${MOTET_CUDA_ARCHITECTURES})
    list(APPEND targets -gencode=arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  list(GET MOTET_CUDA_ARCHITECTURES -1 newest)
  list(APPEND targets -gencode=arch=compute_${newest},code=compute_${newest})
  set(image ${CMAKE_BINARY_DIR}/kernels.fatbin)
  add_custom_command(
    OUTPUT ${image}
    COMMAND ${MOTET_NVCC} -fatbin -O3 -std=c++17 --fmad=false -prec-div=true -prec-sqrt=true -ftz=false
            --threads 2 ${targets} -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/src
            -MD -MF ${image}.d -MT ${image} -o ${image} ${CMAKE_BINARY_DIR}/kernels.cu
    DEPENDS ${CMAKE_BINARY_DIR}/kernels.cu
    DEPFILE ${image}.d
    COMMENT "Compiling kernels for GPUs"
    VERBATIM)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/src/dev/cuda/image.c
    TARGET_DIRECTORY motet motet_inside PROPERTIES
    COMPILE_DEFINITIONS CUDA_IMAGE_FILE="${image}" OBJECT_DEPENDS ${image})
  add_custom_target(motet_cuda_image DEPENDS ${image})
  add_dependencies(motet motet_cuda_image)
  add_dependencies(motet_inside motet_cuda_image)
endif()
