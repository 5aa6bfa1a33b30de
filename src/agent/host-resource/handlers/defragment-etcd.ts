import { memberDefragment } from '../../../etcd/changes.ts'
import type { Healer } from '../../heal/healer.ts'
import type { Host } from '../../host/host.ts'
import type { Deeds } from '../request-handlers.ts'
import { isTaken, type TakenScene } from '../../loop/is-locked-by-other.ts'
import { ownRun } from '../../loop/start-own-run.ts'
import type { Runs } from '../../runs/runs.ts'
import { cannot, taken } from './handler-errors.ts'
import type { OwnMember } from '../local-etcd.ts'

export interface DefragmentScene extends TakenScene {
  readonly host: Pick<Host, 'clock'>
  readonly runs: Runs
  readonly member: () => Promise<OwnMember | undefined>
  readonly healer: Pick<Healer, 'health'>
}

/**
 * As a run of its own: an operator who comes waits for its end, and nobody heals a host whose etcd is silent for that. The
 * member is asked itself whether the others are enough meanwhile, whatever was known to whoever wants it.
 */
export function defragmentEtcd(scene: DefragmentScene): Deeds['defragment-etcd'] {
  return async (_ask, signal) => {
    const own = await scene.member()
    if (own === undefined) throw cannot('no member of etcd runs on this host', 'hyperkube etcd status')
    const { client, endpoint } = own
    let lines: readonly string[] | undefined
    const failure = await ownRun(
      scene.runs,
      'defragment etcd',
      async (_run, _emit, stop) => {
        if (await isTaken(scene)) return
        const either = AbortSignal.any([signal, stop])
        const before = await client.status(endpoint, { signal: either })
        await memberDefragment(client, endpoint, { signal: either })
        const after = await client.status(endpoint, { signal: either })
        lines = [`${mebibytes(before.size)} before, ${mebibytes(after.size)} after`]
        await seenWell(scene, either)
      },
      signal,
    )
    if (failure !== undefined) throw failure
    signal.throwIfAborted()
    if (lines === undefined) throw taken()
    return lines
  }
}

/** In milliseconds. */
const patience = 60_000
const pause = 1000

/** What probes have seen while it was silent is not to be healed as soon as the run is over. */
async function seenWell({ host, healer }: DefragmentScene, signal: AbortSignal): Promise<void> {
  for (let waited = 0; waited < patience; waited += pause) {
    const { probes } = await healer.health(false, signal)
    if (!probes.some(({ scope, state }) => scope === 'local' && state === 'failing')) return
    await host.clock.pause(pause, signal)
  }
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}
