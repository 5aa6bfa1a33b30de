import { z } from 'zod'
import { duration } from '../../../kit/duration.ts'
import { isKubeError } from '../../../kube/kube-error.ts'
import type { ProbeApi } from './probe-api.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import type { ProbeEdges } from './probe-deps.ts'

const lease = z.looseObject({ spec: z.looseObject({ renewTime: z.string() }) })

/** Whether the API has heard of this node of late, by whichever way its kubelet speaks to it. */
export function askNodeLease(api: ProbeApi, clock: ProbeEdges['clock']): Ask<'node-lease'> {
  return async ({ node, kubeconfig, within }, signal) => {
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${encodeURIComponent(node)}`
    try {
      const { spec } = lease.parse(JSON.parse(await api.text({ kubeconfig, path }, signal)))
      const age = clock.now().getTime() - Date.parse(spec.renewTime)
      if (age <= within) return well
      return failed('NODE_LEASE_OLD', `the node was heard of last ${duration(age)} ago`)
    } catch (error) {
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return failed('NODE_LEASE_OLD', 'the node was never heard of')
      throw error
    }
  }
}
