#!/usr/bin/env bash
# Checks what compilers do not: the length of lines, words that this project does not use, and
# examples in documentation.
#
#   scripts/prose.sh              all tracked files of code and prose
#   scripts/prose.sh FILE...      these files
#   scripts/prose.sh --help
#
# - No line is longer than 100 columns. Links and tables of Markdown may be.
# - No retired word stands in code, comments, documentation or help texts. scripts/retired-words.txt
#   has them, each with the standard term to use instead.
# - In a module that says "Every public function here has an example." every one has.
#
# Prints FILE:LINE: what is wrong. Exit code 0: nothing. 1: something. 2: bad arguments.
set -euo pipefail
readonly ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly WORDS=$ROOT/scripts/retired-words.txt COLUMNS_MAX=100

usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
}

# What people write: no data, no recorded results, and not the list itself.
tracked() {
  git -C "$ROOT" ls-files -- '*.rs' '*.md' '*.sh' '*.yml' '.ci/run' |
    sed "s|^|$ROOT/|"
}

# In columns, not bytes: that is what grep counts in this locale.
long_lines() {
  local columns=$((COLUMNS_MAX + 1)) file line text
  { LC_ALL=C.UTF-8 grep -HnE "^.{$columns,}" -- "$@" || true; } |
    while IFS=: read -r file line text; do
      if [[ $file == *.md && ($text == *\|* || $text == *"](http"*) ]]; then continue; fi
      printf '%s:%d: more than %d columns\n' "$file" "$line" "$COLUMNS_MAX"
    done
}

# Each line of the list: an extended regular expression, a tab, what to say instead. An expression
# matches whole words, in upper or lower case. A word in quotes is a name, of a key of JSON for
# example; the list of changes and the record of mutants name what there was.
retired_words() {
  local expression instead
  while IFS=$'\t' read -r expression instead; do
    if [[ -z $expression || $expression == '#'* ]]; then continue; fi
    { grep -HniwE -e "$expression" -- "$@" || true; } |
      { grep -viE "[/\"\`\\\\]($expression)[\"\`\\\\]|^[^:]*(CHANGELOG|mutants)\.md:" || true; } |
      cut -d : -f 1,2 |
      while read -r place; do
        printf '%s: retired word (%s): say %s\n' "$place" "$expression" "$instead"
      done
  done < "$WORDS"
}

missing_examples() {
  local file
  for file in "$@"; do
    if ! grep -q '^//! Every public function here has an example\.$' "$file"; then continue; fi
    awk '
      /^ *\/\/\/ ```/ { example = 1 }
      /^ *#\[/ || /^ *\/\/\// { next }
      /^ *pub (const )?(unsafe )?fn / && !example {
        sub(/^ */, ""); sub(/[(<].*/, "")
        printf "%s:%d: no example of %s\n", FILENAME, FNR, $0
      }
      { example = 0 }' "$file"
  done
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  -*)
    usage >&2
    exit 2
    ;;
esac
if (($#)); then files=("$@"); else mapfile -t files < <(tracked); fi
for file in "${files[@]}"; do
  if [[ ! -r $file ]]; then
    printf 'prose: cannot read %s\n' "$file" >&2
    exit 2
  fi
done
found=$(
  long_lines "${files[@]}"
  retired_words "${files[@]}"
  missing_examples "${files[@]}"
)
if [[ -n $found ]]; then
  printf '%s\n' "${found//"$ROOT/"/}"
  printf 'prose: %d findings\n' "$(wc -l <<< "$found")" >&2
  exit 1
fi
