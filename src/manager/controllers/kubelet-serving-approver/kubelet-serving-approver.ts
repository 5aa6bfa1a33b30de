import { find } from '../../../kube/read-objects.ts'
import { replace } from '../../../kube/write-objects.ts'
import { askingNode, checkServing, servingSigner } from '../../../pki/check-serving-request.ts'
import { loadX509 } from '../../../pki/x509.ts'
import type { ControllerRow } from '../../controller.ts'
import { reconciling } from '../../reconciler.ts'
import { hosts } from '../../watch-specs.ts'
import {
  type Answer,
  isOpen,
  servingIn,
  servingRequests,
  signingRequestKind,
  withAnswer,
} from './signing-requests.ts'

export const kubeletServingApprover: ControllerRow = {
  name: 'kubelet-serving-approver',
  aliases: ['kubelet-serving'],
  summary:
    'lets kubelets have certificates to serve with, under names alone that their hosts have in the plan',
  byDefault: true,
  watches: [servingRequests, hosts],
  rights: [
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
  build(scene) {
    const { queue, client, log } = scene
    const known = scene.informer(servingRequests)
    const planned = scene.informer(hosts)
    const answers = scene.metrics.counters(
      'hyperkube_kubelet_serving_requests_total',
      'Requests of kubelets, by what was answered.',
    )
    known.listen(({ key }) => queue.add(key))
    // What a host is called may be said only after its kubelet has asked.
    planned.listen((change) => {
      const [before, after] = [
        change.type === 'added' ? undefined : change.before.names,
        change.type === 'deleted' ? undefined : change.object.names,
      ]
      if (JSON.stringify(before) === JSON.stringify(after)) return
      for (const { name } of known.by('username', `system:node:${change.key}`)) queue.add(name)
    })
    return reconciling(scene, {
      async reconcile(key) {
        if (known.get(key)?.open !== true) return undefined
        const request = await find(client, signingRequestKind, { name: key })
        if (request === undefined || !isOpen(request)) return undefined
        const asked = servingIn(request)
        const names = planned.get(askingNode(asked) ?? '')?.names
        // Whoever plans the host has not said yet what it is called.
        if (askingNode(asked) !== undefined && names === undefined) return undefined
        const verdict = checkServing(await loadX509(), asked, names ?? { dns: [], ip: [] })
        const answer: Answer =
          verdict.verdict === 'granted'
            ? {
                type: 'Approved',
                reason: 'NamesOfThePlan',
                message: 'the plan of its host has all names of it',
              }
            : { type: 'Denied', reason: verdict.reason, message: verdict.message }
        // Only the very one that was looked at.
        await replace(client, withAnswer(request, answer), { part: 'approval' })
        answers.add({ answer: answer.type })
        if (answer.type === 'Denied') log(`denied ${key} of ${asked.username}: ${answer.message}`)
        return undefined
      },
    })
  },
}
