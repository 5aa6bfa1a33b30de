import { commands } from './command-table.ts'

/** What is shown when no command is given: enough to begin. */
export function overview(program: string): string {
  const forPeople = commands.filter(({ onHosts }) => onHosts !== true)
  const width = Math.max(...forPeople.map(({ name }) => name.length))
  const rows = forPeople.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Turns a list of machines into a Kubernetes cluster, and carries it through its whole life.

  ${program} init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
  ${program} validate

Commands:
${rows.join('\n')}

${program} COMMAND --help explains a command.
`
}
