# Copies MEBIBYTES of zeros through the kernel in blocks of BLOCK bytes, ROUNDS times, and prints the bandwidth of each round.
# Needs a POSIX shell, dd and awk; dd says how long it took in its own words, which differ between systems:
#   GNU      268435456 bytes (268 MB, 256 MiB) copied, 0.0421 s, 6.4 GB/s
#   BusyBox  268435456 bytes (256.0MB) copied, 0.042100 seconds, 5.9GB/s
#   BSD      268435456 bytes transferred in 0.042100 secs (6376139097 bytes/sec)
set -eu
export LC_ALL=C

round=1
while [ "$round" -le "$ROUNDS" ]; do
    # Not in one pipeline: that would end as awk does, whatever became of dd.
    said=$(dd if=/dev/zero of=/dev/null bs="$BLOCK" count=$((MEBIBYTES * 1048576 / BLOCK)) 2>&1)
    printf '%s\n' "$said" |
        awk -v round="$round" -v block="$BLOCK" '
            / bytes / {
                for (word = 1; word < NF; word++)
                    if ($(word + 1) ~ /^(s|secs|seconds),?$/ && $word > 0) {
                        printf "round %d block %d bandwidth %.3f GB/s\n", round, block, $1 / $word / 1e9
                        found = 1
                    }
            }
            END { exit !found }'
    round=$((round + 1))
done
