import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { KeyUsage } from '../../contract/certificate-spec.ts'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import { renewalAnnotations, renewalSigner } from '../../contract/renewal.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { formatDuration } from '../../kit/time-format.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { type Kind, kubeObject, type Manifest, metadata as commonMetadata } from '../../kube/object.ts'
import { findObject } from '../../kube/read-objects.ts'
import { createObject } from '../../kube/write-objects.ts'
import { proveRenewal, type RenewalRequest } from '../../pki/check-renewal.ts'
import { readInstalledPair } from '../resources/installed-key-pair.ts'
import type { Host } from '../host/host.ts'

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

/**
 * Builds the name of a signing request. Equal requests get equal names, so a repeated request finds the
 * existing object.
 */
export function buildSigningRequestName(request: string): string {
  return `hyperkube-renewal-${createHash('sha256').update(request).digest('hex').slice(0, 32)}`
}

export function buildSigningRequest(
  { request, previous, proof }: Omit<RenewalRequest, 'requester' | 'planned'>,
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

/** Converts a CertificateSigningRequest to a renewal request. */
export function readRenewalRequest({
  metadata,
  spec,
}: RenewalSigningRequest): Omit<RenewalRequest, 'planned'> {
  const { annotations = {} } = metadata
  return {
    requester: spec.username,
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

/**
 * Milliseconds after which a request without a response is reported. Control planes check for requests more
 * often than this.
 */
const responseTimeoutMs = 5 * 60_000

/**
 * Returns the certificate that control planes have signed for a request, as PEM, or undefined while it is
 * pending. Creates the signing request on the first call; later calls find it by the content of the request.
 */
export async function requestSignature(
  host: Host,
  client: KubeClient,
  planned: PlannedCertificate,
  request: string,
): Promise<string | undefined> {
  const name = buildSigningRequestName(request)
  const existing = await findObject(client, renewalSigningRequestKind, { name })
  if (existing === undefined) {
    await createSigningRequest(host, client, planned, request)
    return undefined
  }
  const response = readSigningResponse(existing)
  if (response.state === 'issued') return response.certificate
  if (response.state === 'open') {
    const since = Date.parse(existing.metadata.creationTimestamp ?? '')
    if (host.clock.now().getTime() - since > responseTimeoutMs) throw noResponseError(planned, name)
    return undefined
  }
  // The API deletes a denied request within an hour; the next call then creates it again.
  throw new HyperkubeError(
    'RENEWAL_DENIED',
    `${planned.certificateFile} was not renewed: ${response.reason}`,
    {
      hint: `in the directory of cluster.yml: hyperkube certs renew HOST; the request was ${name}`,
    },
  )
}

function noResponseError({ certificateFile }: PlannedCertificate, name: string): HyperkubeError {
  const message = `no control plane has responded for ${formatDuration(responseTimeoutMs)} to the request to renew ${certificateFile}`
  return new HyperkubeError('RENEWAL_NO_RESPONSE', message, {
    hint: `on a control plane: journalctl -u hyperkube-agent; the request is ${name}`,
  })
}

async function createSigningRequest(
  host: Host,
  client: KubeClient,
  planned: PlannedCertificate,
  request: string,
): Promise<void> {
  const { certificate: previous = '', privateKey = '' } = await readInstalledPair(host, planned)
  const proof = proveRenewal(request, previous, privateKey)
  await createObject(client, buildSigningRequest({ request, previous, proof }, planned.usages)).catch(
    (error: unknown) => {
      // On a conflict the object already exists: the request was repeated because the first response was
      // lost.
      if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
    },
  )
}
