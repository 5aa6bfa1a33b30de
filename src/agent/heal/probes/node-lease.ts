import { z } from 'zod'
import { formatDuration } from '../../../kit/duration.ts'
import { isKubeError } from '../../../kube/kube-error.ts'
import type { ProbeApi } from './probe-api.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'

const lease = z.looseObject({ spec: z.looseObject({ renewTime: z.string() }) })

/** Checks whether the node's lease in the API was renewed recently. */
export function createNodeLeaseProbe(api: ProbeApi, clock: ProbeDeps['clock']): ProbeRunner<'node-lease'> {
  return async ({ node, kubeconfig, maxMs }, signal) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${encodeURIComponent(node)}`
    try {
      const { spec } = lease.parse(JSON.parse(await api.text({ kubeconfig, path }, signal)))
      const age = clock.now().getTime() - Date.parse(spec.renewTime)
      if (age <= maxMs) return healthyResult
      return failedResult('NODE_LEASE_OLD', `the node was heard of last ${formatDuration(age)} ago`)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND'))
        return failedResult('NODE_LEASE_OLD', 'the node was never heard of')
      throw error
    }
  }
}
