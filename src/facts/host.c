/*
 * host.c - facts that hold for every process of a machine.
 *
 * Everything is read from files below the root, never by uname(2) or sysinfo(2), so that a
 * captured tree gives the captured machine. Two numbers have no file: the page size and
 * the ticks of /proc are taken from the C library, and are those of every Linux of the same
 * architecture family we run on (USER_HZ is 100, include/asm-generic/param.h).
 *
 * A hypervisor is looked for in three places: the release of kernels that are made for
 * one (WSL, Docker Desktop, OrbStack), the "hypervisor" flag which every x86 hypervisor
 * sets (CPUID leaf 1, ECX bit 31), and the vendor in the DMI tables where there is no such
 * flag. It matters since all figures are then of the guest, not of the machine around it.
 */
#include "facts/host.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/slice.h"
#include "facts/cpu_list.h"
#include "facts/fact_line.h"
#include "facts/kernel_config.h"
#include "facts/pressure.h"
#include "facts/text_line.h"

enum { FILE_MAX_BYTES = 1 << 20, CPUINFO_MAX_BYTES = 16 << 20 };

/* CONFIG_NO_PAGE_MAPCOUNT came with Linux 6.15. */
enum { ESTIMATES_SINCE_MAJOR = 6, ESTIMATES_SINCE_MINOR = 15 };

static const char thp_folder[] = "kernel/mm/transparent_hugepage/";

struct reader {
    struct facts_root *root;
    struct region *region;
    struct host_facts *host;
    struct buffer text; /* of the file that was read last */
};

static int read_proc(struct reader *reader, const char *name)
{
    return facts_read_file(
        reader->root, reader->root->proc_fd, name, CPUINFO_MAX_BYTES, &reader->text);
}

static int read_sys(struct reader *reader, const char *name)
{
    if (reader->root->sys_fd < 0) {
        return -ENOENT;
    }
    return facts_read_file(
        reader->root, reader->root->sys_fd, name, FILE_MAX_BYTES, &reader->text);
}

/* The text that was read, without its line feed. */
static struct slice text_of(const struct reader *reader)
{
    struct slice text = {buffer_text(&reader->text), reader->text.length_bytes};

    return slice_cut_suffix(text, "\n");
}

