import { Argument } from 'commander'
import { quoteShell } from '../../kit/text.ts'
import { type CommandDefinition, type CommandEntry, exitCodes } from '../command/command.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

type CommandRow = Pick<CommandEntry, 'name' | 'summary'>

export function buildCompletionCommand(commands: readonly CommandRow[]): CommandDefinition {
  return {
    examples: [
      ['source <(hyperkube completion bash)', 'add to ~/.bashrc'],
      ['source <(hyperkube completion zsh)', 'add to ~/.zshrc, after compinit'],
      ['hyperkube completion fish > ~/.config/fish/completions/hyperkube.fish', 'run once'],
    ],
    configure(command) {
      command.addArgument(new Argument('<shell>', 'shell to print the script for').choices(shells))
    },
    async run({ stdout }, { args }) {
      const shell = shells.find((name) => name === args[0]) ?? 'bash'
      stdout.write(scripts[shell](commands))
      return exitCodes.ok
    },
  }
}

const scripts: Readonly<Record<Shell, (commands: readonly CommandRow[]) => string>> = {
  bash: (commands) => `_hyperkube() {
  local word=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${listNames(commands)}" -- "$word"))
  else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _hyperkube hyperkube
`,
  zsh: (commands) => `#compdef hyperkube
_hyperkube() {
  local -a commands=(
${commands.map(({ name, summary }) => `    ${quoteShell(`${name}:${summary}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then _describe command commands; else _files; fi
}
compdef _hyperkube hyperkube
`,
  fish: (commands) =>
    commands
      .map(
        ({ name, summary }) =>
          `complete -c hyperkube -n __fish_use_subcommand -a ${name} -d ${quoteShell(summary)} --no-files\n`,
      )
      .join(''),
}

function listNames(commands: readonly CommandRow[]): string {
  return commands.map(({ name }) => name).join(' ')
}
