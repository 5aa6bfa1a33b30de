import { stringify } from 'yaml'
import { printable } from '../../kit/printable.ts'
import type { LogLine } from '../../lifecycle/logs/log-line.ts'
import type { OutputFormat, Paint } from '../command.ts'

const colours = ['cyan', 'green', 'yellow', 'bold', 'dim'] as const
/** As syslog counts them: errors, and what is worse. */
const errors = 3

export interface LogText {
  readonly hosts: readonly string[]
  readonly components: readonly string[]
  readonly output: OutputFormat
  readonly paint: Paint
}

/** How lines are shown: each host in a colour of its own, or a document on a line for programs. */
export function logText({ hosts, components, output, paint }: LogText): (line: LogLine) => string {
  if (output === 'json') return (line) => `${JSON.stringify(documentOf(line))}\n`
  if (output === 'yaml') return (line) => `---\n${stringify(documentOf(line))}`
  const colourOf = new Map(hosts.map((host, index) => [host, colours[index % colours.length] ?? 'dim']))
  const [wide, broad] = [widthOf(hosts), widthOf(components)]
  return ({ time, host, component, priority, message }) => {
    const who = paint(colourOf.get(host) ?? 'dim', host.padEnd(wide))
    const head = `${timeText(time)} ${who} ${printable(component).padEnd(broad)} `
    const said = printable(message).split('\n')
    // Whoever writes a line end must not pass for somebody else.
    return said.map((text) => `${head}${priority <= errors ? paint('red', text) : text}\n`).join('')
  }
}

function widthOf(names: readonly string[]): number {
  return Math.max(0, ...names.map(({ length }) => length))
}

function documentOf({ time, host, component, priority, message }: LogLine): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'LogLine',
    time: timeText(time),
    host,
    component,
    priority,
    message: printable(message),
  }
}

function timeText(microseconds: number): string {
  return new Date(microseconds / 1000).toISOString()
}
