/*
 * table.c - the commands. A new one is a row here and a file cmd_NAME.c.
 *
 * The first row has no name: it is what the program does without a command. Options stand
 * in options.c; a command takes those whose bits are in its row, and no others, so that a
 * forgotten option is told and not ignored.
 */
#include "cmd/command.h"

#include <string.h>

#include "cmd/cmd_bench.h"
#include "cmd/cmd_capture.h"
#include "cmd/cmd_explain.h"
#include "cmd/cmd_export.h"
#include "cmd/cmd_help.h"
#include "cmd/cmd_lab.h"
#include "cmd/cmd_overview.h"
#include "cmd/cmd_plan.h"
#include "cmd/cmd_record.h"
#include "cmd/cmd_report.h"
#include "cmd/cmd_rules.h"
#include "cmd/cmd_run.h"
#include "cmd/cmd_top.h"
#include "cmd/options.h"

enum {
    LOOK = OPTION_JSON | OPTION_BYTES | OPTION_ALL | OPTION_COLOR | OPTION_WIDTH,
    ANY_NUMBER_OF_ARGUMENTS = 1 << 20,
};

const struct command command_table[] = {
    {"", "", "the host at a glance: the largest processes and pools",
        "One row for each process or pool, largest first, with its gravest finding, or\n"
        "the number of notes (findings of level info) when none asks for action. The\n"
        "resident figure of a pool without a pss counts shared pages for each process.\n"
        "Heaps are not walked for this: explain a row by its name or pid to see inside.",
        LOOK | OPTION_FAIL_ON | OPTION_ROOT, 0, 0, cmd_overview},
    {"explain", "TARGET | FILE.db [TARGET]",
        "where the memory of one process, pool, unit or container goes",
        "Shows the layers from what the application tracks down to what its cgroup is\n"
        "charged for, the gap between each pair, the largest parts of what is resident,\n"
        "the lines to change, what these give back, and a line for each other finding:\n"
        "one screen. With --all every part, arena, member and missing fact, what a\n"
        "server counts, and of each finding the evidence follow.\n"
        "The target is not stopped and not changed. A MySQL or MariaDB server is asked\n"
        "over its socket what it counts (how it logs in: share/doc/strata/mysql.md).\n"
        "\n"
        "  sudo strata explain mariadbd\n"
        "  strata explain --json 812 | jq '.findings[].rule'\n"
        "  strata explain incident.strata        what `strata capture` wrote\n"
        "  strata explain day.db --at 14:05      what `strata record` wrote\n"
        "  sudo strata explain mariadbd --since before.strata\n"
        "\n"
        "With --since it says what each layer did since FILE, and what came of the\n"
        "bytes that each finding of then had promised. A look that promises bytes is "
        "kept\n"
        "(/var/lib/strata, ~/.local/state/strata or $STRATA_STATE), and the page of the\n"
        "target's next start has that part by itself.\n"
        "\n"
        "See `strata help targets` for what TARGET may be.",
        LOOK | OPTION_FAIL_ON | OPTION_ROOT | OPTION_CAPTURE | OPTION_DEFAULTS |
            OPTION_ASK | OPTION_AT | OPTION_SINCE,
        1, 2, cmd_explain},
    {"capture", "TARGET -o FILE", "store the facts about a target for `explain FILE`",
        "Reads what `explain` would read and writes it to FILE, to be explained later,\n"
        "on any machine, by this or a newer strata. An existing FILE is replaced once\n"
        "the new one is complete; -o - writes to standard output. The file tells names\n"
        "of programs, paths and sizes, but no content of memory.\n"
        "\n"
        "  sudo strata capture mariadbd -o incident.strata",
        OPTION_OUTPUT | OPTION_ROOT | OPTION_DEFAULTS | OPTION_ASK, 1, 1, cmd_capture},
    {"bench", "[RECIPE... | --url URL -- COMMAND]",
        "load a server, sample its pool: requests a second for each GiB",
        "Starts each RECIPE on loopback with as many workers, waits until it answers,\n"
        "warms it up, loads it, lets it rest, and ends all it started. A run whose\n"
        "figures cannot be true, or that was disturbed, does not count.\n"
        "\n"
        "  strata bench --models\n"
        "  sudo strata bench fpm-nginx gunicorn --json -o result.json\n"
        "  strata plan result.json gunicorn --limit 512M\n"
        "\n"
        "share/doc/strata/bench.md has works, recipes and checks.",
        OPTION_JSON | OPTION_OUTPUT | OPTION_BENCH, 0, ANY_NUMBER_OF_ARGUMENTS,
        cmd_bench},
    {"plan", "[TARGET]", "how many workers fit, which limit to set, what would buy more",
        "Counts what is there once and what each worker adds, and divides. TARGET is a\n"
        "pool as for explain, a capture, a recording, or the result of `strata bench\n"
        "--json`; where these have several targets, a second argument names one.\n"
        "\n"
        "  sudo strata plan pool:www\n"
        "  sudo strata plan pool:www --limit 512M --case worst\n"
        "  strata plan result.json --limit 512M\n"
        "\n"
        "share/doc/strata/plan.md has the arithmetic.",
        (LOOK & ~OPTION_ALL) | OPTION_ROOT | OPTION_ASK | OPTION_PLAN | OPTION_AT, 0, 2,
        cmd_plan},
    {"top", "", "the host at a glance, live, on the terminal",
        "The table of plain `strata`, read anew every 2 seconds, with the columns of\n"
        "the allocator for the largest targets. Keys: arrows choose, enter shows layers\n"
        "and findings, right unfolds a pool, s sorts, / filters, space pauses, h helps,\n"
        "q ends.\n"
        "--once looks inside of the largest once and prints the table; it needs no\n"
        "terminal.\n"
        "\n"
        "  sudo strata top --sort retained",
        OPTION_EVERY | OPTION_ONCE | OPTION_SORT | OPTION_FILTER | OPTION_BYTES |
            OPTION_ALL | OPTION_COLOR | OPTION_WIDTH | OPTION_ROOT | OPTION_ASK,
        0, 0, cmd_top},
    {"export", "", "metrics of this host for Prometheus",
        "Looks at the host every 15 seconds and inside of its largest programs and "
        "pools\n"
        "as often as costs less than a twentieth of one processor, and serves what it\n"
        "knows, with its age, on http://127.0.0.1:9812/metrics. A slow target makes its\n"
        "own figures older and nobody wait. Started by a systemd socket it serves "
        "there.\n"
        "\n"
        "  sudo strata export --listen 127.0.0.1:9812\n"
        "  sudo strata export --textfile /var/lib/node_exporter/strata.prom\n"
        "  sudo strata export --once             prints the page\n"
        "\n"
        "Programs of one name, pool and unit are one target. Alert rules, a dashboard "
        "and\n"
        "what Kubernetes takes are in share/strata, units in lib/systemd/system;\n"
        "share/doc/strata/fleet.md tells of many machines.",
        OPTION_LISTEN | OPTION_TEXTFILE | OPTION_EVERY | OPTION_MOST | OPTION_PER_PID |
            OPTION_ONCE | OPTION_ROOT | OPTION_ASK,
        0, 0, cmd_export},
    {"record", "TARGET... -o FILE.db",
        "store facts over time, for `report` and `explain`",
        "Reads the totals of every member at each tick, and all that `explain` reads at\n"
        "the start, now and then, when the resident memory moved by a tenth (at once at\n"
        "a new highest moment), and at the end. FILE is a SQLite database\n"
        "(share/doc/strata/recording.md); when it is there, recording resumes in it.\n"
        "What was stored survives a kill and a full disk. Ends after --for, with\n"
        "Ctrl-C, or when every TARGET was a pid and has ended; prints what it took.\n"
        "\n"
        "  sudo strata record pool:www mariadbd -o day.db --every 5s --for 24h\n"
        "  strata report day.db -o day.html\n"
        "  strata explain day.db --at 14:05",
        OPTION_OUTPUT | OPTION_ROOT | OPTION_JSON | OPTION_EVERY | OPTION_RECORD |
            OPTION_DEFAULTS | OPTION_ASK,
        1, ANY_NUMBER_OF_ARGUMENTS, cmd_record},
    {"report", "FILE.db -o FILE.html", "a recording as one page with plots",
        "Layers over time, what the rules found and when, whether memory grows without\n"
        "end or has warmed up. The page needs a browser and nothing else: no network,\n"
        "no other file. With --compare the recording before a change stands beside it.\n"
        "\n"
        "  strata report day.db -o day.html\n"
        "  strata report new.db --compare old.db -o change.html\n"
        "  strata report day.db --from 14:00 --to 15:00 --json",
        OPTION_OUTPUT | OPTION_JSON | OPTION_AT | OPTION_SPAN | OPTION_FAIL_ON, 1, 1,
        cmd_report},
    {"run", "[--] COMMAND [ARGUMENT...]",
        "run a command on strata's malloc; layers on exit",
        "Starts COMMAND with libstrata-malloc.so in LD_PRELOAD, in front of what is "
        "there\n"
        "already, passes signals on, and prints on standard error what the command's\n"
        "malloc had when it ended. Children of the command use the same malloc; the\n"
        "figures are those of COMMAND alone. A limit bounds malloc, and no mappings "
        "that\n"
        "COMMAND makes itself, as PHP does for its heaps.\n"
        "\n"
        "  strata run -- python3 script.py\n"
        "  strata run --limit 512M -- mariadbd --datadir /tmp/d\n"
        "  strata run --check -- php8.2 --version\n"
        "\n"
        "SIZE is bytes, or with K, M, G or T behind, or a share of the cgroup's limit "
        "as\n"
        "80%. A preload does not reach every program: not a static one, one that is\n"
        "set-user-ID, set-group-ID or has file capabilities, nor one for 32 bits, for\n"
        "another machine or for musl. Such a program runs with its own malloc, after a\n"
        "message that says so. With --check it does not run; of all others --check\n"
        "proves that the library was at work in the command, and that the command's\n"
        "blocks were its, and says so.\n"
        "\n"
        "The exit code is COMMAND's, 128 + N when signal N ended it; 125 with --check\n"
        "when the preload does not act, and when the library is not installed; 126 when\n"
        "COMMAND cannot be run, 127 when there is none.",
        OPTION_RUN | OPTION_BYTES | OPTION_OUTPUT, 1, ANY_NUMBER_OF_ARGUMENTS, cmd_run},
    {"rules", "[ID]", "what each finding means, when it speaks, what it proposes",
        "Without ID the list, with ID one rule in full.",
        LOOK & ~OPTION_BYTES & ~OPTION_ALL, 0, 1, cmd_rules},
    {"lab", "[NAME [SETTING=VALUE...]]",
        "reproduce an experiment beside its published figures",
        "Without NAME the list. A lab runs on this machine and sets what was published\n"
        "beside what is measured and what strata says. Its exit code is 5 when "
        "something\n"
        "is missing that it needs, and with --check 1 when figures differ that must\n"
        "agree. A word that is no setting of the lab makes it print those it has.\n"
        "\n"
        "  strata lab cliff\n"
        "  strata lab arena-churn threads=64",
        OPTION_CHECK, 0, ANY_NUMBER_OF_ARGUMENTS, cmd_lab},
    {"help", "[COMMAND | targets | exit-codes]", "this text, or more on one subject", "",
        0, 0, 1, cmd_help},
    {.run = NULL},
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = command_table; command->run != NULL; command++) {
        if (strcmp(command->name, name) == 0) {
            return command;
        }
    }
    return NULL;
}
