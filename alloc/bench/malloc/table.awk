# Samples "RUN SHAPE PEER SECONDS CPU PEAK AFTER LIVE" to medians, and to geometric means of
# the ratios to glibc. The table shows processor time, which other work on the machine disturbs less. AFTER counts in the first run, which waited, and only where the live
# data is 1 MiB or more; elsewhere it is printed and not compared.
function median(list, count,    i, j, swap, values) {
    split(list, values, " ")
    for (i = 1; i < count; i++) {
        for (j = i + 1; j <= count; j++) {
            if (values[j] + 0 < values[i] + 0) {
                swap = values[i]; values[i] = values[j]; values[j] = swap
            }
        }
    }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}
{
    key = $2 " " $3
    walls[key] = walls[key] " " $4
    times[key] = times[key] " " $5
    peaks[key] = peaks[key] " " $6
    count[key]++
    if ($1 == 1) {
        after[key] = $7
        live[$2] = $8
    }
}
END {
    number = split(peers, peer, " ")
    shape_count = split(shapes, shape, " ")
    printf "\n%-9s %9s", "shape", "live KiB"
    for (p = 1; p <= number; p++) {
        printf " %24s", peer[p]
    }
    printf "\n%-9s %9s", "", ""
    for (p = 1; p <= number; p++) {
        printf " %24s", "cpu s / peak / after MiB"
    }
    printf "\n"
    for (s = 1; s <= shape_count; s++) {
        printf "%-9s %9d", shape[s], live[shape[s]]
        base = shape[s] " " peer[1]
        for (p = 1; p <= number; p++) {
            key = shape[s] " " peer[p]
            time = median(times[key], count[key])
            peak = median(peaks[key], count[key])
            printf " %24s", sprintf("%.3f / %.1f / %.1f", time, peak / 1024, after[key] / 1024)
            if (shape[s] != "nothing") {
                wall_sum[p] += log(median(walls[key], count[key]) / median(walls[base], count[base]))
                time_sum[p] += log(time / median(times[base], count[base]))
                timed[p]++
            }
            peak_sum[p] += log(peak / median(peaks[base], count[base]))
            peaked[p]++
            if (live[shape[s]] >= 1024) {
                after_sum[p] += log(after[key] / live[shape[s]])
                waited[p]++
            }
        }
        printf "\n"
    }
    printf "\ngeometric means; time and peak as ratio to %s, after as ratio to the live bytes\n", peer[1]
    for (p = 1; p <= number; p++) {
        printf "%-9s wall time %.3f  cpu time %.3f  peak %.3f  after %.3f\n", peer[p], exp(wall_sum[p] / timed[p]), exp(time_sum[p] / timed[p]),
            exp(peak_sum[p] / peaked[p]), exp(after_sum[p] / waited[p])
    }
}
