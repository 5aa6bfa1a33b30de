import { findObject } from '../../../kube/read-objects.ts'
import { replaceObject } from '../../../kube/write-objects.ts'
import { requestingNode, checkServingRequest, servingSigner } from '../../../pki/check-serving-request.ts'
import { loadX509 } from '../../../pki/x509.ts'
import type { ControllerDefinition } from '../../controller.ts'
import { createReconciler } from '../../reconciler.ts'
import { hostWatch } from '../../watch-specs.ts'
import {
  type ApprovalDecision,
  isPending,
  toServingRequest,
  servingRequestWatch,
  kubeletSigningRequestKind,
  addApproval,
} from './signing-requests.ts'

export const kubeletServingApprover: ControllerDefinition = {
  name: 'kubelet-serving-approver',
  aliases: ['kubelet-serving'],
  summary: 'approves serving certificates of kubelets, if all names in them belong to the host in the plan',
  byDefault: true,
  watches: [servingRequestWatch, hostWatch],
  rules: [
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['get'] },
    {
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests/approval'],
      verbs: ['update'],
    },
    {
      ...{ apiGroups: ['certificates.k8s.io'], resources: ['signers'] },
      ...{ resourceNames: [servingSigner], verbs: ['approve'] },
    },
  ],
  build(context) {
    const { queue, client, log } = context
    const known = context.getInformer(servingRequestWatch)
    const planned = context.getInformer(hostWatch)
    const decisions = context.metrics.counters(
      'hyperkube_kubelet_serving_requests_total',
      'Serving certificate requests of kubelets, by decision.',
    )
    known.listen(({ key }) => queue.add(key))
    // The names of a host may be planned only after its kubelet has created a CSR. So pending CSRs are
    // checked again.
    planned.listen((change) => {
      const [before, after] = [
        change.type === 'added' ? undefined : change.before.names,
        change.type === 'deleted' ? undefined : change.object.names,
      ]
      if (JSON.stringify(before) === JSON.stringify(after)) return
      for (const { name } of known.byIndex('username', `system:node:${change.key}`)) queue.add(name)
    })
    return createReconciler(context, {
      async reconcile(key) {
        if (known.get(key)?.pending !== true) return undefined
        const request = await findObject(client, kubeletSigningRequestKind, { name: key })
        if (request === undefined || !isPending(request)) return undefined
        const serving = toServingRequest(request)
        const names = planned.get(requestingNode(serving) ?? '')?.names
        // The host is not planned yet, so its valid names are unknown and the CSR waits.
        if (requestingNode(serving) !== undefined && names === undefined) return undefined
        const check = checkServingRequest(await loadX509(), serving, names ?? { dns: [], ip: [] })
        const decision: ApprovalDecision =
          check.verdict === 'granted'
            ? {
                type: 'Approved',
                reason: 'NamesMatchPlan',
                message: 'all names in it belong to its host in the plan',
              }
            : { type: 'Denied', reason: check.reason, message: check.message }
        // Fails with a conflict if the CSR has changed since it was read.
        await replaceObject(client, addApproval(request, decision), { subresource: 'approval' })
        decisions.add({ decision: decision.type })
        if (decision.type === 'Denied') log(`denied ${key} of ${serving.username}: ${decision.message}`)
        return undefined
      },
    })
  },
}
