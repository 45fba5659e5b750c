/* The build id is a note in the program or library that this file was linked into, which the loader
 * has mapped: its own ELF header leads there. */
#include "base/build.h"

#include <elf.h>
#include <link.h>
#include <string.h>

extern const char __ehdr_start[] __attribute__((visibility("hidden"))); /* by the linker */

static size_t padded(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

static int find_in(const char *note, size_t bytes, uint64_t id[2])
{
    while (bytes >= sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) head;
        memcpy(&head, note, sizeof head);
        const size_t name = sizeof head + padded(head.n_namesz);
        const size_t size = name + padded(head.n_descsz);
        if (size > bytes) return 0;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_descsz >= 16) {
            memcpy(id, note + name, 16);
            return 1;
        }
        note += size;
        bytes -= size;
    }
    return 0;
}

void build_id(uint64_t id[2])
{
    id[0] = id[1] = 0;
    const char *start = __ehdr_start;
    ElfW(Ehdr) head;
    memcpy(&head, start, sizeof head);
    uintptr_t shift = (uintptr_t)start; /* from the addresses in the file to those in memory */
    ElfW(Phdr) part;
    for (int i = 0; i < head.e_phnum; i++) {
        memcpy(&part, start + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && part.p_offset == 0) shift -= part.p_vaddr;
    }
    for (int i = 0; i < head.e_phnum; i++) {
        memcpy(&part, start + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        if (part.p_type != PT_NOTE) continue;
        if (find_in((const char *)(shift + part.p_vaddr), part.p_memsz, id)) return;
    }
}
