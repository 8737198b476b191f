#!/usr/bin/env bash
# Reads the artifacts of run $RUN into $FOUND, one a project, and writes each as the comment of the pull request whose newest commit is
# $HEAD.
set -euo pipefail
# shellcheck source=write.sh
. "${BASH_SOURCE%/*}/write.sh"

gh run download "$RUN" --repo "$REPOSITORY" --pattern 'kubebench-comment-*' --dir "$FOUND"

# Writes what is in a folder, and updates the comment that begins with the same project.
write() {
  local folder=$1 file number head first mark
  for file in number comment.md; do
    if [ -L "$folder/$file" ] || [ ! -f "$folder/$file" ]; then
      echo "the artifact has no file $file" >&2
      return 1
    fi
  done

  number=$(head -c 20 "$folder/number" | tr -d '\n')
  if ! [[ $number =~ ^[1-9][0-9]{0,9}$ ]]; then
    echo "the artifact names no pull request" >&2
    return 1
  fi
  # Whoever opened a pull request could name another one. Only the one whose commit was evaluated is meant.
  head=$(gh api "repos/$REPOSITORY/pulls/$number" --jq .head.sha) || return 1
  if [ "$head" != "$HEAD" ]; then
    echo "pull request $number has another newest commit than the one that was evaluated: nothing to say" >&2
    return 0
  fi

  # <!-- kubebench gate FOLDER NAME -->: the folder tells the projects of a repository apart. Nothing in it ends a string of jq.
  first=$(head -n 1 "$folder/comment.md" | head -c 1000)
  if ! [[ $first =~ ^'<!-- kubebench gate '([A-Za-z0-9._/%-]+)(' '[A-Za-z0-9._/%-]+)?' -->'$ ]]; then
    echo "the comment does not begin with <!-- kubebench gate FOLDER NAME -->" >&2
    return 1
  fi
  mark="<!-- kubebench gate ${BASH_REMATCH[1]} "

  # A comment holds 65,536 characters, and names nobody.
  # An @ behind a letter or digit names nobody on GitHub, and is part of a digest: in code it has to stay.
  iconv -f UTF-8 -t UTF-8 -c "$folder/comment.md" |
    sed -E 's/(^|[^A-Za-z0-9])@/\1\&#64;/g; s/;@/;\&#64;/g; s/@&#64;/\&#64;\&#64;/g' >"$folder/whole.md" || return 1
  head -c 60000 "$folder/whole.md" | iconv -f UTF-8 -t UTF-8 -c >"$folder/body.md" || true
  if [ "$(wc -c <"$folder/whole.md")" -gt 60000 ]; then
    printf '\n\n</details>\n\nThe rest is in the summary of the run.\n' >>"$folder/body.md" || return 1
  fi
  printf '\n<sub>Of commit %s.</sub>\n' "$HEAD" >>"$folder/body.md" || return 1

  write_comment "repos/$REPOSITORY/issues" "$number" "$mark" --field "body=@$folder/body.md"
}

# So many projects at most: whoever opened the pull request says how many there are.
most=20
count=0
failed=0
for folder in "$FOUND"/kubebench-comment-*/; do
  count=$((count + 1))
  if [ "$count" -gt "$most" ]; then
    echo "there are more than $most comments: the others are left out" >&2
    failed=1
    break
  fi
  write "${folder%/}" || failed=1
done
if [ "$count" -eq 0 ]; then
  echo "the run left no comment" >&2
  failed=1
fi
exit "$failed"
