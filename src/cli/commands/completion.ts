import { Argument } from 'commander'
import { exitCodes, type LeafCommand } from '../command/command.ts'
import { completionScripts, shells } from '../completion/scripts.ts'

export const completionCommand: LeafCommand = {
  examples: [
    ['source <(hyperkube completion bash)', 'add to ~/.bashrc'],
    ['source <(hyperkube completion zsh)', 'add to ~/.zshrc, after compinit'],
    ['hyperkube completion fish > ~/.config/fish/completions/hyperkube.fish', 'run once'],
  ],
  sharedFlags: [],
  configure: (command) =>
    command.addArgument(new Argument('<shell>', 'shell to print the script for').choices(shells)),
  async run({ stdout }, { args }) {
    const shell = shells.find((name) => name === args[0]) ?? 'bash'
    stdout.write(completionScripts[shell])
    return exitCodes.ok
  },
}
