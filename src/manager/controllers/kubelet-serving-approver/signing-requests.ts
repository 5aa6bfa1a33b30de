import { z } from 'zod'
import { type Kind, kubeObject } from '../../../kube/object.ts'
import { WatchSpec } from '../../../kube/informers.ts'
import { type ServingRequest, servingSigner } from '../../../pki/check-serving-request.ts'

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
export type KubeletSigningRequest = z.infer<typeof signingRequest>

export const kubeletSigningRequestKind: Kind<KubeletSigningRequest> = {
  ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
  schema: signingRequest,
}

/** True if the CSR is not approved, denied, failed or issued. */
export function isPending({ status }: KubeletSigningRequest): boolean {
  const decisions = (status.conditions ?? []).filter(({ type }) =>
    ['Approved', 'Denied', 'Failed'].includes(type),
  )
  return decisions.length === 0 && (status.certificate ?? '') === ''
}

export function toServingRequest({ spec }: KubeletSigningRequest): ServingRequest {
  const { request, signerName, username, groups, usages } = spec
  return {
    ...{ signer: signerName, username, groups: groups ?? [], usages: usages ?? [] },
    request: Buffer.from(request, 'base64').toString('utf8'),
  }
}

export interface ApprovalDecision {
  readonly type: 'Approved' | 'Denied'
  readonly reason: string
  readonly message: string
}

export function addApproval(
  object: KubeletSigningRequest,
  decision: ApprovalDecision,
): KubeletSigningRequest {
  const conditions = [...(object.status.conditions ?? []), { ...decision, status: 'True' }]
  return { ...object, status: { ...object.status, conditions } }
}

export interface KnownServingRequest {
  readonly name: string
  readonly username: string
  readonly pending: boolean
}

/** Watches the CSRs of kubelets for serving certificates. */
export const servingRequestWatch = new WatchSpec({
  name: 'kubelet-serving-requests',
  kind: kubeletSigningRequestKind,
  fields: `spec.signerName=${servingSigner}`,
  select: (object): KnownServingRequest => ({
    ...{ name: object.metadata.name, username: object.spec.username, pending: isPending(object) },
  }),
  indexes: [['username', ({ username }: KnownServingRequest) => [username]]],
})
