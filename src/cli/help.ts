import { commandTable } from './command-table.ts'

/** The help text for a call without a command. */
export function formatOverview(program: string): string {
  const visible = commandTable.filter(({ onHosts }) => onHosts !== true)
  const width = Math.max(...visible.map(({ name }) => name.length))
  const rows = visible.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`)
  return `Turns a list of machines into a Kubernetes cluster, and carries it through its whole life.

  ${program} init --host root@192.168.1.11=control-plane --host root@192.168.1.21=worker
  ${program} validate

Commands:
${rows.join('\n')}

${program} COMMAND --help explains a command.
`
}
