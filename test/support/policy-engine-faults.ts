import { probe, type ProbePod } from '../../lab/bench/workload.ts'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import {
  applyPolicy,
  denyIngress,
  killKubeRouter,
  readMainPid,
  reaches,
  removePolicy,
  waitForReach,
} from './network-policy.ts'

/** Ways in which kube-router stops to work, with the command that causes each. */
export const engineFaults = {
  killed: killKubeRouter,
  hung: 'kill -STOP "$(systemctl show -p MainPID --value kube-router)"',
  stopped: 'systemctl stop kube-router',
  restarted: 'systemctl restart kube-router',
} as const
export type EngineFault = keyof typeof engineFaults

export interface EngineFaultResult {
  readonly fault: EngineFault
  /** Seconds from the fault until another process of kube-router runs. */
  readonly replacedAfter: number
  /** Seconds from the fault until a removed policy has no effect any more. */
  readonly enforcedAfter: number
  /** Connections that were tried to a pod that a policy closes, and how many of them succeeded. */
  readonly tried: number
  readonly leaked: number
}

/** Causes one fault while a policy closes a pod, and tries connections to the pod until kube-router runs again. */
export async function causeEngineFault(
  api: KubeApi,
  worker: Host,
  fault: EngineFault,
  { sources, target }: { readonly sources: readonly ProbePod[]; readonly target: ProbePod },
): Promise<EngineFaultResult> {
  await applyPolicy(api, denyIngress)
  await waitForReach(api, sources, target, false)
  const before = await readMainPid(worker)
  const began = performance.now()
  await worker.script(engineFaults[fault])
  let [tried, leaked] = [0, 0]
  await pollUntil(
    'another process of kube-router',
    async () => {
      for (const source of sources) {
        tried++
        if (await reaches(api, source, target)) leaked++
      }
      return !['0', before].includes(await readMainPid(worker))
    },
    { timeoutMs: 180_000, intervalMs: 50 },
  )
  const replacedAfter = (performance.now() - began) / 1000
  await removePolicy(api, denyIngress)
  await pollUntil(
    `${target.name}:${probe.port} to be reached again`,
    async () =>
      (await Promise.all(sources.map(async (source) => reaches(api, source, target)))).every(Boolean),
    { timeoutMs: 180_000, intervalMs: 50 },
  )
  return { fault, replacedAfter, enforcedAfter: (performance.now() - began) / 1000, tried, leaked }
}
