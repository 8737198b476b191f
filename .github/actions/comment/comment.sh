#!/usr/bin/env bash
# Reads the artifact of run $RUN into $FOUND, and writes it as the comment of the pull request whose newest commit is $HEAD.
set -euo pipefail

gh run download "$RUN" --repo "$REPOSITORY" --name kubebench-comment --dir "$FOUND"
for file in number comment.md; do
  if [ -L "$FOUND/$file" ] || [ ! -f "$FOUND/$file" ]; then
    echo "the artifact has no file $file" >&2
    exit 1
  fi
done

number=$(head -c 20 "$FOUND/number" | tr -d '\n')
if ! [[ $number =~ ^[1-9][0-9]{0,9}$ ]]; then
  echo "the artifact names no pull request" >&2
  exit 1
fi
# Whoever opened a pull request could name another one. Only the one whose commit was judged is meant.
head=$(gh api "repos/$REPOSITORY/pulls/$number" --jq .head.sha)
if [ "$head" != "$HEAD" ]; then
  echo "pull request $number has another newest commit than the one that was judged: nothing to say" >&2
  exit 0
fi

mark='<!-- kubebench gate -->'
if [ "$(head -n 1 "$FOUND/comment.md" | head -c 200)" != "$mark" ]; then
  echo "the comment does not begin with $mark" >&2
  exit 1
fi
# A comment holds 65,536 characters, and names nobody.
iconv -f UTF-8 -t UTF-8 -c "$FOUND/comment.md" | sed 's/@/\&#64;/g' >"$FOUND/whole.md"
head -c 60000 "$FOUND/whole.md" | iconv -f UTF-8 -t UTF-8 -c >"$FOUND/body.md" || true
if [ "$(wc -c <"$FOUND/whole.md")" -gt 60000 ]; then
  printf '\n\n</details>\n\nThe rest is in the summary of the run.\n' >>"$FOUND/body.md"
fi
printf '\n<sub>Of commit %s.</sub>\n' "$HEAD" >>"$FOUND/body.md"

own='.[] | select(.user.login == "github-actions[bot]") | select(.body | startswith("<!-- kubebench gate -->")) | .id'
comments=$(gh api --paginate "repos/$REPOSITORY/issues/$number/comments" --jq "$own")
comment=${comments%%$'\n'*}
if [ -n "$comment" ]; then
  gh api --method PATCH "repos/$REPOSITORY/issues/comments/$comment" --field "body=@$FOUND/body.md" --jq .html_url
else
  gh api --method POST "repos/$REPOSITORY/issues/$number/comments" --field "body=@$FOUND/body.md" --jq .html_url
fi
