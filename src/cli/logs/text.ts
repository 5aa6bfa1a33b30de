import { stringify } from 'yaml'
import { toPrintable } from '../../kit/printable.ts'
import type { LogLine } from '../../lifecycle/logs/log-line.ts'
import type { OutputFormat, Paint } from '../command.ts'

const colours = ['cyan', 'green', 'yellow', 'bold', 'dim'] as const
/** Syslog priority of errors; lower ones are worse. */
const errorPriority = 3

export interface LogFormatOptions {
  readonly hosts: readonly string[]
  readonly components: readonly string[]
  readonly output: OutputFormat
  readonly paint: Paint
}

/** Formats lines: each host in its own colour, or one document per line for programs. */
export function createLogFormatter({
  hosts,
  components,
  output,
  paint,
}: LogFormatOptions): (line: LogLine) => string {
  if (output === 'json') return (line) => `${JSON.stringify(toDocument(line))}\n`
  if (output === 'yaml') return (line) => `---\n${stringify(toDocument(line))}`
  const colourByHost = new Map(hosts.map((host, index) => [host, colours[index % colours.length] ?? 'dim']))
  const [hostWidth, componentWidth] = [maxLength(hosts), maxLength(components)]
  return ({ time, host, component, priority, message }) => {
    const hostText = paint(colourByHost.get(host) ?? 'dim', host.padEnd(hostWidth))
    const head = `${formatTime(time)} ${hostText} ${toPrintable(component).padEnd(componentWidth)} `
    const lines = toPrintable(message).split('\n')
    // Repeats the prefix on every line, so that a message with line breaks cannot imitate another host.
    return lines.map((text) => `${head}${priority <= errorPriority ? paint('red', text) : text}\n`).join('')
  }
}

function maxLength(names: readonly string[]): number {
  return Math.max(0, ...names.map(({ length }) => length))
}

function toDocument({ time, host, component, priority, message }: LogLine): object {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'LogLine',
    time: formatTime(time),
    host,
    component,
    priority,
    message: toPrintable(message),
  }
}

function formatTime(microseconds: number): string {
  return new Date(microseconds / 1000).toISOString()
}
