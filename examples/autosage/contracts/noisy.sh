#!/bin/sh
# A result in its envelope: what was printed, what it comes to, and the output.
repeat() { i=0; while [ "$i" -lt "$2" ]; do printf '%s' "$1"; i=$((i + 1)); done; }
printf '{"status":"ok","summary":"Noisy output for truncation testing.","stdout":"%s","stderr":"%s","output":{}}' \
  "$(repeat stdout- 32)" "$(repeat stderr- 24)"
