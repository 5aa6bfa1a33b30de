import { Argument } from 'commander'
import { quoteShell } from '../../kit/shell.ts'
import { type CommandDefinition, exitCodes } from '../command.ts'
import { commandTable } from '../command-table.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

export const completionCommand: CommandDefinition = {
  examples: [
    ['source <(hyperkube completion bash)', 'in ~/.bashrc'],
    ['source <(hyperkube completion zsh)', 'in ~/.zshrc, after compinit'],
    ['hyperkube completion fish > ~/.config/fish/completions/hyperkube.fish', 'once'],
  ],
  configure(command) {
    command.addArgument(new Argument('<shell>', 'which').choices(shells))
  },
  async run({ stdout }, { args }) {
    const shell = shells.find((name) => name === args[0]) ?? 'bash'
    stdout.write(scripts[shell]())
    return exitCodes.ok
  },
}

const scripts: Readonly<Record<Shell, () => string>> = {
  bash: () => `_hyperkube() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${listCommandNames()}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _hyperkube hyperkube
`,
  zsh: () => `#compdef hyperkube
_hyperkube() {
  local -a commands=(
${commandTable.map(({ name, summary }) => `    ${quoteShell(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; else _files; fi
}
compdef _hyperkube hyperkube
`,
  fish: () =>
    commandTable
      .map(
        ({ name, summary }) =>
          `complete -c hyperkube -n __fish_use_subcommand -a ${name} -d ${quoteShell(summary)} --no-files\n`,
      )
      .join(''),
}

function listCommandNames(): string {
  return commandTable.map(({ name }) => name).join(' ')
}
