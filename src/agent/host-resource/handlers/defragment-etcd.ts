import { memberDefragment } from '../../../etcd/changes.ts'
import type { Healer } from '../../heal/healer.ts'
import type { Host } from '../../host/host.ts'
import { isLockedByOther, type LockedByOtherDeps } from '../../operator-lock/operator-lock.ts'
import { type Runs, startOwnRun } from '../../runs/runs.ts'
import type { LocalEtcdMember } from '../local-etcd.ts'
import { hostBusyError, type RequestHandlers, unsupportedError } from '../request-handlers.ts'

export interface DefragmentDeps extends LockedByOtherDeps {
  readonly host: Pick<Host, 'clock'>
  readonly runs: Runs
  readonly member: () => Promise<LocalEtcdMember | undefined>
  readonly healer: Pick<Healer, 'health'>
}

/**
 * Defragments the local member as a separate run, so that operators wait for its end and healing does not act
 * meanwhile. The handler queries etcd itself whether the other members keep quorum, and does not rely on the
 * requester.
 */
export function createDefragmentHandler(deps: DefragmentDeps): RequestHandlers['defragment-etcd'] {
  return async (_action, signal) => {
    const local = await deps.member()
    if (local === undefined)
      throw unsupportedError('no etcd member runs on this host', 'hyperkube etcd status')
    const { client, endpoint } = local
    let lines: readonly string[] | undefined
    const failure = await startOwnRun(
      deps.runs,
      'defragment etcd',
      async (_run, _emit, stop) => {
        if (await isLockedByOther(deps)) return
        const eitherSignal = AbortSignal.any([signal, stop])
        const before = await client.status(endpoint, { signal: eitherSignal })
        await memberDefragment(client, endpoint, { signal: eitherSignal })
        const after = await client.status(endpoint, { signal: eitherSignal })
        lines = [`${formatMebibytes(before.size)} before, ${formatMebibytes(after.size)} after`]
        await waitForProbes(deps, eitherSignal)
      },
      signal,
    )
    if (failure !== undefined) throw failure
    signal.throwIfAborted()
    if (lines === undefined) throw hostBusyError()
    return lines
  }
}

/** Longest wait for probes, in milliseconds. */
const maxWaitMs = 60_000
const pollIntervalMs = 1000

/**
 * Waits until the local probes pass again. Otherwise healing would react to failures from the defragmentation
 * once the run ends.
 */
async function waitForProbes({ host, healer }: DefragmentDeps, signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < maxWaitMs; waited += pollIntervalMs) {
    const { probes } = await healer.health(false, signal)
    if (!probes.some(({ scope, state }) => scope === 'local' && state === 'unhealthy')) return
    await host.clock.pause(pollIntervalMs, signal)
  }
}

function formatMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}
