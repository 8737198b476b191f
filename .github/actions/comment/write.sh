# Prints the id of the comment on number $2 below $1 that begins with $3; nothing if there is none. Nothing in $3 ends a string of jq.
# This text is part of the workflow that `kubebench init` writes, too.
find_comment() {
  local own comments
  own=".[] | select(.user.login == \"github-actions[bot]\") | select(.body | startswith(\"$3\")) | .id"
  comments=$(gh api --paginate "$1/$2/comments" --jq "$own") || return 1
  printf '%s' "${comments%%$'\n'*}"
}

# Writes a comment on number $2 below $1, a text that begins with $3 and that the other options give, and updates it from then on.
write_comment() {
  local place=$1 number=$2 mark=$3 comment
  shift 3
  comment=$(find_comment "$place" "$number" "$mark") || return 1
  if [ -n "$comment" ]; then
    gh api --method PATCH "$place/comments/$comment" "$@" --jq .html_url
  else
    gh api --method POST "$place/$number/comments" "$@" --jq .html_url
  fi
}
