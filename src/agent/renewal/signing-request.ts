import { createHash } from 'node:crypto'
import { z } from 'zod'
import { renewalAnnotations, renewalSigner } from '../../contract/renewal.ts'
import type { Usage } from '../../contract/certificate-spec.ts'
import { type Kind, kubeObject, type Manifest, metadata as commonMetadata } from '../../kube/object.ts'
import type { RenewalRequest } from '../../pki/check-renewal.ts'

const condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
})

const signingRequest = kubeObject.extend({
  metadata: commonMetadata.extend({ creationTimestamp: z.string().optional() }),
  spec: z.looseObject({
    /** In base64, as all bytes are in JSON. */
    request: z.string(),
    username: z.string().default(''),
    groups: z.array(z.string()).nullish(),
  }),
  status: z
    .looseObject({ conditions: z.array(condition).nullish(), certificate: z.string().nullish() })
    .prefault({}),
})
export type SigningRequest = z.infer<typeof signingRequest>

const head = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' } as const

export const signingRequestKind: Kind<SigningRequest> = { ...head, schema: signingRequest }

const usageNames: Readonly<Record<Usage, string>> = { server: 'server auth', client: 'client auth' }

/** The same request has the same name, so that who asks again finds what was asked before. */
export function nameFor(request: string): string {
  return `hyperkube-renewal-${createHash('sha256').update(request).digest('hex').slice(0, 32)}`
}

export function manifestFor(
  { request, former, proof }: Omit<RenewalRequest, 'requester'>,
  usages: readonly Usage[],
): Manifest {
  return {
    ...head,
    metadata: {
      name: nameFor(request),
      annotations: { [renewalAnnotations.former]: former, [renewalAnnotations.proof]: proof },
    },
    spec: {
      signerName: renewalSigner,
      request: encoded(request),
      usages: ['digital signature', ...usages.map((usage) => usageNames[usage])],
    },
  }
}

/** What a node asks for, in our words. Nobody else is a node. */
export function renewalIn({ metadata, spec }: SigningRequest): RenewalRequest {
  const { annotations = {} } = metadata
  return {
    requester:
      spec.groups?.includes('system:nodes') === true ? spec.username : `a stranger (${spec.username})`,
    request: decoded(spec.request),
    former: annotations[renewalAnnotations.former] ?? '',
    proof: annotations[renewalAnnotations.proof] ?? '',
  }
}

export type Answer =
  | { readonly is: 'issued'; readonly certificate: string }
  | { readonly is: 'refused'; readonly why: string }
  | { readonly is: 'open'; readonly approved: boolean }

export function answerIn({ status }: SigningRequest): Answer {
  const conditions = status.conditions ?? []
  const refusal = conditions.find(({ type }) => type === 'Denied' || type === 'Failed')
  if (refusal !== undefined) return { is: 'refused', why: refusal.message ?? refusal.reason ?? refusal.type }
  const certificate = status.certificate ?? ''
  if (certificate !== '') return { is: 'issued', certificate: decoded(certificate) }
  return { is: 'open', approved: conditions.some(({ type }) => type === 'Approved') }
}

export interface Condition {
  readonly type: 'Approved' | 'Denied' | 'Failed'
  readonly reason: string
  readonly message: string
}

export function withCondition(object: SigningRequest, one: Condition): SigningRequest {
  const conditions = [...(object.status.conditions ?? []), { ...one, status: 'True' }]
  return { ...object, status: { ...object.status, conditions } }
}

export function withCertificate(object: SigningRequest, certificate: string): SigningRequest {
  return { ...object, status: { ...object.status, certificate: encoded(certificate) } }
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}

function decoded(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
