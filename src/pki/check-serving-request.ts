import { HyperkubeError } from '../kit/errors.ts'
import { checkRequest } from './check-request.ts'
import { year } from './lifetime.ts'
import type { AlternativeNames } from './names.ts'
import type { X509 } from './x509.ts'

/** A kubelet's certificate signing request (CSR) for its serving certificate. */
export interface ServingRequest {
  readonly signer: string
  /** User name of the requester in the Kubernetes API. */
  readonly username: string
  readonly groups: readonly string[]
  /** Key usages in the spelling of the Kubernetes API. */
  readonly usages: readonly string[]
  /** Certificate signing request as PEM. */
  readonly request: string
}

export type ServingVerdict =
  | { readonly verdict: 'granted' }
  | {
      readonly verdict: 'refused'
      readonly reason:
        | 'NotServing'
        | 'NotANode'
        | 'UsagesNotRight'
        | 'RequestRefused'
        | 'SubjectNotExact'
        | 'NoNames'
      /** Reason in words, for people. */
      readonly message: string
    }

export const servingSigner = 'kubernetes.io/kubelet-serving'

const nodesGroup = 'system:nodes'
const nodeUserPrefix = 'system:node:'
/**
 * Exact key usages of a valid request. Key encipherment is excluded, because ECDSA keys do not support it.
 */
const requiredUsages = ['digital signature', 'server auth']

/** Returns the name of the requesting node, or undefined if the requester is not a node. */
export function requestingNode({
  username,
  groups,
}: Pick<ServingRequest, 'username' | 'groups'>): string | undefined {
  const name = username.startsWith(nodeUserPrefix) ? username.slice(nodeUserPrefix.length) : ''
  return groups.includes(nodesGroup) && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) ? name : undefined
}

/**
 * Checks that a kubelet requests a serving certificate for itself, and only for names and addresses that the
 * plan has for its host.
 */
export function checkServingRequest(
  x509: X509,
  serving: ServingRequest,
  planned: AlternativeNames,
): ServingVerdict {
  const { signer, username, request } = serving
  if (signer !== servingSigner) return refuse('NotServing', `the request is for the signer ${signer}`)
  if (requestingNode(serving) === undefined) return refuse('NotANode', `${username} is not a node`)
  const hasRequiredUsages =
    serving.usages.length === requiredUsages.length &&
    requiredUsages.every((one) => serving.usages.includes(one))
  if (!hasRequiredUsages)
    return refuse(
      'UsagesNotRight',
      `a kubelet serving certificate needs the usages ${requiredUsages.join(', ')}`,
    )
  const subject = { commonName: username, organizations: [nodesGroup] }
  try {
    checkRequest(x509, request, { subject, names: planned, usages: ['server'], lifetime: year })
  } catch (error) {
    if (error instanceof HyperkubeError) return refuse('RequestRefused', error.message)
    throw error
  }
  const { subjectName, extensions } = new x509.Pkcs10CertificateRequest(request)
  const parts = subjectName
    .toJSON()
    .flatMap((part) =>
      Object.entries(part).flatMap(([type, values]) => values.map((value) => `${type}=${value}`)),
    )
  // Unexpected parts were already rejected, but a part may be missing or occur twice.
  if (parts.length !== 2 || new Set(parts).size !== 2) {
    return refuse('SubjectNotExact', `the subject is not exactly O=${nodesGroup}, CN=${username}`)
  }
  const names = extensions.flatMap((extension) =>
    extension instanceof x509.SubjectAlternativeNameExtension ? [...extension.names.items] : [],
  )
  return names.length === 0
    ? refuse('NoNames', 'the request has no DNS name and no IP address')
    : { verdict: 'granted' }
}

function refuse(
  reason: Extract<ServingVerdict, { verdict: 'refused' }>['reason'],
  message: string,
): ServingVerdict {
  return { verdict: 'refused', reason, message }
}
