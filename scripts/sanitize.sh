#!/usr/bin/env bash
# Runs the tests under sanitizers and valgrind, which find out-of-bounds accesses, data races, reads
# of uninitialised memory and leaks; and tests or type-checks the code for other processors.
#
#   scripts/sanitize.sh setup                  fetch what tsan, msan, neon and check need
#   scripts/sanitize.sh asan     [ARGUMENTS]   AddressSanitizer, LeakSanitizer; each SIMD level
#   scripts/sanitize.sh tsan     [ARGUMENTS]   ThreadSanitizer
#   scripts/sanitize.sh msan     [ARGUMENTS]   MemorySanitizer
#   scripts/sanitize.sh valgrind [ARGUMENTS]   memcheck, optimised, at AVX2: valgrind hides AVX-512
#   scripts/sanitize.sh neon     [ARGUMENTS]   the tests as an aarch64 program, under qemu
#   scripts/sanitize.sh check    [TARGET...]   type-check for i686, s390x, wasm32 and aarch64
#   scripts/sanitize.sh --help
#
# ARGUMENTS are those of `cargo test`; without any: -p tensor-core -p tensor-kernels --lib --tests.
# Arguments after `--` are passed to the test programs: `-- --skip slow`. Exit code 0: nothing
# found. 2: a tool is missing.
#
# asan needs a nightly toolchain; valgrind needs valgrind. tsan, msan, neon and check build the
# standard library too: with an uninstrumented one, tsan and msan report false positives. They take
# it from the nightly toolchain where `rustup component add rust-src` is possible; elsewhere `setup`
# unpacks Debian packages (230 MB, 1.4 GB unpacked) into LANES_DIR, ~/.cache/lanes by default.
# Nothing is installed system-wide.
#
#   TENSOR_SIMD      the SIMD levels that asan tests: "v3 v4" (all that this CPU has)
#   PROPTEST_CASES   cases of a random test (64; 16 under valgrind)
#   LANES_DIR        where `setup` puts what it fetches
set -euo pipefail
if [[ ${CARGO_TARGET_DIR:-/} != /* ]]; then CARGO_TARGET_DIR=$PWD/$CARGO_TARGET_DIR; fi
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly LANES_DIR=${LANES_DIR:-$HOME/.cache/lanes}
readonly RUST=$LANES_DIR/rust ARM=$LANES_DIR/aarch64
readonly TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}
readonly HOST=x86_64-unknown-linux-gnu

usage() {
  sed -n '2,/^[^#]/s/^# \?//p' "${BASH_SOURCE[0]}"
}

missing() {
  printf 'sanitize: %s\n' "$1" >&2
  exit 2
}

# --- what is tested -------------------------------------------------------------------------------

# Splits the arguments at `--`: $what is for cargo, $rest for the test programs.
take_arguments() {
  what=() rest=()
  while (($#)) && [[ $1 != -- ]]; do
    what+=("$1")
    shift
  done
  if (($#)); then rest=("${@:2}"); fi
  if ((${#what[@]} == 0)); then what=(-p tensor-core -p tensor-kernels --lib --tests); fi
}

# skip NAME...: skips tests. A name that no test has is an error, because it would skip nothing, or
# the wrong test, unnoticed.
skip() {
  local name
  for name in "$@"; do
    grep -rqE "fn $name\b" crates/*/tests crates/*/src || missing "no test is called $name any more"
    rest+=(--skip "$name")
  done
}

# Tests that limit the address space, of which sanitizers reserve terabytes, the stack, of which
# unoptimised instrumented frames need a multiple, or the time.
skip_tests_of_limits() {
  skip fault_where_no_thread_can_start_the_caller_does_the_work \
    fault_where_some_threads_cannot_start_the_caller_does_the_work fault_a_small_stack_is_enough \
    fault_reductions_inside_each_other_need_little_of_the_stack \
    fault_a_reduction_needs_little_of_the_stack \
    fault_a_tensor_of_many_short_dimensions_is_cut_off_with_a_note
}

# rayon never frees the thread-local data of a thread that becomes part of a pool.
skip_leak_of_rayon() {
  skip fault_in_a_pool_of_the_calling_thread
}

# For all sanitizers: reports with lines. Some tests request more memory than there is and expect an
# error value.
sanitizer_settings() {
  export CARGO_PROFILE_DEV_DEBUG=${CARGO_PROFILE_DEV_DEBUG:-line-tables-only}
  export RUST_MIN_STACK=${RUST_MIN_STACK:-16777216}
  export PROPTEST_CASES=${PROPTEST_CASES:-64}
  export ASAN_OPTIONS=allocator_may_return_null=1:${ASAN_OPTIONS-}
  export MSAN_OPTIONS=allocator_may_return_null=1:${MSAN_OPTIONS-}
  export TSAN_OPTIONS=allocator_may_return_null=1:halt_on_error=1:${TSAN_OPTIONS-}
}

simd_levels() {
  local flags
  flags=$(grep -m 1 '^flags' /proc/cpuinfo || true)
  echo scalar
  if [[ $flags == *' avx2 '* && $flags == *' fma '* ]]; then echo v3; fi
  if [[ $flags == *' avx512vl '* ]]; then echo v4; fi
}

# --- compilers ------------------------------------------------------------------------------------

nightly() {
  cargo +nightly --version > /dev/null 2>&1 ||
    missing "no nightly toolchain (rustup toolchain install nightly --profile minimal)"
  cargo +nightly "$@"
}

nightly_has_std_source() {
  local sysroot
  sysroot=$(rustc +nightly --print sysroot 2> /dev/null || true)
  [[ -n $sysroot && -d $sysroot/lib/rustlib/src/rust/library ]]
}

# Sets $cargo to a cargo that can build the standard library.
with_std_source() {
  if nightly_has_std_source; then
    cargo=(cargo +nightly)
  elif [[ -x $LANES_DIR/rustc ]]; then
    # A stable compiler that accepts unstable options, and the source of its standard library.
    cargo=(env RUSTC_BOOTSTRAP=1 "RUSTC=$LANES_DIR/rustc"
      "__CARGO_TESTS_ONLY_SRC_ROOT=$(std_source)" cargo)
  else
    missing "no source of the standard library: rustup component add rust-src --toolchain nightly,
  or scripts/sanitize.sh setup (Debian, Ubuntu)"
  fi
}

std_source() {
  echo "$RUST"/usr/src/rustc-*/library
}

# --- setup ----------------------------------------------------------------------------------------

setup() {
  local program
  for program in apt-get apt-cache dpkg rustc; do
    command -v "$program" > /dev/null || missing "setup needs $program"
  done
  mkdir -p "$LANES_DIR/debian"
  nightly_has_std_source || setup_compiler
  fetch "$ARM" qemu-user-static gcc-12-aarch64-linux-gnu gcc-12-aarch64-linux-gnu-base \
    cpp-12-aarch64-linux-gnu binutils-aarch64-linux-gnu libc6-arm64-cross libc6-dev-arm64-cross \
    libgcc-s1-arm64-cross libgcc-12-dev-arm64-cross linux-libc-dev-arm64-cross
  write_linker
  printf 'setup: ready in %s\n' "$LANES_DIR"
}

# A Rust that is packaged for browsers, newer than the distribution's own, with its source.
setup_compiler() {
  apt-cache show rust-web-src > /dev/null 2>&1 ||
    missing "apt knows no package rust-web-src: apt-get update, or a Debian of 2023 or later"
  fetch "$RUST" rust-web-src rustc-web libstd-rust-web-dev \
    "$(dependency libstd-rust-web-dev libstd-rust-web-)" "$(llvm_package)"
  write_rustc
  add_runtimes
}

# dependency PACKAGE PREFIX: the dependency of the package whose name has this prefix.
dependency() {
  apt-cache depends "$1" | sed -n "s/^ *Depends: \($2[^ ]*\)\$/\1/p" | head -n 1
}

llvm_package() {
  dependency "$(dependency libstd-rust-web-dev libstd-rust-web-)" libllvm
}

# fetch ROOT PACKAGE...: unpacks packages under ROOT. apt-get downloads none twice.
fetch() {
  local root=$1 package
  mkdir -p "$root"
  (cd "$LANES_DIR/debian" && apt-get download --quiet "${@:2}")
  for package in "${@:2}"; do
    dpkg -x "$(newest "$package")" "$root"
  done
}

newest() {
  find "$LANES_DIR/debian" -name "$1_*.deb" | sort --version-sort | tail -n 1
}

# write_program NAME: writes standard input to an executable file.
write_program() {
  cat > "$LANES_DIR/$1"
  chmod +x "$LANES_DIR/$1"
}

write_rustc() {
  write_program rustc << PROGRAM
#!/bin/sh
LD_LIBRARY_PATH=$RUST/usr/lib/x86_64-linux-gnu exec $RUST/usr/bin/rustc "\$@"
PROGRAM
}

write_linker() {
  local libraries=$ARM/usr/aarch64-linux-gnu/lib
  write_program aarch64-linker << PROGRAM
#!/bin/sh
export LD_LIBRARY_PATH=$ARM/usr/lib/x86_64-linux-gnu PATH=$ARM/usr/bin:\$PATH
exec $ARM/usr/bin/aarch64-linux-gnu-gcc-12 --sysroot=$ARM -B$libraries -L$libraries \\
  -L$ARM/usr/lib/gcc-cross/aarch64-linux-gnu/12 "\$@"
PROGRAM
}

# The packaged compiler lacks the sanitizer runtimes; those of a nightly work if both are built on
# the same LLVM.
add_runtimes() {
  local libraries=lib/rustlib/$HOST/lib sysroot name
  sysroot=$(rustc +nightly --print sysroot) || missing "tsan and msan need a nightly toolchain"
  local theirs ours
  theirs=$(llvm_of rustc +nightly) ours=$(llvm_of "$LANES_DIR/rustc")
  [[ $theirs == "$ours" ]] ||
    missing "the nightly is built on LLVM $theirs, $LANES_DIR/rustc on $ours: the sanitizers'
  runtimes of the one do not fit the other; install a nightly of LLVM $ours"
  for name in asan lsan msan tsan; do
    cp "$sysroot/$libraries/librustc-nightly_rt.$name.a" \
      "$RUST/usr/$libraries/librustc-stable_rt.$name.a"
  done
}

llvm_of() {
  "$@" -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p'
}

# --- sanitizers -----------------------------------------------------------------------------------

asan() {
  local level
  take_arguments "$@"
  skip_tests_of_limits
  skip_leak_of_rayon
  sanitizer_settings
  for level in ${TENSOR_SIMD:-$(simd_levels)}; do
    printf '\nsanitize: AddressSanitizer at SIMD level %s\n' "$level"
    # With --target, flags do not apply to build scripts.
    TENSOR_SIMD=$level RUSTFLAGS="${RUSTFLAGS-} -Zsanitizer=address" nightly test --locked \
      --target "$HOST" --target-dir "$TARGET_DIR/sanitize/asan" --no-fail-fast "${what[@]}" \
      -- "${rest[@]}"
  done
}

# instrumented NAME FLAGS: the tests with an instrumented standard library.
instrumented() {
  skip_tests_of_limits
  sanitizer_settings
  with_std_source
  RUSTFLAGS="${RUSTFLAGS-} $2" "${cargo[@]}" test --locked -Zbuild-std --target "$HOST" \
    --target-dir "$TARGET_DIR/sanitize/$1" --no-fail-fast "${what[@]}" -- "${rest[@]}"
}

tsan() {
  take_arguments "$@"
  instrumented tsan -Zsanitizer=thread
}

msan() {
  take_arguments "$@"
  # Non-temporal stores are assembly, which is not instrumented.
  instrumented msan \
    "-Zsanitizer=memory -Zsanitizer-memory-track-origins --cfg tensor_streams_as_plain"
}

memcheck() {
  take_arguments "$@"
  command -v valgrind > /dev/null ||
    missing "no valgrind (Debian, Ubuntu: apt-get install valgrind libc6-dbg)"
  skip_leak_of_rayon
  # A child process would run outside of valgrind.
  export TENSOR_DIFFERENTIAL_IN_PROCESS=1
  # valgrind runs one thread at a time; without fair scheduling, waiting threads wait long.
  # A test asks for 1,024 threads.
  local threads="--fair-sched=yes --max-threads=1100"
  local leaks="--leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite"
  export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet $threads \
--error-exitcode=99 $leaks"
  export PROPTEST_CASES=${PROPTEST_CASES:-16}
  # Line numbers for the reports of valgrind. Unoptimised, the tests would take an hour.
  export CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
  unset TENSOR_SIMD
  cargo test --release --locked --target-dir "$TARGET_DIR/sanitize/valgrind" --no-fail-fast \
    "${what[@]}" -- --test-threads=1 "${rest[@]}"
}

# --- other processors -----------------------------------------------------------------------------

neon() {
  take_arguments "$@"
  # The first has a limit of seconds, and emulation takes longer; the second a limit of the stack,
  # of which unoptimised code for this processor takes more.
  skip fault_a_tensor_of_many_short_dimensions_is_cut_off_with_a_note \
    fault_a_reduction_needs_little_of_the_stack
  # A child process would be started without the emulator.
  export TENSOR_DIFFERENTIAL_IN_PROCESS=1
  [[ -x $LANES_DIR/aarch64-linker ]] || missing "no aarch64 linker: scripts/sanitize.sh setup"
  with_std_source
  export PROPTEST_CASES=${PROPTEST_CASES:-64}
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$LANES_DIR/aarch64-linker
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="$ARM/usr/bin/qemu-aarch64-static \
-L $ARM/usr/aarch64-linux-gnu"
  "${cargo[@]}" test --locked -Zbuild-std --target aarch64-unknown-linux-gnu \
    --target-dir "$TARGET_DIR/sanitize/neon" --no-fail-fast "${what[@]}" -- "${rest[@]}"
}

check() {
  local target targets=("$@")
  if ((${#targets[@]} == 0)); then
    targets=(i686-unknown-linux-gnu s390x-unknown-linux-gnu wasm32-unknown-unknown
      aarch64-unknown-linux-gnu)
  fi
  with_std_source
  for target in "${targets[@]}"; do
    printf '\nsanitize: check for %s\n' "$target"
    "${cargo[@]}" check --locked --keep-going -Zbuild-std --target "$target" \
      --target-dir "$TARGET_DIR/sanitize/check" -p tensor-core -p tensor-kernels \
      $(checked "$target")
  done
}

# checked TARGET: the tests have sizes beyond 32 bits, so for 32-bit targets only the libraries are
# checked.
checked() {
  case $1 in
    i686-* | wasm32-*) echo --lib ;;
    *) echo --lib --tests ;;
  esac
}

case ${1-} in
  setup | asan | tsan | msan | neon | check) "$@" ;;
  valgrind) memcheck "${@:2}" ;;
  -h | --help) usage ;;
  *)
    usage >&2
    exit 2
    ;;
esac
