# Turns samples (`PEER METRIC VALUE` lines) into tables and judges the bars.
#
# The best peer of a metric is the lowest median among those which are not ours. obstack
# frees no single block, so it is no peer where blocks are freed one by one; its column is
# there to see what the least possible work costs.

function median(list, count,    i, j, swap) {
    for (i = 2; i <= count; i++) {
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) {
            swap = list[j]; list[j] = list[j - 1]; list[j - 1] = swap
        }
    }
    return list[int((count + 1) / 2)]
}

function ours(peer) { return peer == "zend" || peer == "compact" }

# Lowest median of the peers for this metric, only those in the pattern; name in best_name.
function best(metric, pattern,    i, peer, low) {
    low = -1
    best_name = "none"
    for (i = 1; i <= peers; i++) {
        peer = peer_name[i]
        if (!ours(peer) && peer ~ pattern && ((peer, metric) in middle)) {
            if (low < 0 || middle[peer, metric] < low) {
                low = middle[peer, metric]
                best_name = peer
            }
        }
    }
    return low
}

function table(metric, unit,    i, peer, low) {
    low = best(metric, FREEING)
    if (metric ~ /drop$/) {
        low = best(metric, "")
    }
    printf "\n%s (%s)%s\n", metric, unit, (low > 0 ? "; ratio to " best_name : "")
    for (i = 1; i <= peers; i++) {
        peer = peer_name[i]
        if ((peer, metric) in middle) {
            printf "  %-16s %12.2f   %10.2f .. %-10.2f", peer, middle[peer, metric],
                lowest[peer, metric], highest[peer, metric]
            printf "%s\n", (low > 0 ? sprintf("   %6.2f", middle[peer, metric] / low) : "")
        }
    }
}

# part and whole are medians; neither is 0 once it was measured.
function judge(what, part, whole, bar,    ratio) {
    if (!(part > 0 && whole > 0)) {
        printf "  %-58s not measured\n", what
        return
    }
    ratio = part / whole
    printf "  %-58s %8.3f  bar %-6.3f %s\n", what, ratio, bar, (ratio <= bar ? "met" : "NOT MET")
}

function judge_layout(layout,    percent, metric, low) {
    for (percent = 10; percent <= 90; percent += 40) {
        metric = "op-" percent "/op"
        low = best(metric, FREEING)
        judge(layout " " metric " / best (" best_name ")", middle[layout, metric], low, 0.9)
    }
    low = best("end/free", FREEING)
    judge(layout " end/drop / best end/free (" best_name ")",
        middle[layout, "end/drop"], low, 0.05)
    judge(layout " end/drop / mi_heap_destroy",
        middle[layout, "end/drop"], middle["mimalloc", "end/drop"], 1)
}

BEGIN { FREEING = "^(mimalloc|jemalloc|jemalloc-tcache|glibc)$" }

{
    if (!($1 in seen)) { seen[$1] = 1; peer_name[++peers] = $1 }
    if (!($2 in known)) { known[$2] = 1; metric_name[++metrics] = $2 }
    value[$1, $2, ++taken[$1, $2]] = $3 + 0
}

END {
    for (i = 1; i <= peers; i++) {
        for (m = 1; m <= metrics; m++) {
            key = peer_name[i] SUBSEP metric_name[m]
            if (!(key in taken)) { continue }
            for (n = 1; n <= taken[key]; n++) { list[n] = value[key, n] }
            middle[key] = median(list, taken[key])
            lowest[key] = list[1]
            highest[key] = list[taken[key]]
        }
    }
    print "medians, then lowest and highest run"
    for (m = 1; m <= metrics; m++) {
        metric = metric_name[m]
        unit = metric ~ /\/op$/ ? "ns per alloc or free" : metric ~ /rss/ ? "KiB" : "us"
        table(metric, unit)
    }
    print "\nbars"
    judge_layout("zend")
    judge_layout("compact")
}
