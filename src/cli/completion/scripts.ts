/** Shells for which there is a completion script. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/**
 * Completion scripts. Each calls `hyperkube complete` with the typed words, so a script need not be updated
 * together with hyperkube. Without candidates, the shell completes file names.
 */
export const completionScripts: Readonly<Record<Shell, string>> = {
  bash: `_hyperkube() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do COMPREPLY+=("\${line%%$'\\t'*}"); done < <(
    "\${COMP_WORDS[0]}" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null
  )
}
complete -o default -F _hyperkube hyperkube
`,
  zsh: `#compdef hyperkube
_hyperkube() {
  local line
  local -a candidates=()
  "\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | while IFS= read -r line; do
    candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then _describe 'hyperkube' candidates; else _files; fi
}
compdef _hyperkube hyperkube
`,
  fish: `function __hyperkube_complete
  set -l tokens (commandline -opc)
  set -l current (commandline -ct)
  set -l candidates ($tokens[1] complete -- $tokens[2..-1] "$current" 2>/dev/null)
  if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  else
    __fish_complete_path "$current"
  end
end
complete -c hyperkube -f -a '(__hyperkube_complete)'
`,
}
