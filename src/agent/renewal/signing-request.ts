import { createHash } from 'node:crypto'
import { z } from 'zod'
import { renewalAnnotations, renewalSigner } from '../../contract/renewal.ts'
import type { KeyUsage } from '../../contract/certificate-spec.ts'
import { type Kind, kubeObject, type Manifest, metadata as commonMetadata } from '../../kube/object.ts'
import type { RenewalRequest } from '../../pki/check-renewal.ts'

const conditionSchema = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
})

const renewalSigningRequestSchema = kubeObject.extend({
  metadata: commonMetadata.extend({ creationTimestamp: z.string().optional() }),
  spec: z.looseObject({
    /** Certificate request, base64-encoded. */
    request: z.string(),
    username: z.string().default(''),
    groups: z.array(z.string()).nullish(),
  }),
  status: z
    .looseObject({ conditions: z.array(conditionSchema).nullish(), certificate: z.string().nullish() })
    .prefault({}),
})
export type RenewalSigningRequest = z.infer<typeof renewalSigningRequestSchema>

const typeMeta = { apiVersion: 'certificates.k8s.io/v1', kind: 'CertificateSigningRequest' } as const

export const renewalSigningRequestKind: Kind<RenewalSigningRequest> = {
  ...typeMeta,
  schema: renewalSigningRequestSchema,
}

const usageNames: Readonly<Record<KeyUsage, string>> = { server: 'server auth', client: 'client auth' }

/** Equal requests get equal names, so a repeated request finds the existing object. */
export function buildSigningRequestName(request: string): string {
  return `hyperkube-renewal-${createHash('sha256').update(request).digest('hex').slice(0, 32)}`
}

export function buildSigningRequest(
  { request, previous, proof }: Omit<RenewalRequest, 'requester'>,
  usages: readonly KeyUsage[],
): Manifest {
  return {
    ...typeMeta,
    metadata: {
      name: buildSigningRequestName(request),
      annotations: { [renewalAnnotations.previous]: previous, [renewalAnnotations.proof]: proof },
    },
    spec: {
      signerName: renewalSigner,
      request: toBase64(request),
      usages: ['digital signature', ...usages.map((usage) => usageNames[usage])],
    },
  }
}

/**
 * Converts a CertificateSigningRequest to a renewal request. A requester outside the group system:nodes is
 * marked as unknown.
 */
export function readRenewalRequest({ metadata, spec }: RenewalSigningRequest): RenewalRequest {
  const { annotations = {} } = metadata
  return {
    requester:
      spec.groups?.includes('system:nodes') === true ? spec.username : `unknown requester (${spec.username})`,
    request: fromBase64(spec.request),
    previous: annotations[renewalAnnotations.previous] ?? '',
    proof: annotations[renewalAnnotations.proof] ?? '',
  }
}

export type SigningResponse =
  | { readonly state: 'issued'; readonly certificate: string }
  | { readonly state: 'refused'; readonly reason: string }
  | { readonly state: 'open'; readonly approved: boolean }

export function readSigningResponse({ status }: RenewalSigningRequest): SigningResponse {
  const conditions = status.conditions ?? []
  const refusal = conditions.find(({ type }) => type === 'Denied' || type === 'Failed')
  if (refusal !== undefined)
    return { state: 'refused', reason: refusal.message ?? refusal.reason ?? refusal.type }
  const certificate = status.certificate ?? ''
  if (certificate !== '') return { state: 'issued', certificate: fromBase64(certificate) }
  return { state: 'open', approved: conditions.some(({ type }) => type === 'Approved') }
}

export interface SigningCondition {
  readonly type: 'Approved' | 'Denied' | 'Failed'
  readonly reason: string
  readonly message: string
}

export function withCondition(object: RenewalSigningRequest, one: SigningCondition): RenewalSigningRequest {
  const conditions = [...(object.status.conditions ?? []), { ...one, status: 'True' }]
  return { ...object, status: { ...object.status, conditions } }
}

export function withCertificate(object: RenewalSigningRequest, certificate: string): RenewalSigningRequest {
  return { ...object, status: { ...object.status, certificate: toBase64(certificate) } }
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64')
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8')
}
