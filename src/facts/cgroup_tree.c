/*
 * cgroup_tree.c - walks the folders below a cgroup.
 *
 * cgroups come and go while we walk, and anyone who may create them decides how many there
 * are and how deep they nest: every walk has a bound on both, and a folder that is gone
 * by the time it is opened is skipped. A threaded cgroup (cgroups(7)) refuses to list
 * processes with EOPNOTSUPP; its processes are listed by the domain above it.
 */
#include "facts/cgroup_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/slice.h"
#include "facts/cgroup_path.h"

enum {
    PROCS_MAX_BYTES = 4 << 20,
    NUMBER_MAX_BYTES = 64,
    FOLDER_REGION_BYTES = 64 << 10,
    SHORTEST_ID = 4,
};

struct walk;

/* What to do with a folder: 0 go on below it, 1 leave out what is below, or -errno: stop. */
typedef int visit_folder(struct walk *walk, int folder_fd, const char *path);

struct walk {
    struct cgroup_reader *reader;
    struct region *region; /* of the result */
    visit_folder *visit;
    size_t folders;
    bool complete;
    void *result;
    const char *wanted;
};

static int walk_folder(struct walk *walk, int folder_fd, const char *path, int depth);

static int walk_child(
    struct walk *walk, int folder_fd, const char *path, const char *name, int depth)
{
    struct buffer child;
    int fd = openat(folder_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0) {
        walk->complete = walk->complete && errno == ENOENT;
        return 0;
    }
    buffer_init(&child);
    buffer_printf(&child, "%s/%s", strcmp(path, "/") == 0 ? "" : path, name);
    int rc = buffer_error(&child);
    if (rc == 0) {
        rc = walk_folder(walk, fd, child.data, depth + 1);
    }
    buffer_release(&child);
    close(fd);
    return rc;
}

/* Every folder in folder_fd but itself and its parent. */
static int walk_children(struct walk *walk, int folder_fd, const char *path, int depth)
{
    int copy = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = copy < 0 ? NULL : fdopendir(copy);
    struct dirent *entry;
    int rc = 0;

    if (directory == NULL) {
        if (copy >= 0) {
            close(copy);
        }
        walk->complete = walk->complete && (errno == ENOENT || errno == ENODEV);
        return 0;
    }
    while (rc == 0 && (entry = readdir(directory)) != NULL) {
        if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
            strcmp(entry->d_name, "..") != 0) {
            rc = walk_child(walk, folder_fd, path, entry->d_name, depth);
        }
    }
    closedir(directory);
    return rc;
}

static int walk_folder(struct walk *walk, int folder_fd, const char *path, int depth)
{
    if (walk->folders == CGROUP_MAX_FOLDERS || depth == CGROUP_MAX_DEPTH) {
        walk->complete = false;
        return 0;
    }
    walk->folders++;
    int rc = walk->visit(walk, folder_fd, path);
    if (rc != 0) {
        return rc < 0 ? rc : 0;
    }
    return walk_children(walk, folder_fd, path, depth);
}

static int walk_from(struct walk *walk, const char *path)
{
    int fd = cgroup_open(walk->reader, path);

    if (fd < 0) {
        return fd;
    }
    int rc = walk_folder(walk, fd, path, 0);
    close(fd);
    return rc;
}

