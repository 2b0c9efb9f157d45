#!/usr/bin/env bash
# Draws the picture and writes the tables of the README from recorded results. Measures nothing.
#
#   scripts/figures.sh picture    an SVG: results/copy.json as bars
#   scripts/figures.sh table      Markdown: the same beside PyTorch, NumPy and candle,
#                                 whose figures stand in docs/performance.md
#   scripts/figures.sh slowdown   Markdown: results/elementwise.json beside PyTorch and NumPy
#
# All show one thread and preallocated results. Copies are those of the group `dram`, in percent of
# the copy bandwidth: the time of the fastest plain copy of as many bytes over the time of the case.
# A slowdown is the time of a case over that of the same work on contiguous operands, by the same
# library.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

case ${1-} in
  picture | table | slowdown) ;;
  *)
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

suite=copy
if [[ $1 == slowdown ]]; then suite=elementwise; fi

# Both files are read line by line: the JSON is the one that tensor-bench prints, one field a line.
awk -v what="$1" '
  function shown(id, words) { order[++count] = id; label[id] = words }

  # The value of a line `"key": value,`.
  function value(line) {
    sub(/^[^:]*: */, "", line)
    gsub(/^"|",?$|,$/, "", line)
    return line
  }

  function percent(part) { return sprintf("%.0f", 100 * part) }
  function cell(part) { return part > 0 ? percent(part) : "–" }

  # Counts a case in the geometric mean of a column.
  function seen(column, part) {
    if (part > 0) { logs[column] += log(part); cases[column]++ }
    return part
  }
  function mean(column) { return exp(logs[column] / cases[column]) }

  function text(x, y, size, anchor, colour, words) {
    printf "<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", \
      x, y, size, anchor, colour, words
  }
  function rectangle(x, y, width, height, colour) {
    printf "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", \
      x, y, width, height, colour
  }

  BEGIN {
    shown("t2d_4096", "4096×4096 matrix, transposed")
    shown("t2d_4096_u8", "the same, of bytes (u8)")
    shown("nchw_nhwc_img_f32", "32 images, NCHW to NHWC")
    shown("nhwc_nchw_img_u8", "64 images, NHWC to NCHW (u8)")
    shown("heads_bshd_bhsd", "attention heads to the front")
    shown("heads_kt", "attention keys, transposed")
    shown("rev4", "4-D array, reversed")
    shown("narrow_cols", "half of the columns")
    shown("step2_cols", "every second column")
    shown("flip_cols", "columns mirrored")
    measured = "dram"
    ours = "#1a7f37"; others = "#6e7781"; naive = "#bf8700"
  }

  FILENAME ~ /json$/ && /^    "cpu":/ { cpu = value($0) }
  FILENAME ~ /json$/ && /^    "cores":/ { cores = value($0) }
  FILENAME ~ /json$/ && /^    "simd":/ { simd = value($0) }
  FILENAME ~ /json$/ && /^  "command":/ { command = value($0) }
  FILENAME ~ /json$/ && /^      "group":/ { group = value($0); peer = "" }
  FILENAME ~ /json$/ && /^      "id":/ { id = value($0) }
  FILENAME ~ /json$/ && /^      "threads":/ { wanted = group == measured && value($0) == 1 }
  FILENAME ~ /json$/ && wanted && id == order[1] && /^      "bytes":/ { bytes = value($0) }
  FILENAME ~ /json$/ && wanted && /^      "into_ns":/ { into[id] = value($0) }
  FILENAME ~ /json$/ && wanted && /^      "alloc_ns":/ { alloc[id] = value($0) }
  FILENAME ~ /json$/ && wanted && /^      "naive_ns":/ { loop[id] = value($0) }
  FILENAME ~ /json$/ && wanted && /^      "roof_ns":/ { copy[id] = value($0); all[++total] = id }
  FILENAME ~ /json$/ && wanted && /^      "contiguous_ns":/ { dense[id] = value($0) }
  FILENAME ~ /json$/ && wanted && /^          "name":/ { peer = value($0) }
  FILENAME ~ /json$/ && wanted && /^          "into_ns":/ && value($0) + 0 > 0 {
    time = value($0) + 0
    if (peer == "ndarray") ndarray[id] = time
    else if (!(id in rust) || time < rust[id]) rust[id] = time
  }

  # | `dram/ID` | MB | PyTorch | NumPy | ndarray | candle, allocating |, in GB/s
  FILENAME ~ /md$/ && /^\*\*Copy bandwidth of that machine: / {
    bandwidth = value($0) + 0
  }
  FILENAME ~ /md$/ && /^\| `dram\// {
    split($0, field, /[ |`]+/)
    id = substr(field[2], 6)
    torch[id] = field[4]; numpy[id] = field[5]; their_ndarray[id] = field[6]; candle[id] = field[7]
  }

  # | `elementwise/ID` | PyTorch | NumPy |, in GB/s
  FILENAME ~ /md$/ && /^\| `elementwise\// {
    split($0, field, /[ |`]+/)
    id = substr(field[2], 13)
    torch[id] = field[3]; numpy[id] = field[4]
  }

  # A line of a table: the label, then columns 1 to `columns`, the best of them in bold. A figure
  # that is as good when rounded is bold as well.
  function write_line(label, columns, least_is_best,   n, best, line) {
    best = ""
    for (n = 1; n <= columns; n++) {
      if (figure[n] == "–") continue
      if (best == "" || (least_is_best ? figure[n] + 0 < best + 0 : figure[n] + 0 > best + 0))
        best = figure[n]
    }
    line = "| " label
    for (n = 1; n <= columns; n++)
      line = line " | " (figure[n] == best ? "**" figure[n] "**" : figure[n])
    print line " |"
  }

  # The columns of the first table: the parts of the copy bandwidth in one case.
  function parts(id) {
    part[1] = copy[id] / into[id]
    part[2] = copy[id] / loop[id]
    part[3] = id in ndarray ? copy[id] / ndarray[id] : 0
    part[4] = id in rust ? copy[id] / rust[id] : 0
    part[5] = torch[id] / bandwidth
    part[6] = numpy[id] / bandwidth
    part[7] = their_ndarray[id] / bandwidth
    part[8] = candle[id] / bandwidth
  }

  function write_table(   n, column) {
    print "| copied view | ours | naive loop | ndarray | other Rust | PyTorch¹ | NumPy¹ " \
      "| ndarray¹ | candle² |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for (n = 1; n <= total; n++) {
      parts(all[n])
      for (column = 1; column <= 8; column++) seen(column, part[column])
      seen(9, copy[all[n]] / alloc[all[n]])
    }
    for (n = 1; n <= count; n++) {
      parts(order[n])
      for (column = 1; column <= 8; column++) figure[column] = cell(part[column])
      write_line(label[order[n]], 8, 0)
    }
    for (column = 1; column <= 8; column++) figure[column] = percent(mean(column))
    write_line("geometric mean of all " total, 8, 0)
    print ""
    print "The best of a line is bold. Ours, allocating: geometric mean " percent(mean(9)) \
      " %. Recorded on"
    printf "%s, %s cores, %s, copy bandwidth %.1f GB/s, by\n`%s`.\n", \
      cpu, cores, level(simd), bytes / copy[order[1]], command
  }

  # A SIMD level with the instruction set that it is named for.
  function level(name) {
    return "SIMD level " name (name == "v4" ? " (AVX-512)" : name == "v3" ? " (AVX2)" : "")
  }

  function factor(x) { return sprintf("%.1f ×", x) }

  function write_slowdown(work, id, base) {
    figure[1] = factor(into[id] / dense[id])
    figure[2] = factor(loop[id] / loop[base])
    figure[3] = factor(ndarray[id] / ndarray[base])
    figure[4] = factor(torch[base] / torch[id])
    figure[5] = factor(numpy[base] / numpy[id])
    write_line(work, 5, 1)
  }
  function write_slowdowns() {
    print "| slowdown by the layout | ours | naive loop | ndarray | PyTorch¹ | NumPy¹ |"
    print "|---|--:|--:|--:|--:|--:|"
    write_slowdown("`a + b.t()`", "add_ct", "add_cc")
    write_slowdown("`a.t() + b.t()`", "add_tt", "add_cc")
    write_slowdown("`relu(a.t())`", "relu_t", "relu_c")
    write_slowdown("`exp(a.t())`", "exp_t", "exp_c")
    write_slowdown("`a[:, ::2] + b`", "add_step2", "add_cc")
  }

  function bar(y, part, colour,   width) {
    width = part * scale
    if (width > limit) width = limit
    rectangle(left, y, width, 11, colour)
    text(left + width + 5, y + 10, 11, "start", "#57606a", percent(part) " %")
  }

  function picture(   n, id, y, best, height) {
    left = 230; scale = 480; limit = 600; height = 92 + 48 * count + 42
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 880 %d\" " \
      "font-family=\"system-ui, sans-serif\" role=\"img\">\n", height
    print "<title>Copies of views to contiguous memory, in percent of the copy bandwidth</title>"
    print "<!-- Drawn by scripts/figures.sh from results/copy.json. -->"
    rectangle(0, 0, 880, height, "#ffffff")
    text(20, 28, 17, "start", "#1f2328", "Copying a view to contiguous memory, one thread")
    text(20, 48, 12, "start", "#57606a", \
      "100 % is the copy bandwidth: the fastest plain copy of as many bytes, in the same run. " \
      "f32 unless stated.")
    rectangle(20, 62, 11, 11, ours); text(36, 72, 12, "start", "#1f2328", "this library")
    rectangle(130, 62, 11, 11, others)
    text(146, 72, 12, "start", "#1f2328", \
      "fastest of ndarray, rten-tensor, strided-perm, transpose")
    rectangle(540, 62, 11, 11, naive); text(556, 72, 12, "start", "#1f2328", "naive loop")
    for (n = 1; n <= count; n++) {
      id = order[n]; y = 92 + 48 * (n - 1)
      best = id in rust && rust[id] < ndarray[id] ? rust[id] : ndarray[id]
      text(left - 12, y + 22, 13, "end", "#1f2328", label[id])
      bar(y, copy[id] / into[id], ours)
      bar(y + 13, copy[id] / best, others)
      bar(y + 26, copy[id] / loop[id], naive)
    }
    printf "<path d=\"M%d 84V%d\" stroke=\"#1f2328\" stroke-dasharray=\"4 3\"/>\n", \
      left + scale, 92 + 48 * count - 6
    text(20, height - 30, 11, "start", "#57606a", \
      cpu ", " level(simd) ". Preallocated results.")
    text(20, height - 12, 11, "start", "#57606a", "tensor-bench " command)
    print "</svg>"
  }

  END {
    if (what == "table") write_table()
    else if (what == "slowdown") write_slowdowns()
    else picture()
  }
' docs/performance.md "results/$suite.json"
