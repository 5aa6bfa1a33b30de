import { join } from 'node:path'
import { toPrintable } from '../../../kit/text.ts'
import { resolveAccess } from '../../host/file-access.ts'
import type { LinuxHost } from '../../host/host.ts'
import { readProcessState } from './restart-service.ts'

/** Directory of captured logs. */
export const captureDirectory = '/var/log/hyperkube/healing'

const maxLines = 500
/** Number of lines that are reported and stored with the action. */
const maxReportedLines = 10
const maxLineLength = 300
/** Maximum number of captures that are kept per component. */
const maxCaptures = 5

/**
 * Saves the log of a service before newer lines replace it. Returns the path of the file and the last lines.
 */
export async function captureServiceLogs(
  host: LinuxHost,
  component: string,
  unit: string,
): Promise<readonly string[]> {
  const { services, clock } = host
  const [state, lines] = [await services.show(unit), await services.lines(unit, maxLines)]
  const process = await readProcessState(host, state.pid)
  const time = clock.now().toISOString()
  const heading = [`# ${unit} at ${time}`, `# ${JSON.stringify({ ...state, process })}`]
  const text = [...heading, ...lines.map(toPrintable), ''].join('\n')
  // A full disk is often the reason for the capture, so a failed write is ignored.
  const path = await saveCapture(host, component, time, text).catch(() => undefined)
  const end = lines.slice(-maxReportedLines).map((line) => toPrintable(line).slice(0, maxLineLength))
  return [path === undefined ? 'the full log was not saved' : `saved in ${path}`, ...end]
}

async function saveCapture(host: LinuxHost, component: string, time: string, text: string): Promise<string> {
  const { files } = host
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  if ((await files.stat(captureDirectory)) === undefined) {
    await files.makeDirectory(captureDirectory, { ...access, mode: 0o700 })
  }
  const path = join(captureDirectory, `${component}.${time.replaceAll(':', '-')}.log`)
  await files.write(path, Buffer.from(text), access)
  const captureNames = ((await files.list(captureDirectory)) ?? [])
    .map(({ name }) => name)
    .filter((name) => name.startsWith(`${component}.`) && name.endsWith('.log'))
  for (const name of captureNames.toSorted().slice(0, -maxCaptures))
    await files.remove(join(captureDirectory, name))
  return path
}