/* A process of another pid namespace is listed as 0. */
static int add_member(struct walk *walk, struct slice line)
{
    struct cgroup_members *members = walk->result;
    const char *digits = line.text;
    uint64_t pid;

    if (number_read(&digits, 10, &pid) != 0 || pid == 0 || pid > INT32_MAX) {
        return 0;
    }
    if (members->count == CGROUP_MAX_MEMBERS) {
        walk->complete = false;
        return 0;
    }
    int32_t *place = region_grow(
        walk->region, &members->pids, members->count, CGROUP_MAX_MEMBERS, sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    *place = (int32_t)pid;
    members->count++;
    return 0;
}

static int list_members(struct walk *walk, int folder_fd, const char *path)
{
    struct buffer *scratch = &walk->reader->scratch;
    struct slice rest;
    struct slice line;
    int rc = facts_read_file(
        walk->reader->root, folder_fd, "cgroup.procs", PROCS_MAX_BYTES, scratch);

    (void)path;
    if (rc == -ENOMEM) {
        return rc;
    }
    if (rc != 0) {
        bool expected = rc == -EOPNOTSUPP || rc == -ENOENT || rc == -ENODEV;
        walk->complete = walk->complete && expected;
        return 0;
    }
    rest = (struct slice){buffer_text(scratch), scratch->length_bytes};
    while (rc == 0 && slice_next(&rest, '\n', &line)) {
        rc = add_member(walk, line);
    }
    return rc;
}

static int compare_pids(const void *a, const void *b)
{
    int32_t first = *(const int32_t *)a;
    int32_t second = *(const int32_t *)b;

    return (first > second) - (first < second);
}

/* Sorts, and drops the doubles that moving processes and version 1 can make. */
static void sort_members(struct cgroup_members *members)
{
    size_t kept = 0;

    if (members->count == 0) {
        return;
    }
    qsort(members->pids, members->count, sizeof(*members->pids), compare_pids);
    for (size_t i = 0; i < members->count; i++) {
        if (kept == 0 || members->pids[kept - 1] != members->pids[i]) {
            members->pids[kept++] = members->pids[i];
        }
    }
    members->count = kept;
}

int cgroup_members(struct cgroup_reader *reader, const char *path, struct region *region,
    struct cgroup_members *members)
{
    struct walk walk = {.reader = reader,
        .region = region,
        .visit = list_members,
        .complete = true,
        .result = members};

    *members = (struct cgroup_members){0};
    int rc = walk_from(&walk, path);
    sort_members(members);
    members->complete = walk.complete;
    return rc;
}

/* True when name is wanted, or wanted and ".service". */
static bool names_unit(const char *name, const char *wanted)
{
    struct slice unit = {name, name == NULL ? 0 : strlen(name)};

    return unit.bytes > 0 && (slice_is(unit, wanted) ||
                                 slice_is(slice_cut_suffix(unit, ".service"), wanted));
}

static bool names_container(const char *id, const char *wanted)
{
    size_t bytes = strlen(wanted);

    return id != NULL && (strcmp(id, wanted) == 0 ||
                             (bytes >= SHORTEST_ID && strncmp(id, wanted, bytes) == 0));
}

static int add_match(struct walk *walk, const char *path)
{
    struct cgroup_matches *matches = walk->result;
    char **place;

    if (matches->count == CGROUP_MAX_MATCHES) {
        return 0;
    }
    place = region_grow(walk->region, &matches->paths, matches->count, CGROUP_MAX_MATCHES,
        sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    *place = region_copy_text(walk->region, path);
    if (*place == NULL) {
        return -ENOMEM;
    }
    matches->count++;
    return 0;
}

static int match_folder(struct walk *walk, int folder_fd, const char *path)
{
    struct cgroup_identity identity;
    struct region region;
    bool matches = false;

    (void)folder_fd;
    region_init(&region, FOLDER_REGION_BYTES);
    int rc = cgroup_path_identify(path, &region, &identity);
    if (rc == 0) {
        matches = names_unit(identity.unit, walk->wanted) ||
                  names_container(identity.container_id, walk->wanted);
    }
    region_release(&region);
    if (rc == 0 && matches) {
        rc = add_match(walk, path);
        return rc == 0 ? 1 : rc;
    }
    return rc;
}

/* The outermost cgroup that any mount of the version shows, "/" on a host. */
static const char *outermost_path(const struct cgroup_reader *reader)
{
    const char *outermost = NULL;

    for (size_t i = 0; i < reader->mounts.count; i++) {
        const struct cgroup_mount *mount = &reader->mounts.items[i];
        if (mount->version == reader->version &&
            (outermost == NULL || strlen(mount->root) < strlen(outermost))) {
            outermost = mount->root;
        }
    }
    return outermost;
}

int cgroup_find(struct cgroup_reader *reader, const char *target, struct region *region,
    struct cgroup_matches *matches)
{
    const char *start = outermost_path(reader);
    struct walk walk = {.reader = reader,
        .region = region,
        .visit = match_folder,
        .result = matches,
        .wanted = target};

    *matches = (struct cgroup_matches){0};
    if (start == NULL || target[0] == '\0') {
        return 0;
    }
    if (target[0] != '/') {
        int rc = walk_from(&walk, start);
        return rc == -ENOMEM ? rc : 0;
    }
    int fd = cgroup_open(reader, target);
    if (fd < 0) {
        return fd == -ENOMEM ? fd : 0;
    }
    close(fd);
    return add_match(&walk, target);
}

/* A file "PID/name" of /proc into the reader's scratch buffer. 0 or -errno. */
static int read_of_process(struct cgroup_reader *reader, int32_t pid, const char *name)
{
    struct buffer path;

    buffer_init(&path);
    buffer_printf(&path, "%d/%s", pid, name);
    int rc = buffer_error(&path);
    if (rc == 0) {
        rc = facts_read_file(reader->root, reader->root->proc_fd, path.data,
            NUMBER_MAX_BYTES, &reader->scratch);
    }
    buffer_release(&path);
    return rc;
}

static int take_competitor(
    struct cgroup_reader *reader, struct facts *facts, int32_t pid, uint64_t score)
{
    int rc = read_of_process(reader, pid, "comm");

    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0; /* it ended: the next best stays */
    }
    struct slice name = {buffer_text(&reader->scratch), reader->scratch.length_bytes};
    name = slice_cut_suffix(name, "\n");
    facts->competitor_name = region_copy(&facts->region, name.text, name.bytes);
    facts->competitor_pid = pid;
    facts->competitor_oom_score = (struct fact){.value = score, .state = FACT_OK};
    return facts->competitor_name == NULL ? -ENOMEM : 0;
}

/* Keeps pid when its score is higher than what facts have. */
static int compare_score(struct cgroup_reader *reader, struct facts *facts, int32_t pid)
{
    const struct fact *best = &facts->competitor_oom_score;
    uint64_t score;
    int rc = read_of_process(reader, pid, "oom_score");

    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    const char *digits = buffer_text(&reader->scratch);
    if (number_read(&digits, 10, &score) != 0 ||
        (best->state == FACT_OK && score <= best->value)) {
        return 0;
    }
    return take_competitor(reader, facts, pid, score);
}

int cgroup_find_competitor(struct cgroup_reader *reader, struct facts *facts)
{
    struct cgroup_members members;
    struct region region;
    const struct cgroup_facts *cgroup;
    const char *path;
    int rc;

    if (facts->target_cgroup < 0) {
        return 0;
    }
    cgroup = &facts->cgroups[facts->target_cgroup];
    path = cgroup->headroom_path != NULL ? cgroup->headroom_path : cgroup->charged_path;
    if (path == NULL) {
        return 0;
    }
    region_init(&region, (size_t)CGROUP_MAX_MEMBERS * sizeof(int32_t) * 4);
    rc = cgroup_members(reader, path, &region, &members);
    for (size_t i = 0; rc == 0 && i < members.count; i++) {
        rc = compare_score(reader, facts, members.pids[i]);
    }
    region_release(&region);
    return rc == -ENOMEM ? rc : 0;
}
