import type { NodePlan } from '../../../contract/node-plan.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import type { WindowsHost } from '../../host/host.ts'
import { join } from '../../host/host-path.ts'

/** In bytes, as runners have it. */
export const largestLog = 10 << 20
/** More than that is not read into memory for the sake of a copy. */
const largestCopy = 10 * largestLog
/** In milliseconds. */
const every = 60_000

/**
 * Keeps logs small that a program writes by itself, as containerd does: it never begins a new one, and as a service it says
 * nothing to whoever would. While it has the file open nobody can move it. But it appends to wherever the file ends, so
 * that a copy is kept and the file made empty; what is said between the two is lost.
 */
export function logRotation(host: WindowsHost): (plan: NodePlan) => Promise<void> {
  let looked: number | undefined
  return async (plan) => {
    const now = host.clock.now().getTime()
    if (looked !== undefined && elapsed(looked, now) < every) return
    looked = now
    for (const log of ownLogs(host, plan)) await rotate(host, log)
  }
}

/** Of programs that nobody runs who would keep their words. */
function ownLogs({ layout }: WindowsHost, { components }: NodePlan): readonly string[] {
  return components.flatMap(({ service }) =>
    service?.supervisor === 'scm' && service.runner === undefined
      ? [join(layout.logs, `${service.name}.log`)]
      : [],
  )
}

async function rotate({ files }: WindowsHost, log: string): Promise<void> {
  const { size } = (await files.stat(log)) ?? { size: 0 }
  if (size <= largestLog) return
  const text = size > largestCopy ? undefined : await files.read(log)
  if (text !== undefined) await files.write(`${log}.1`, text, { uid: 0, gid: 0, mode: 0o600 })
  await files.empty(log)
}
