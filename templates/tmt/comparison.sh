#!/bin/bash
# Runs a study of Steelyard as a test of tmt. It leaves results.yaml, the report, the list of bugs and the run in
# the data folder of the test; where BeakerLib is, its journal, too. comparison.fmf has the settings, which reach
# this script as variables only.

data="${TMT_TEST_DATA:?is set by tmt}"
study="${STEELYARD_STUDY:?names a study file}"
library="${BEAKERLIB:-/usr/share/beakerlib}/beakerlib.sh"

if [ -r "$library" ]; then
  export BEAKERLIB_DIR="$data/beakerlib"
  export TEST="${TEST:-$TMT_TEST_NAME}"
  mkdir -p "$BEAKERLIB_DIR"
  # shellcheck source=/dev/null
  . "$library" || exit 1
else # the same lines, without a journal
  say() { printf ':: [ %-4s ] :: %s\n' "$1" "$2"; }
  rlJournalStart() { :; }
  rlJournalEnd() { :; }
  rlPhaseStartSetup() { say "" "$1"; }
  rlPhaseStartTest() { say "" "$1"; }
  rlPhaseEnd() { :; }
  rlLog() { say LOG "$1"; }
  rlLogWarning() { say WARN "$1"; }
  rlPass() { say PASS "$1"; }
  rlFail() { say FAIL "$1"; }
fi

# A result beside those of the report, or alone where there is no report; its text without what ends a string.
error() {
  local said
  said="$(printf '%s' "$1" | tr -d '\000-\037\177"\\')"
  rlFail "$said"
  printf -- '- name: /\n  result: error\n  note: ["%s"]\n  log: [../output.txt]\n' "$said" >>"$data/results.yaml"
}

install() {
  command -v steelyard >/dev/null && return
  own="$(mktemp -d /var/tmp/steelyard.XXXXXX)" || return
  trap 'rm -rf "$own"' EXIT
  python3 -m venv "$own" && "$own/bin/pip" install --quiet "${STEELYARD_INSTALL:-steelyard}" || return
  PATH="$own/bin:$PATH"
}

measure() {
  local words=(--results "$data/runs" --to "$data" --format "html,md,junit,bugs,tmt")
  [ -z "$STEELYARD_VARIANT" ] || words+=(--variant "$STEELYARD_VARIANT")
  [ -z "$STEELYARD_BUDGET" ] || words+=(--budget "$STEELYARD_BUDGET")
  (cd "${TMT_TREE:-.}" && steelyard gate "${words[@]}" -- "$study") 2> >(tee "$data/steelyard.log" >&2)
}

# One line of results.tsv: its result, its word, its name, its sentence.
journal() {
  rlPhaseStartTest "$3"
  case $1 in
    pass) rlPass "$4" ;;
    fail) rlFail "$4" ;;
    *) rlLogWarning "$4" ;;
  esac
  rlPhaseEnd
}

rlJournalStart
rlPhaseStartSetup "Steelyard measures $study"
code=0
if install; then
  rlLog "$(steelyard --version)"
  measure || code=$?
  case $code in
    0 | 1 | 5) rlPass "measured: exit code $code" ;; # the results say what was found
    *) error "exit code $code: $(grep -m 1 '^error: ' "$data/steelyard.log")" ;;
  esac
else
  error "steelyard could not be installed"
fi
rlPhaseEnd
if [ -r "$data/results.tsv" ]; then
  while IFS=$'\t' read -r result word name said; do
    journal "$result" "$word" "$name" "$said"
  done <"$data/results.tsv"
  case $STEELYARD_OPEN in
    info | pass | fail) sed -i "s/^  result: warn\$/  result: $STEELYARD_OPEN/" "$data/results.yaml" ;;
  esac
fi
rlJournalEnd
