import { z } from 'zod'
import { type Kind, kubeObject } from '../../../kube/object.ts'
import { Source } from '../../../kube/watch-spec.ts'
import { type ServingRequest, servingSigner } from '../../../pki/check-serving-request.ts'

const condition = z.looseObject({ type: z.string(), status: z.string() })

const signingRequest = kubeObject.extend({
  spec: z.looseObject({
    /** In base64, as all bytes are in JSON. */
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
export type SigningRequest = z.infer<typeof signingRequest>

export const signingRequestKind: Kind<SigningRequest> = {
  ...{ apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' },
  schema: signingRequest,
}

/** Whether nobody has answered yet. */
export function isOpen({ status }: SigningRequest): boolean {
  const answers = (status.conditions ?? []).filter(({ type }) =>
    ['Approved', 'Denied', 'Failed'].includes(type),
  )
  return answers.length === 0 && (status.certificate ?? '') === ''
}

export function servingIn({ spec }: SigningRequest): ServingRequest {
  const { request, signerName, username, groups, usages } = spec
  return {
    ...{ signer: signerName, username, groups: groups ?? [], usages: usages ?? [] },
    request: Buffer.from(request, 'base64').toString('utf8'),
  }
}

export interface Answer {
  readonly type: 'Approved' | 'Denied'
  readonly reason: string
  readonly message: string
}

export function withAnswer(object: SigningRequest, answer: Answer): SigningRequest {
  const conditions = [...(object.status.conditions ?? []), { ...answer, status: 'True' }]
  return { ...object, status: { ...object.status, conditions } }
}

export interface KnownRequest {
  readonly name: string
  readonly username: string
  readonly open: boolean
}

/** Those of kubelets that want to serve. */
export const servingRequests = new Source({
  name: 'kubelet-serving-requests',
  kind: signingRequestKind,
  fields: `spec.signerName=${servingSigner}`,
  select: (object): KnownRequest => ({
    ...{ name: object.metadata.name, username: object.spec.username, open: isOpen(object) },
  }),
  indexes: [['username', ({ username }: KnownRequest) => [username]]],
})
