import type { HostEndpoint } from '../../lifecycle/inputs/host-endpoints.ts'
import type { Diagnosis } from '../../lifecycle/doctor/diagnosis.ts'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import {
  type ObserveOptions,
  observeClusterHealth,
  type ObserveDeps,
} from '../../lifecycle/observe/observe-cluster.ts'

/** Observes the cluster with fresh probes and lists the problems. */
export async function examineCluster(
  endpoints: readonly HostEndpoint[],
  deps: ObserveDeps,
  options: Pick<ObserveOptions, 'only' | 'ingress' | 'now' | 'signal'>,
): Promise<{ readonly at: Date; readonly diagnoses: readonly Diagnosis[] }> {
  const observation = await observeClusterHealth(endpoints, deps, {
    ...options,
    fresh: true,
    deep: true,
    certificates: false,
  })
  const { only } = options
  const diagnoses = diagnose(observation).filter(
    ({ host }) => host === undefined || only === undefined || only.has(host),
  )
  return { at: observation.at, diagnoses }
}
