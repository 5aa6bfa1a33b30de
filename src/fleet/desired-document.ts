import { createHash, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import { addonContent } from '../contract/manager-settings.ts'
import { type Format, readVersioned } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { isSignedBy, signContent } from '../kit/signature.ts'

export const documentGeneration = z.int().min(1)

const desiredDocument = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('DesiredDocument'),
  /** Id in the identity of the cluster. A document of another cluster is refused. */
  cluster: z.uuid(),
  /** Grows with every document. A cluster refuses documents with a lower number than it has accepted. */
  generation: documentGeneration,
  /** All addons of cluster.yml that depend on no host and contain no Secret. */
  addons: z.array(addonContent),
  /**
   * Addons of cluster.yml that the document cannot contain, with only the names of their objects. A managed
   * cluster does not apply them, and does not remove them or their objects. Missing if there are none.
   */
  others: z.array(addonContent).optional(),
})
/** What an operator wants a managed cluster to apply. Hosts are not part of it: their plans need ssh. */
export type DesiredDocument = z.infer<typeof desiredDocument>

export const desiredDocumentFormat: Format<DesiredDocument> = {
  kind: 'DesiredDocument',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: desiredDocument },
  older: [],
}

/**
 * Largest document in bytes, as a text in JSON. A managed cluster stores it in a ConfigMap, which has at most
 * 1 MiB.
 */
export const maxDocumentLength = 900_000

export const signedDocument = z.object({
  /** The document as JSON. The signature is about these bytes. */
  document: z.string().max(maxDocumentLength),
  signature: z.base64(),
})
export type SignedDocument = z.infer<typeof signedDocument>

/** What a cluster needs to recognize its own documents. */
export interface DocumentTrust {
  readonly publicKey: KeyObject
  /** Id in the identity of the cluster. */
  readonly cluster: string
}

/** Separates these signatures from those of bundles and snapshots, which the same key signs. */
const signaturePrefix = 'hyperkube desired document v1\n'

export function signDocument(document: DesiredDocument, privateKey: KeyObject): SignedDocument {
  const text = JSON.stringify(document)
  const size = Buffer.byteLength(JSON.stringify(text))
  if (size > maxDocumentLength)
    throw new HyperkubeError(
      'FLEET_DOCUMENT_TOO_LARGE',
      `the addons of the cluster need ${size} bytes; the limit is ${maxDocumentLength}`,
      { hint: 'apply large addons with hyperkube up, and set enabled: false for the others' },
    )
  return { document: text, signature: signContent(toSignedBytes(text), privateKey).toString('base64') }
}

/** Reads a document. Throws unless the operator of this cluster signed it for this cluster. */
export function readSignedDocument(
  { document: text, signature }: SignedDocument,
  { publicKey, cluster }: DocumentTrust,
): DesiredDocument {
  if (!isSignedBy(toSignedBytes(text), Buffer.from(signature, 'base64'), publicKey))
    throw new HyperkubeError('FLEET_DOCUMENT_SIGNATURE', 'the operator of this cluster did not sign it', {
      hint: 'on the machine with the key of the cluster: hyperkube fleet publish',
    })
  const document = readVersioned(desiredDocumentFormat, parseJson(text))
  if (document.cluster === cluster) return document
  throw new HyperkubeError(
    'FLEET_DOCUMENT_OTHER_CLUSTER',
    `it is for the cluster with the id ${document.cluster}`,
    {
      hint: 'on the machine with the key of the cluster: hyperkube fleet publish',
    },
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new HyperkubeError('CONTRACT_NOT_VALID', 'a signed document is not JSON')
  }
}

export function computeDocumentDigest({ document }: Pick<SignedDocument, 'document'>): string {
  return createHash('sha256').update(document).digest('hex')
}

function toSignedBytes(text: string): Buffer {
  return Buffer.from(signaturePrefix + text)
}

/** Seconds by which the clocks of operators may differ. */
const maxSecondsAhead = 86_400

/**
 * Chooses the number of the next document. The time makes it higher than all previous numbers, even if the
 * management plane has lost the newest ones. Throws if a known number is far ahead of the time: a management
 * plane could otherwise use up all numbers with a false one.
 */
export function chooseGeneration(known: readonly (number | undefined)[], now: Date): number {
  const highest = Math.max(0, ...known.flatMap((generation) => generation ?? []))
  const seconds = Math.floor(now.getTime() / 1000)
  if (highest <= seconds + maxSecondsAhead) return Math.max(highest + 1, seconds)
  throw new HyperkubeError(
    'FLEET_GENERATION_AHEAD',
    `the cluster has generation ${highest}, which is more than a day ahead of the clock of this machine`,
    {
      hint: 'to see the number in the managed cluster: hyperkube kubectl -n kube-system get configmap hyperkube-fleet-member -o yaml',
    },
  )
}
