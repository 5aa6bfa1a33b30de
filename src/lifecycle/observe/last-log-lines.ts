import type { Remote } from '../../ssh/remote.ts'
import { windowsLog } from '../logs/windows-log.ts'

/** The last that services have said, by their names. */
export type LastLines = ReadonlyMap<string, readonly string[]>

const shown = 5
/** Of more than that a host has lost, nobody reads the logs one by one. */
const most = 4

const look = `
for unit in "$@"; do
  echo "unit $unit"
  journalctl --unit="$unit" --lines=${shown} --output=short-iso --no-pager --quiet 2>/dev/null | sed 's/^/line /'
done
`

export async function lastLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLines> {
  if (names.length === 0) return new Map()
  if (remote.windows !== undefined) return windowsLines(remote, names.slice(0, most), signal)
  const units = names.slice(0, most).map((name) => `${name}.service`)
  const { stdout } = await remote.exec(['sh', '-c', look, 'look', ...units], { signal, root: true })
  return linesOf(stdout)
}

async function windowsLines(
  remote: Remote,
  names: readonly string[],
  signal: AbortSignal,
): Promise<LastLines> {
  const found = new Map<string, readonly string[]>()
  for (const name of names) {
    const lines = await Array.fromAsync(windowsLog(remote, { components: [name], lines: shown }, signal))
    found.set(
      name,
      lines.map(({ message }) => message),
    )
  }
  return found
}

export function linesOf(text: string): LastLines {
  const found = new Map<string, string[]>()
  let own: string[] = []
  for (const line of text.split('\n')) {
    const unit = /^unit (\S+)\.service$/.exec(line)?.[1]
    if (unit !== undefined) found.set(unit, (own = []))
    else if (line.startsWith('line ')) own.push(line.slice('line '.length))
  }
  return found
}
