# common.sh - what the inits of the test kernels share; sourced by busybox's sh as process 1.
set -u
export b=/bin/busybox
$b mkdir -p /proc /sys /dev /tmp
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys
$b mount -t devtmpfs dev /dev
$b sysctl -q -w kernel.printk='1 1 1 1'
export PATH=/bin
echo # ends what firmware left on the line

block() { # NAME COMMAND...: one block of output, with the exit code
    echo "@@@ $1"
    shift
    "$@" 2>/tmp/errors
    echo "@@@ end $?"
}

wait_for() { # SECONDS COMMAND...: until it succeeds
    tenths=$(($1 * 10))
    shift
    while [ $tenths -gt 0 ] && ! "$@"; do
        $b usleep 100000
        tenths=$((tenths - 1))
    done
}
