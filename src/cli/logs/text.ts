import { stringify } from 'yaml'
import { toPrintable } from '../../kit/text.ts'
import type { LogLine } from '../../lifecycle/logs/log-line.ts'
import type { OutputFormat, Paint } from '../command/command.ts'

const colours = ['cyan', 'green', 'yellow', 'bold', 'dim'] as const
/** Syslog priority of errors; lower numbers are more severe. */
const errorPriority = 3

export interface LogFormatOptions {
  readonly hosts: readonly string[]
  readonly components: readonly string[]
  readonly output: OutputFormat
  readonly paint: Paint
}

/** Creates a formatter for log lines: text with a colour per host, or a JSON or YAML document per line. */
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
    // The prefix is repeated on every line, so a message with line breaks cannot imitate another host.
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