/* *place becomes a copy of text, or stays NULL when rc says it was not read. */
static int keep_text(struct reader *reader, int rc, struct slice text, char **place)
{
    if (rc != 0 || text.bytes == 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    *place = region_copy(reader->region, text.text, text.bytes);
    return *place == NULL ? -ENOMEM : 0;
}

static int read_kernel(struct reader *reader)
{
    struct host_facts *host = reader->host;
    int rc = read_proc(reader, "sys/kernel/osrelease");

    rc = keep_text(reader, rc, text_of(reader), &host->kernel);
    if (rc == 0) {
        rc = read_proc(reader, "sys/kernel/arch"); /* since Linux 6.1 */
        rc = keep_text(reader, rc, text_of(reader), &host->machine);
    }
    return rc;
}

static int read_meminfo(struct reader *reader)
{
    struct fact *values = reader->host->values;
    int rc = read_proc(reader, "meminfo");

    if (rc != 0) {
        fact_line_mark(host_fact_table, HOST_FACT_COUNT, "meminfo",
            (enum fact_state)facts_state_of(rc), values);
        return rc == -ENOMEM ? rc : 0;
    }
    char *cursor = reader->text.data;
    char *end = cursor + reader->text.length_bytes;
    for (char *line; (line = text_line_next(&cursor, end)) != NULL;) {
        (void)fact_line_store(host_fact_table, HOST_FACT_COUNT, "meminfo", line, values);
    }
    return 0;
}

static int read_cpus(struct reader *reader)
{
    struct fact *cpus = &reader->host->values[HOST_FACT_CPUS_ONLINE];
    int rc = read_sys(reader, "devices/system/cpu/online");

    cpus->state = (enum fact_state)facts_state_of(rc);
    if (rc == 0) {
        cpus->value = cpu_list_count(text_of(reader));
        cpus->state = cpus->value > 0 ? FACT_OK : FACT_MALFORMED;
    }
    return rc == -ENOMEM ? rc : 0;
}

static int read_pressure(struct reader *reader)
{
    struct fact *values = reader->host->values;
    int rc = read_proc(reader, "pressure/memory");

    if (rc == 0) {
        values[HOST_FACT_PRESSURE_SOME] =
            pressure_total(buffer_text(&reader->text), "some");
        values[HOST_FACT_PRESSURE_FULL] =
            pressure_total(buffer_text(&reader->text), "full");
    } else {
        fact_line_mark(host_fact_table, HOST_FACT_COUNT, "pressure/memory",
            (enum fact_state)facts_state_of(rc), values);
    }
    return rc == -ENOMEM ? rc : 0;
}

/* The word in brackets of "always [madvise] never". */
static struct slice chosen_word(struct slice words)
{
    struct slice word;

    while (slice_next(&words, ' ', &word)) {
        if (slice_starts_with(word, "[") && slice_ends_with(word, "]")) {
            return slice_cut_suffix(slice_cut_front(word, 1), "]");
        }
    }
    return (struct slice){NULL, 0};
}

static int read_huge_page_setting(struct reader *reader, const char *name, char **place)
{
    struct buffer path;

    buffer_init(&path);
    buffer_printf(&path, "%s%s", thp_folder, name);
    int rc = buffer_error(&path);
    if (rc == 0) {
        rc = read_sys(reader, path.data);
    }
    buffer_release(&path);
    return keep_text(reader, rc, chosen_word(text_of(reader)), place);
}

/* "btime 1764500000" of /proc/stat. */
static int read_boot_time(struct reader *reader)
{
    struct slice rest;
    struct slice line;
    struct slice word;
    int rc = read_proc(reader, "stat");

    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    rest = text_of(reader);
    while (slice_next(&rest, '\n', &line)) {
        if (slice_next(&line, ' ', &word) && slice_is(word, "btime")) {
            const char *digits = line.text;
            (void)number_read(&digits, 10, &reader->host->boot_unix_seconds);
            return 0;
        }
    }
    return 0;
}

/* Kernels that are built for one virtual machine monitor say so in their release. */
static const char *hypervisor_of_release(const char *release)
{
    static const struct {
        const char *part;
        const char *hypervisor;
    } known[] = {
        {"orbstack", "OrbStack"},
        {"linuxkit", "Docker Desktop (linuxkit)"},
        {"microsoft-standard", "WSL 2 (Hyper-V)"},
    };

    for (size_t i = 0; release != NULL && i < sizeof(known) / sizeof(known[0]); i++) {
        if (strstr(release, known[i].part) != NULL) {
            return known[i].hypervisor;
        }
    }
    return NULL;
}

/* Whether vendor and product of the DMI tables are those of a virtual machine. */
static bool is_virtual(struct slice vendor, const char *product)
{
    static const struct {
        const char *vendor;
        const char *product; /* a part of it; some of these make real machines too */
    } known[] = {
        {"QEMU", ""},
        {"VMware", ""},
        {"innotek GmbH", "VirtualBox"},
        {"Oracle", "Virtual"},
        {"Microsoft", "Virtual"},
        {"Apple", "Virtual"},
        {"Parallels", "Virtual"},
        {"Google", "Compute Engine"},
        {"Xen", ""},
        {"Bochs", ""},
        {"OpenStack", ""},
        {"DigitalOcean", "Droplet"},
        {"Hetzner", "vServer"},
        {"Alibaba Cloud", "ECS"},
        {"", "KVM"},
    };

    if (slice_starts_with(vendor, "Amazon EC2")) {
        return strstr(product, "metal") == NULL;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (slice_starts_with(vendor, known[i].vendor) &&
            strstr(product, known[i].product) != NULL) {
            return true;
        }
    }
    return false;
}

/* *text becomes "vendor product" of the DMI tables, "" when there are none. */
static int read_dmi(struct reader *reader, struct buffer *text, bool *virtual)
{
    int rc = read_sys(reader, "class/dmi/id/sys_vendor");

    *virtual = false;
    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    struct slice vendor = text_of(reader);
    buffer_append(text, vendor.text, vendor.bytes);
    size_t vendor_bytes = vendor.bytes;
    rc = read_sys(reader, "class/dmi/id/product_name");
    if (rc == 0) {
        struct slice product = text_of(reader);
        buffer_append_char(text, ' ');
        buffer_append(text, product.text, product.bytes);
    }
    if (buffer_error(text) != 0) {
        return -ENOMEM;
    }
    *virtual = is_virtual((struct slice){buffer_text(text), vendor_bytes},
        buffer_text(text) + vendor_bytes);
    return rc == -ENOMEM ? rc : 0;
}

/* The flag of x86: the first line "flags : ..." has it as a word of its own. */
static int read_cpu_flag(struct reader *reader, bool *flag)
{
    struct slice rest;
    struct slice line;
    int rc = read_proc(reader, "cpuinfo");

    *flag = false;
    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    rest = text_of(reader);
    while (slice_next(&rest, '\n', &line)) {
        if (slice_starts_with(line, "flags")) {
            *flag = slice_list_has(line, ' ', "hypervisor");
            return 0;
        }
    }
    return 0;
}

static int read_hypervisor(struct reader *reader)
{
    const char *name = hypervisor_of_release(reader->host->kernel);
    struct buffer dmi;
    bool virtual;
    bool flag;

    buffer_init(&dmi);
    int rc = read_dmi(reader, &dmi, &virtual);
    if (rc == 0) {
        rc = read_cpu_flag(reader, &flag);
    }
    if (rc == 0 && name == NULL && (flag || virtual)) {
        name = dmi.length_bytes > 0 ? buffer_text(&dmi)
                                    : "not named: the CPU's flag says so";
    }
    if (rc == 0 && name != NULL) {
        reader->host->hypervisor = region_copy_text(reader->region, name);
        rc = reader->host->hypervisor == NULL ? -ENOMEM : 0;
    }
    buffer_release(&dmi);
    return rc;
}

static bool is_older_than_estimates(const char *release)
{
    const char *at = release;
    uint64_t major;
    uint64_t minor;

    if (number_read(&at, 10, &major) != 0 || *at != '.') {
        return false;
    }
    at++;
    if (number_read(&at, 10, &minor) != 0) {
        return false;
    }
    return major < ESTIMATES_SINCE_MAJOR ||
           (major == ESTIMATES_SINCE_MAJOR && minor < ESTIMATES_SINCE_MINOR);
}

static int read_all(struct reader *reader)
{
    int (*const steps[])(struct reader *) = {read_kernel, read_meminfo, read_cpus,
        read_pressure, read_boot_time, read_hypervisor};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(steps) / sizeof(steps[0]); i++) {
        rc = steps[i](reader);
    }
    if (rc == 0) {
        rc = read_huge_page_setting(reader, "enabled", &reader->host->thp_enabled);
    }
    if (rc == 0) {
        rc = read_huge_page_setting(reader, "defrag", &reader->host->thp_defrag);
    }
    return rc;
}

int host_read(struct facts_root *root, struct region *region, struct host_facts *host)
{
    struct reader reader = {.root = root, .region = region, .host = host};

    *host = (struct host_facts){
        .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE),
        .clock_ticks_per_second = (uint64_t)sysconf(_SC_CLK_TCK),
    };
    buffer_init(&reader.text);
    int rc = read_all(&reader);
    buffer_release(&reader.text);
    return rc;
}

/* Unknown when the kernel may have the option and does not tell how it was built. */
int host_read_page_counts(struct facts_root *root, struct host_facts *host)
{
    if (host->kernel == NULL) {
        return 0;
    }
    if (is_older_than_estimates(host->kernel)) {
        host->page_counts_state = FACT_OK;
        return 0;
    }
    int rc = kernel_config_has(
        root, host->kernel, "CONFIG_NO_PAGE_MAPCOUNT", &host->page_counts_estimated);
    if (rc == 0) {
        host->page_counts_state = FACT_OK;
    }
    return rc == -ENOMEM ? rc : 0;
}
