import { join } from 'node:path'
import { printable } from '../../../kit/printable.ts'
import { accessOf } from '../../apply/planned-access.ts'
import type { LinuxHost } from '../../host/host.ts'
import { processState } from './process-state.ts'

/** Beside other logs of ours. */
export const captures = '/var/log/hyperkube/healing'

const linesKept = 500
/** Told at once, and remembered with what was done. */
const linesTold = 10
const longest = 300
/** Of each component. */
const kept = 5

/** Keeps what a service has written, before it is lost among what comes next. Answers with its end, and where the rest is. */
export async function captureLogs(
  host: LinuxHost,
  component: string,
  unit: string,
): Promise<readonly string[]> {
  const { systemd, clock } = host
  const [state, lines] = [await systemd.show(unit), await systemd.lines(unit, linesKept)]
  const process = await processState(host, state.pid)
  const time = clock.now().toISOString()
  const heading = [`# ${unit} at ${time}`, `# ${JSON.stringify({ ...state, process })}`]
  const text = [...heading, ...lines.map(printable), ''].join('\n')
  // A disk that is full is mostly why there is something to capture.
  const path = await keep(host, component, time, text).catch(() => undefined)
  const end = lines.slice(-linesTold).map((line) => printable(line).slice(0, longest))
  return [path === undefined ? 'the rest could not be kept' : `kept in ${path}`, ...end]
}

async function keep(host: LinuxHost, component: string, time: string, text: string): Promise<string> {
  const { files } = host
  const access = await accessOf(host, { owner: 'root', mode: '0600' })
  if ((await files.stat(captures)) === undefined) {
    await files.makeDirectory(captures, { ...access, mode: 0o700 })
  }
  const path = join(captures, `${component}.${time.replaceAll(':', '-')}.log`)
  await files.write(path, Buffer.from(text), access)
  const own = ((await files.list(captures)) ?? [])
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${component}.`) && name.endsWith('.log'))
  for (const name of own.toSorted().slice(0, -kept)) await files.remove(join(captures, name))
  return path
}
