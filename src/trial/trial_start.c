/*
 * trial_start.c - the box, the database, the server, and its first right answer.
 *
 * Placeholders get their values here; what was started stands in trial->services, in the
 * order of its start, from where end() of trial.c takes it down whatever happens.
 */
#include "trial/trial_start.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "facts/web_value.h"
#include "trial/folder.h"

enum { READY_SECONDS = 30, READY_PAUSE_MS = 50, PREPARE_SECONDS = 60 };

/* text of the recipe with its placeholders filled in; of the trial's region. */
static const char *expand(struct trial *trial, const char *text)
{
    struct buffer buffer;

    buffer_init(&buffer);
    recipe_expand(trial->recipe, trial->values, trial->value_count, text, &buffer);
    const char *copy = region_copy_text(&trial->region, buffer_text(&buffer));
    buffer_release(&buffer);
    return copy;
}

static void add_value(struct trial *trial, const char *name, const char *text)
{
    if (trial->value_count < TRIAL_VALUES) {
        trial->values[trial->value_count++] = (struct recipe_value){name, text};
    }
}

int trial_set_values(struct trial *trial)
{
    unsigned ports[3];
    int rc = folder_free_ports(ports, 3);

    if (rc != 0) {
        return error_set(trial->error, rc, "cannot find a free port: %s", strerror(-rc));
    }
    (void)snprintf(trial->port, sizeof(trial->port), "%u", ports[0]);
    (void)snprintf(trial->port2, sizeof(trial->port2), "%u", ports[1]);
    (void)snprintf(trial->database, sizeof(trial->database), "%u", ports[2]);
    (void)snprintf(
        trial->workers, sizeof(trial->workers), "%u", trial->options->setup->workers);
    add_value(trial, "dir", trial->folder);
    add_value(trial, "port", trial->port);
    add_value(trial, "port2", trial->port2);
    add_value(trial, "workers", trial->workers);
    add_value(trial, "work", trial->options->work->name);
    add_value(trial, "libexec", trial->options->libexec);
    add_value(trial, "database", trial->database);
    add_value(trial, "recipe", trial->recipe->folder);
    return 0;
}

static int copy_files(struct trial *trial, const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->file_count; i++) {
        struct buffer text;
        struct buffer filled;
        const char *base = strrchr(recipe->files[i], '/');
        buffer_init(&text);
        buffer_init(&filled);
        int rc = folder_read(recipe->folder, recipe->files[i], &text);
        if (rc == 0) {
            recipe_expand(
                recipe, trial->values, trial->value_count, buffer_text(&text), &filled);
            rc = folder_write(
                trial->folder, base != NULL ? base + 1 : recipe->files[i], &filled);
        }
        buffer_release(&text);
        buffer_release(&filled);
        if (rc != 0) {
            return error_set(trial->error, rc, "cannot copy '%s' of recipe '%s': %s",
                recipe->files[i], recipe->name, strerror(-rc));
        }
    }
    return 0;
}

static int prepare(struct trial *trial, const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->prepare_count; i++) {
        const char *command = expand(trial, recipe->prepare[i]);
        const int rc = command == NULL ? -ENOMEM
                                       : service_run(command, trial->log, PREPARE_SECONDS,
                                             trial->error);
        if (rc != 0) {
            return rc < 0
                       ? rc
                       : error_set(trial->error, -EIO, "'%s' ended with %d", command, rc);
        }
    }
    return 0;
}

static int start_services(struct trial *trial, const struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->start_count; i++) {
        const struct recipe_start *start = &recipe->starts[i];
        struct service *service = &trial->services[trial->service_count];
        const char *command = expand(trial, start->command);
        const bool boxed = strcmp(start->role, "pool") == 0 && trial->box.open;
        if (command == NULL) {
            return -ENOMEM;
        }
        *service =
            (struct service){.role = start->role, .stop_signal = recipe->stop_signal};
        const int rc = service_start(
            service, command, trial->log, boxed ? trial->box.procs : NULL, trial->error);
        if (rc != 0) {
            return rc;
        }
        trial->service_count++;
        if (strcmp(start->role, "pool") == 0) {
            (void)snprintf(trial->pool, TRIAL_NAME_BYTES, "pool:%d", (int)service->pid);
        } else if (strcmp(start->role, "front") == 0) {
            (void)snprintf(trial->front, TRIAL_NAME_BYTES, "pool:%d", (int)service->pid);
            trial->row->front = true;
        }
    }
    return 0;
}

