import type { NodePlan } from '../../../contract/node-plan.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import type { WindowsHost } from '../../host/host.ts'
import { join } from '../../host/host-path.ts'

/** In bytes; the limit that service wrappers use. */
export const maxLogBytes = 10 << 20
/** A larger log is not read into memory for a copy. */
const maxCopyBytes = 10 * maxLogBytes
/** In milliseconds. */
const intervalMs = 60_000

/**
 * Limits logs that a program writes itself, as containerd does: it never rotates, and as a service it has no
 * stdout to capture. An open file cannot be moved. The program appends to the end, so the log is copied and
 * truncated. Lines between the two are lost.
 */
export function createLogRotation(host: WindowsHost): (plan: NodePlan) => Promise<void> {
  let lastRun: number | undefined
  return async (plan) => {
    const now = host.clock.now().getTime()
    if (lastRun !== undefined && elapsed(lastRun, now) < intervalMs) return
    lastRun = now
    for (const log of listUnwrappedLogs(host, plan)) await rotate(host, log)
  }
}

/** Logs of programs without a wrapper that would rotate them. */
function listUnwrappedLogs({ layout }: WindowsHost, { components }: NodePlan): readonly string[] {
  return components.flatMap(({ service }) =>
    service?.supervisor === 'scm' && service.runner === undefined
      ? [join(layout.logs, `${service.name}.log`)]
      : [],
  )
}

async function rotate({ files }: WindowsHost, log: string): Promise<void> {
  const { size } = (await files.stat(log)) ?? { size: 0 }
  if (size <= maxLogBytes) return
  const text = size > maxCopyBytes ? undefined : await files.read(log)
  if (text !== undefined) await files.write(`${log}.1`, text, { uid: 0, gid: 0, mode: 0o600 })
  await files.empty(log)
}
