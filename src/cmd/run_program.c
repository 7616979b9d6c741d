/*
 * run_program.c - what the loader will do with LD_PRELOAD.
 *
 * The kernel starts a program of type ELF together with the loader that PT_INTERP names
 * (fs/binfmt_elf.c); no PT_INTERP, no loader, no preload: a static program. The loader
 * ignores preloaded paths in a secure execution (ld.so(8), AT_SECURE): set-user-ID,
 * set-group-ID and file capabilities (security/commoncap.c, cap_bprm_creds_from_file),
 * unless the mount forbids these. A library of another class or machine is skipped with a
 * message; musl's loader cannot load one that is linked to glibc.
 *
 * The file may be anything: each offset in it is read with pread, and a short read ends
 * the look.
 */
#include "cmd/run_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    SCRIPTS_MOST = 5, /* the kernel follows as many (fs/exec.c, exec_binprm) */
    LINE_BYTES = 256, /* of a script's first line; BINPRM_BUF_SIZE */
    HEADERS_MOST = 128,
};

#if defined(__x86_64__)
enum { OWN_MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { OWN_MACHINE = EM_AARCH64 };
#else
#    error "which machine is this?"
#endif

static void say(struct run_program *program, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct run_program *program, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(program->reason, sizeof(program->reason), format, arguments);
    va_end(arguments);
}

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* As execvp(3). False when there is no such program. */
static bool find(const char *name, char path[RUN_PATH_BYTES])
{
    const char *folders = getenv("PATH");

    if (strchr(name, '/') != NULL) {
        int length = snprintf(path, RUN_PATH_BYTES, "%s", name);
        return length > 0 && length < RUN_PATH_BYTES && is_program(path);
    }
    folders = folders != NULL ? folders : "/bin:/usr/bin";
    while (*name != '\0') {
        size_t bytes = strcspn(folders, ":");
        int length = snprintf(path, RUN_PATH_BYTES, "%.*s%s%s", (int)bytes, folders,
            bytes > 0 ? "/" : "", name);
        if (length > 0 && length < RUN_PATH_BYTES && is_program(path)) {
            return true;
        }
        if (folders[bytes] == '\0') {
            break;
        }
        folders += bytes + 1;
    }
    path[0] = '\0';
    return false;
}

/* The next word of a line, ended there; NULL when there is none. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    size_t bytes = strcspn(word, " \t");

    *rest = word + bytes + (word[bytes] != '\0');
    word[bytes] = '\0';
    return *word != '\0' ? word : NULL;
}

/* The program that a first line "#!..." starts, into path; env(1) is looked through. */
static bool find_interpreter(char line[LINE_BYTES], char path[RUN_PATH_BYTES])
{
    char *rest = line + 2;
    line[strcspn(line, "\n")] = '\0';
    char *word = next_word(&rest);
    const char *slash = word != NULL ? strrchr(word, '/') : NULL;
    if (slash != NULL && strcmp(slash, "/env") == 0) {
        do {
            word = next_word(&rest);
        } while (word != NULL && (word[0] == '-' || strchr(word, '=') != NULL));
    }
    return word != NULL && find(word, path);
}

/* A secure execution makes the loader ignore the preload. */
static bool look_at_rights(int file, const char *path, struct run_program *program)
{
    struct stat status;
    struct statvfs mount;

    if (fstat(file, &status) != 0 ||
        (fstatvfs(file, &mount) == 0 && (mount.f_flag & ST_NOSUID) != 0)) {
        return false;
    }
    bool other_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
    bool other_group = (status.st_mode & S_ISGID) != 0 &&
                       (status.st_mode & S_IXGRP) != 0 && status.st_gid != getgid();
    if (other_user || other_group) {
        say(program, "'%s' is set-%s-ID: the loader ignores preloads there", path,
            other_user ? "user" : "group");
        return true;
    }
    if (getuid() != 0 && fgetxattr(file, "security.capability", NULL, 0) > 0) {
        say(program, "'%s' has file capabilities: the loader ignores preloads there",
            path);
        return true;
    }
    return false;
}

static void look_at_loader(
    int file, const char *path, const Elf64_Phdr *header, struct run_program *program)
{
    char loader[LINE_BYTES] = {0};
    size_t bytes = header->p_filesz < sizeof(loader) - 1 ? (size_t)header->p_filesz
                                                         : sizeof(loader) - 1;

    if (header->p_offset > INT64_MAX ||
        pread(file, loader, bytes, (off_t)header->p_offset) != (ssize_t)bytes) {
        return;
    }
    if (strstr(loader, "ld-musl") != NULL) {
        say(program, "'%s' is linked to musl, the library to glibc", path);
    }
}

static void look_at_segments(
    int file, const char *path, const Elf64_Ehdr *elf, struct run_program *program)
{
    for (unsigned i = 0; i < elf->e_phnum && i < HEADERS_MOST; i++) {
        Elf64_Phdr header;
        uint64_t offset = elf->e_phoff + (uint64_t)i * sizeof(header);
        if (offset > INT64_MAX || pread(file, &header, sizeof(header), (off_t)offset) !=
                                      (ssize_t)sizeof(header)) {
            return;
        }
        if (header.p_type == PT_INTERP) {
            look_at_loader(file, path, &header, program);
            return;
        }
    }
    say(program, "'%s' is linked statically: no loader reads preloads there", path);
}

static void look_at_elf(
    int file, const char *path, const Elf64_Ehdr *elf, struct run_program *program)
{
    if (elf->e_ident[EI_CLASS] != ELFCLASS64) {
        say(program, "'%s' is a 32-bit program, the library has 64 bits", path);
    } else if (elf->e_machine != OWN_MACHINE) {
        say(program, "'%s' is for another machine (ELF number %u)", path,
            (unsigned)elf->e_machine);
    } else if (!look_at_rights(file, path, program) &&
               elf->e_phentsize == sizeof(Elf64_Phdr)) {
        look_at_segments(file, path, elf, program);
    }
}

/* Looks into one file; true when it is a script and path now is its interpreter. */
static bool look_into(char path[RUN_PATH_BYTES], struct run_program *program)
{
    union {
        Elf64_Ehdr elf;
        char line[LINE_BYTES];
    } start = {.line = {0}};
    bool is_script = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return false;
    }
    ssize_t bytes = pread(file, start.line, sizeof(start.line) - 1, 0);
    if (bytes >= (ssize_t)sizeof(start.elf) && memcmp(start.line, ELFMAG, SELFMAG) == 0) {
        look_at_elf(file, path, &start.elf, program);
    } else if (bytes > 2 && memcmp(start.line, "#!", 2) == 0) {
        is_script = find_interpreter(start.line, path);
    }
    (void)close(file);
    return is_script;
}

void run_program_look(const char *name, struct run_program *program)
{
    char path[RUN_PATH_BYTES];

    program->reason[0] = '\0';
    if (!find(name, program->path)) {
        program->path[0] = '\0';
        return;
    }
    memcpy(path, program->path, sizeof(path));
    for (int i = 0; i < SCRIPTS_MOST && look_into(path, program); i++) {
    }
}