/* The role of a service that ended by itself, or NULL. */
const char *trial_lost_service(struct trial *trial)
{
    for (size_t i = 0; i < trial->service_count; i++) {
        if (!service_is_alive(&trial->services[i])) {
            return trial->services[i].role;
        }
    }
    return NULL;
}

int trial_ended_early(struct trial *trial, const char *role)
{
    char tail[160];

    folder_tail(trial->log, tail, sizeof(tail));
    return error_set(trial->error, -ECHILD, "the '%s' ended%s%s", role,
        *tail != '\0' ? ": " : "", tail);
}

/* The first right answer, within READY_SECONDS. */
int trial_wait_ready(struct trial *trial, const char *url)
{
    const int64_t end = service_now_ns() + READY_SECONDS * INT64_C(1000000000);
    int rc = -ETIMEDOUT;

    while (service_now_ns() < end && !service_was_told_to_stop()) {
        const char *lost = trial_lost_service(trial);
        if (lost != NULL) {
            return trial_ended_early(trial, lost);
        }
        rc = load_probe(url, &trial->expected);
        if (rc == 0) {
            return 0;
        }
        service_pause_ms(READY_PAUSE_MS);
    }
    if (service_was_told_to_stop()) {
        return -EINTR;
    }
    return error_set(trial->error, rc, "no right answer from '%s' within %d s: %s",
        web_shown(url).text, READY_SECONDS,
        rc == -EPROTO  ? "another status or body than expected"
        : rc == -EFBIG ? "its answer does not end, or is longer than 4 MiB"
                       : strerror(-rc));
}

static int start_database(struct trial *trial)
{
    struct recipe database;
    const struct recipe *own = trial->recipe;

    if (!own->database || !trial->options->work->database) {
        return 0;
    }
    int rc = recipe_load(
        &trial->region, trial->options->recipes, "mariadb", &database, trial->error);
    if (rc != 0) {
        return rc;
    }
    const struct recipe_program *missing =
        recipe_find_programs(&trial->region, &database);
    if (missing != NULL) {
        return error_set(trial->error, -ENOENT, "the work '%s' needs a database: %s",
            trial->options->work->name, database.install);
    }
    trial_say(trial, "starting %s", database.title);
    trial->recipe = &database;
    rc = copy_files(trial, &database);
    rc = rc == 0 ? prepare(trial, &database) : rc;
    rc = rc == 0 ? start_services(trial, &database) : rc;
    trial->recipe = own;
    return rc;
}

int trial_start_server(struct trial *trial)
{
    const struct recipe *recipe = trial->recipe;
    int rc = 0;

    if (trial->options->setup->memory_limit_bytes != 0) {
        rc = box_open(
            &trial->box, trial->options->setup->memory_limit_bytes, trial->error);
    } else {
        (void)box_open(&trial->box, 0, NULL); /* its figure is welcome, not needed */
    }
    rc = rc == 0 ? start_database(trial) : rc;
    rc = rc == 0 ? copy_files(trial, recipe) : rc;
    rc = rc == 0 ? prepare(trial, recipe) : rc;
    if (rc == 0) {
        trial_say(trial, "starting %s", recipe->title);
        rc = start_services(trial, recipe);
    }
    if (rc == 0) {
        trial->url = expand(
            trial, trial->options->url != NULL ? trial->options->url : recipe->url);
        rc = trial->url == NULL ? -ENOMEM : trial_wait_ready(trial, trial->url);
    }
    return rc;
}
