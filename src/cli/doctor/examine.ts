import type { HostEndpoint } from '../../lifecycle/inputs/host-endpoints.ts'
import type { Diagnosis } from '../../lifecycle/doctor/diagnosis.ts'
import { diagnose } from '../../lifecycle/doctor/diagnose.ts'
import {
  type ObserveOptions,
  observeClusterHealth,
  type ObserveDeps,
} from '../../lifecycle/observe/observe-cluster.ts'
import type { Cluster } from '../../spec/cluster.ts'

/**
 * Selects the check of Ingresses. With `ingress: none` there is no check: the operator may have installed
 * another controller, which serves the annotations.
 */
export function selectIngressCheck({ spec: { ingress } }: Cluster): Pick<ObserveOptions, 'ingress'> {
  return ingress === 'none' ? {} : { ingress: { nginxAnnotations: ingress.nginxAnnotations } }
}

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
