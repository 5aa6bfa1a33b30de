import { HyperkubeError } from '../kit/errors.ts'
import { checkRequest } from './check-request.ts'
import { year } from './lifetime.ts'
import type { AlternativeNames } from './names.ts'
import type { X509 } from './x509.ts'

/** What a kubelet asks the API to have signed, so that others know it for the one that they ask. */
export interface ServingRequest {
  readonly signer: string
  /** As whom they ask, in the words of the API. */
  readonly username: string
  readonly groups: readonly string[]
  /** As the API calls them. */
  readonly usages: readonly string[]
  /** PEM. */
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
      /** For people. */
      readonly message: string
    }

export const servingSigner = 'kubernetes.io/kubelet-serving'

const nodes = 'system:nodes'
const prefix = 'system:node:'
/** Keys on a curve encipher nothing. */
const usages = ['digital signature', 'server auth']

/** The node that asks; undefined when it is none. */
export function askingNode({
  username,
  groups,
}: Pick<ServingRequest, 'username' | 'groups'>): string | undefined {
  const name = username.startsWith(prefix) ? username.slice(prefix.length) : ''
  return groups.includes(nodes) && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) ? name : undefined
}

/** Whether a kubelet may have it: for itself, to serve with, and under names alone that the plan has for its host. */
export function checkServing(x509: X509, asked: ServingRequest, planned: AlternativeNames): ServingVerdict {
  const { signer, username, request } = asked
  if (signer !== servingSigner) return refused('NotServing', `it is for the signer ${signer}`)
  if (askingNode(asked) === undefined) return refused('NotANode', `${username} is no node`)
  const isRight = asked.usages.length === usages.length && usages.every((one) => asked.usages.includes(one))
  if (!isRight) return refused('UsagesNotRight', `a kubelet serves, and needs ${usages.join(', ')}`)
  const subject = { commonName: username, organizations: [nodes] }
  try {
    checkRequest(x509, request, { subject, names: planned, usages: ['server'], lifetime: year })
  } catch (error) {
    if (error instanceof HyperkubeError) return refused('RequestRefused', error.message)
    throw error
  }
  const { subjectName, extensions } = new x509.Pkcs10CertificateRequest(request)
  const parts = subjectName
    .toJSON()
    .flatMap((part) =>
      Object.entries(part).flatMap(([type, values]) => values.map((value) => `${type}=${value}`)),
    )
  // There is nothing else in it by now; but it may lack something, or have it twice.
  if (parts.length !== 2 || new Set(parts).size !== 2) {
    return refused('SubjectNotExact', `its subject is not exactly O=${nodes}, CN=${username}`)
  }
  const names = extensions.flatMap((extension) =>
    extension instanceof x509.SubjectAlternativeNameExtension ? [...extension.names.items] : [],
  )
  return names.length === 0
    ? refused('NoNames', 'it says nothing that a server is called')
    : { verdict: 'granted' }
}

function refused(
  reason: Extract<ServingVerdict, { verdict: 'refused' }>['reason'],
  message: string,
): ServingVerdict {
  return { verdict: 'refused', reason, message }
}
