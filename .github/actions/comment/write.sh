# Writes a comment on number $2 below $1, a text that begins with $3 and that the other options give, and updates it from then on.
# Nothing in $3 ends a string of jq. This text is part of the workflow that `kubebench init` writes, too.
write_comment() {
  local place=$1 number=$2 mark=$3 own comments comment
  shift 3
  own=".[] | select(.user.login == \"github-actions[bot]\") | select(.body | startswith(\"$mark\")) | .id"
  comments=$(gh api --paginate "$place/$number/comments" --jq "$own") || return 1
  comment=${comments%%$'\n'*}
  if [ -n "$comment" ]; then
    gh api --method PATCH "$place/comments/$comment" "$@" --jq .html_url
  else
    gh api --method POST "$place/$number/comments" "$@" --jq .html_url
  fi
}
