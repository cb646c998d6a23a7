#!/usr/bin/env bash
# The smallest rival of `lycosa lab benchmark`: breadth-first, in a shell.
#     lycosa lab benchmark --also 'program,command=bash examples/rival.sh'
# Keys come in the order that docs/benchmark.md has them in, and addresses hold no quotes: that is all it relies on.
declare -A known fetched
queue=()
next=0
while IFS= read -r line; do
  case $line in
    '{"event":"start"'*) echo '{"protocol":1}' ;;
    '{"event":"page"'*)
      rest=${line#*'"url":"'}
      fetched[${rest%%\"*}]=yes
      rest=${rest#*'"links":['}
      while [[ $rest == *'{"url":"'* ]]; do
        rest=${rest#*'{"url":"'}
        url=${rest%%\"*}
        if [[ -z ${known[$url]}${fetched[$url]} ]]; then
          known[$url]=yes
          queue+=("$url")
        fi
      done
      ;;
    '{"event":"pick"'*)
      # a seed may have been queued as a link before it was fetched
      while ((next < ${#queue[@]})) && [[ -n ${fetched[${queue[next]}]} ]]; do ((next++)); done
      if ((next < ${#queue[@]})); then
        printf '{"pick":"%s"}\n' "${queue[next++]}"
      else
        echo '{"pick":null}'
      fi
      ;;
    '{"event":"end"'*) exit 0 ;;
  esac
done
