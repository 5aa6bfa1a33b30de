import { z } from 'zod'
import { WatchSpec } from '../../kube/informers.ts'
import { type Kind, kubeObject } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { replaceObject } from '../../kube/write-objects.ts'
import {
  checkServingRequest,
  requestingNode,
  type ServingRequest,
  servingSigner,
} from '../../pki/check-serving-request.ts'
import { loadX509 } from '../../pki/x509.ts'
import { type ControllerDefinition, createReconciler } from '../controller.ts'
import { hostWatch } from '../watch-specs.ts'

const condition = z.looseObject({ type: z.string(), status: z.string() })

const signingRequest = kubeObject.extend({
  spec: z.looseObject({
    /** PEM-encoded CSR in Base64. */
    request: z.string(),
    signerName: z.string(),
    username: z.string().default(''),
    groups: z.array(z.string()).nullish(),
    usages: z.array(z.string()).nullish(),
  }),
  status: z
    .looseObject({ conditions: z.array(condition).nullish(), certificate: z.string().nullish() })
    .prefault({}),
})

type KubeletSigningRequest = z.infer<typeof signingRequest>

const kubeletSigningRequestKind: Kind<KubeletSigningRequest> = {
  ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
  schema: signingRequest,
}

interface KnownServingRequest {
  readonly name: string
  readonly username: string
  readonly pending: boolean
}

/** Watches the CSRs of kubelets for serving certificates. */
const servingRequestWatch = new WatchSpec({
  name: 'kubelet-serving-requests',
  kind: kubeletSigningRequestKind,
  fields: `spec.signerName=${servingSigner}`,
  select: (object): KnownServingRequest => ({
    ...{ name: object.metadata.name, username: object.spec.username, pending: isPending(object) },
  }),
  indexes: [['username', ({ username }: KnownServingRequest) => [username]]],
})

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
    // A kubelet may create its CSR before the names of its host are planned. So its CSRs are checked again
    // when the names change.
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
                message: 'all names in the request belong to the host in the plan',
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

/** True if the CSR is not approved, denied, failed or issued. */
function isPending({ status }: KubeletSigningRequest): boolean {
  const decisions = (status.conditions ?? []).filter(({ type }) =>
    ['Approved', 'Denied', 'Failed'].includes(type),
  )
  return decisions.length === 0 && (status.certificate ?? '') === ''
}

function toServingRequest({ spec }: KubeletSigningRequest): ServingRequest {
  const { request, signerName, username, groups, usages } = spec
  return {
    ...{ signer: signerName, username, groups: groups ?? [], usages: usages ?? [] },
    request: Buffer.from(request, 'base64').toString('utf8'),
  }
}

interface ApprovalDecision {
  readonly type: 'Approved' | 'Denied'
  readonly reason: string
  readonly message: string
}

function addApproval(object: KubeletSigningRequest, decision: ApprovalDecision): KubeletSigningRequest {
  const conditions = [...(object.status.conditions ?? []), { ...decision, status: 'True' }]
  return { ...object, status: { ...object.status, conditions } }
}
