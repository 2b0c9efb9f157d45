#!/usr/bin/env bash
# Compares the layouts of a project that uses this library with those of its base. Both sides are
# recorded on this machine: the base's layouts with the library that the base uses, the present ones
# with the present library. It is run in the project, whose file of layouts is a suite file.
#
#   scripts/layouts.sh origin/main layouts.json
#   scripts/layouts.sh HEAD~1 layouts.json --allow accepted.txt    more arguments are for `compare`
#
# The library is where cargo finds it: a git dependency, or a path in the project or beside it. It
# is built once if both sides have the same one, and not at all if the layouts are the same, too. If
# something is worse, both sides are recorded once more: times changed by chance do not change
# again.
#
# The comparison goes to standard output and, as markdown, to target/layouts/comparison.md. Exit
# code 1: something is worse. 2: nothing could be compared. LAYOUTS_RECORD has the options of
# `record`: --quick --counts always by default. It needs git, cargo and jq.
set -euo pipefail

if (($# < 2)); then
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}" >&2
  exit 2
fi
target=$1 layouts=$2
shift 2
mkdir -p target/layouts
folder=$PWD/target/layouts
read -ra options <<< "${LAYOUTS_RECORD---quick --counts always}"

# leave REASON CODE: writes the reason in place of a comparison.
leave() {
  printf '### Layouts: nothing was compared\n\n%s\n' "$1" > "$folder/comparison.md"
  printf 'layouts: %s\n' "$1" >&2
  exit "$2"
}

rm -f "$folder"/{base,new}{,2}.json
[[ -f $layouts ]] || leave "There is no file '$layouts'." 2
project=$(git rev-parse --show-toplevel) && below=$(git rev-parse --show-prefix)
base=$(git merge-base "$target" HEAD) ||
  leave "There is no commit that '$target' and HEAD have in common." 2

# The base lies beside the project, so that paths that lead out of the project are right in it, too.
tree=$(dirname "$project")/.$(basename "$project")-base
remove_tree() {
  git worktree remove --force --force "$tree" 2> /dev/null || true
}
trap remove_tree EXIT
remove_tree
git worktree add --quiet --detach "$tree" "$base"
git -C "$tree" submodule --quiet update --init --recursive

# library FOLDER: the folder of the library that a project uses. cargo has one for each commit.
library() {
  local found='.packages[] | select(.name == "tensor-kernels") | .manifest_path'
  (cd "$1" && cargo metadata --format-version 1 --quiet) | jq --raw-output "$found" |
    sed 's|/crates/tensor-kernels/Cargo.toml$||'
}
read -r base_library < <(library "$tree/$below") ||
  leave "The base, $base, does not use tensor-kernels." 2
read -r new_library < <(library .) || leave 'This project does not use tensor-kernels.' 2

# Whether both sides have the same library: of one commit, beside the project, or unchanged in it.
same_library() {
  [[ $base_library == "$new_library" ]] && return
  [[ ${base_library#"$tree"} == "${new_library#"$project"}" ]] &&
    git diff --quiet "$base" -- "$new_library"
}

old=$folder/base-layouts.json
rm -f "$folder/comparison.md"
# Layouts of a file outside of the project, or that is new, are those of today on both sides.
if ! git show "$base:./$layouts" > "$old" 2> /dev/null; then
  echo "layouts.sh: $base has no $layouts: today's layouts are compared" >&2
  cp "$layouts" "$old"
fi
same=
if same_library; then
  same=yes
  if cmp --quiet "$old" "$layouts"; then
    leave 'Neither the layouts nor the library have changed.' 0
  fi
fi

# build LIBRARY NAME
build() {
  cargo build --quiet --release --manifest-path "$1/crates/tensor-bench/Cargo.toml" \
    --target-dir "$folder/target" || leave "The $2 build fails." 2
  cp "$folder/target/release/tensor-bench" "$folder/$2"
}
build "$new_library" new
if [[ $same ]]; then cp "$folder/new" "$folder/base"; else build "$base_library" base; fi

# record BUILD LAYOUTS NAME: under the commit of the project.
record() {
  local tree_of=$project commit
  if [[ $1 == base ]]; then tree_of=$tree; fi
  commit=$(git -C "$tree_of" describe --always --abbrev=12 --exclude='*' --dirty=' with changes')
  "$folder/$1" record --cases "$2" "${options[@]}" --commit "$commit" --out "$folder/$3.json" ||
    leave "The layouts cannot be recorded by the $1 build." 2
}
record base "$old" base
record new "$layouts" new

compare=("$folder/new" compare "$folder/base.json" "$folder/new.json" "$@")
code=0
"${compare[@]}" > /dev/null 2> "$folder/error" || code=$?
if ((code > 1)); then leave "The records cannot be compared: $(< "$folder/error")" 2; fi
again=()
if ((code == 1)); then
  record new "$layouts" new2
  record base "$old" base2
  again=(--again "$folder/base2.json" "$folder/new2.json")
fi
"${compare[@]}" "${again[@]}" --format markdown > "$folder/comparison.md" 2> /dev/null || true
"${compare[@]}" "${again[@]}"
