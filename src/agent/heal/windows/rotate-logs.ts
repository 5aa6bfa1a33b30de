import type { NodePlan } from '../../../contract/node-plan.ts'
import { elapsed } from '../decision/elapsed.ts'
import type { WindowsHost } from '../../host/host.ts'
import { join } from '../../host/host-path.ts'

/** Maximum log size in bytes, the same as in service wrappers. */
export const maxLogBytes = 10 << 20
/**
 * Logs above this size in bytes are truncated without a copy, because copying reads the whole log into
 * memory.
 */
const maxCopyBytes = 10 * maxLogBytes
/** Milliseconds between rotations. */
const intervalMs = 60_000

/**
 * Limits the size of logs that programs without a wrapper write themselves. containerd never rotates its log
 * and keeps it open, so the file cannot be moved. The log is copied and truncated instead; lines written in
 * between are lost.
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

/** Lists the logs of services that run without a wrapper. A wrapper would rotate them. */
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
