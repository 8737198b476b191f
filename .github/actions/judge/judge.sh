#!/usr/bin/env bash
# Checks the tree and evaluates the results; leaves what it found in $OUT/comment.md and in the step summary.
# Everything that comes from outside is in the environment and never part of a command's text.
set -uo pipefail

# Each project of a repository has an artifact, by its folder.
folder=$(git rev-parse --show-prefix 2>/dev/null) || folder=""
artifact=$(printf '%s' "$folder" | sha256sum | cut -c 1-12)
printf 'artifact=kubebench-comment-%s\n' "$artifact" >>"${GITHUB_OUTPUT:-/dev/null}"

# Prints text as one word of an HTML comment, as Kubebench does.
word() (
  LC_ALL=C
  text=$1 made=""
  while [ -n "$text" ]; do
    letter=${text:0:1} text=${text:1}
    case "$letter" in
      [A-Za-z0-9._/]) made+=$letter ;;
      -) if [ "${made%-}" = "$made" ]; then made+=-; else made+=%2D; fi ;;
      *) printf -v letter '%%%02X' "'$letter" && made+=%${letter: -2} ;;
    esac
  done
  printf '%s' "${made:-.}"
)

mkdir -p "$OUT"
: >"$OUT/comment.md"
worst=0
step() {
  "$@"
  local status=$?
  if [ "$status" -gt "$worst" ]; then worst=$status; fi
  return "$status"
}

options=()
if [ -n "${RESULTS:-}" ]; then options+=("--results=$RESULTS"); fi
gating=("--on-missing=${ON_MISSING:-fail}")
if [ -n "${ON_INCONCLUSIVE:-}" ]; then gating+=("--on-inconclusive=$ON_INCONCLUSIVE"); fi
if [ "${ONLY_NEW:-true}" != false ]; then gating+=(--only-new); fi
change=()
# Gates compare with the default branch, which a checkout may not have set.
if [ -n "${DEFAULT_BRANCH:-}" ]; then git remote set-head origin "$DEFAULT_BRANCH" || true; fi
if [ -n "${SINCE:-}" ]; then change+=("--since=$SINCE" "--on-weakened=${ON_WEAKENED:-pass}"); fi
# A folder that is named has all results.
case "${RESULTS:-}" in "" | recorded:*) gating+=(--fetch) ;; esac

# Evaluates the gates. The token is for the host of this repository alone; an empty header takes the place of one that the checkout left.
gate() (
  if [ -n "${TOKEN:-}" ] && [ -n "${GITHUB_SERVER_URL:-}" ]; then
    header="http.$GITHUB_SERVER_URL/.extraheader"
    basic=$(printf 'x-access-token:%s' "$TOKEN" | base64 | tr -d '\n')
    export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0="$header" GIT_CONFIG_VALUE_0="" GIT_CONFIG_KEY_1="$header"
    export GIT_CONFIG_VALUE_1="AUTHORIZATION: basic $basic"
  fi
  unset TOKEN
  kubebench gate "$@"
)

if step kubebench compile --check ${change[@]+"${change[@]}"} --output-format github; then
  checked="The generated tree is as the specs say."
else
  checked="**\`kubebench compile --check\` fails**: the annotations and the log of the job say why, and what to do."
fi

step gate ${options[@]+"${options[@]}"} --output-format github --markdown "$OUT/gate.md" "${gating[@]}" ${change[@]+"${change[@]}"}
gated=$?
if [ -f "$OUT/gate.md" ]; then
  cat "$OUT/gate.md" >>"$OUT/comment.md"
else
  printf '%s\n' "<!-- kubebench gate $(word "${folder%/}") -->" '### ❌ Kubebench gate gives no answer' '' \
    "It ended with status $gated; the log of the job says why." >>"$OUT/comment.md"
fi
if [ -n "${BASELINE:-}" ] && [ -n "${CANDIDATE:-}" ]; then
  # Comparing decides nothing: a side without results is said, and fails nobody.
  kubebench compare ${options[@]+"${options[@]}"} "--markdown=$OUT/compare.md" -- "$BASELINE" "$CANDIDATE" || true
  if [ -f "$OUT/compare.md" ]; then
    { echo; cat "$OUT/compare.md"; } >>"$OUT/comment.md"
  fi
fi
# What the change may newly do is for its reviewers; with FAIL_ON, for the check too.
if [ -n "${SINCE:-}" ]; then
  step kubebench plan "--since=$SINCE" "--markdown=$OUT/plan.md" ${FAIL_ON:+"--fail-on=$FAIL_ON"}
  if [ -f "$OUT/plan.md" ]; then
    { echo; cat "$OUT/plan.md"; } >>"$OUT/comment.md"
  fi
fi
printf '\n%s\n' "$checked" >>"$OUT/comment.md"
rm -f "$OUT/gate.md" "$OUT/compare.md" "$OUT/plan.md"

printf '%s\n' "${NUMBER:-}" >"$OUT/number"
# A summary holds a megabyte.
head -c 900000 "$OUT/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$worst"
