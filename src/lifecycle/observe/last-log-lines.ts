import type { Remote } from '../../ssh/remote.ts'
import { readWindowsLog } from '../logs/windows-log.ts'

/** Last log lines by service name. */
export type LastLogLines = ReadonlyMap<string, readonly string[]>

const linesPerService = 5
/**
 * Maximum number of services whose logs are read. If more services are down, single log lines do not help.
 */
const maxServices = 4

const logScript = `
for unit in "$@"; do
  echo "unit $unit"
  journalctl --unit="$unit" --lines=${linesPerService} --output=short-iso --no-pager --quiet 2>/dev/null | sed 's/^/line /'
done
`

export async function readLastLogLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLogLines> {
  if (names.length === 0) return new Map()
  if (remote.windows !== undefined) return readWindowsLines(remote, names.slice(0, maxServices), signal)
  const units = names.slice(0, maxServices).map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', logScript, 'observe', ...units], { signal, root: true })
  return parseLastLogLines(stdout)
}

async function readWindowsLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLogLines> {
  const linesByService = new Map<string, readonly string[]>()
  for (const name of names) {
    const lines = await Array.fromAsync(
      readWindowsLog(remote, { components: [name], lines: linesPerService }, signal),
    )
    linesByService.set(
      name,
      lines.map(({ message }) => message),
    )
  }
  return linesByService
}

export function parseLastLogLines(text: string): LastLogLines {
  const linesByService = new Map<string, string[]>()
  let current: string[] = []
  for (const line of text.split('\n')) {
    const unit = /^unit (\S+)\.service$/.exec(line)?.[1]
    if (unit !== undefined) linesByService.set(unit, (current = []))
    else if (line.startsWith('line ')) current.push(line.slice('line '.length))
  }
  return linesByService
}
