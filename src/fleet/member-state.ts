import { z } from 'zod'
import type { ClusterStatus } from '../contract/cluster-status.ts'
import type { Format } from '../contract/versioned.ts'
import { HyperkubeError, toFailure } from '../kit/errors.ts'
import {
  type DocumentFailure,
  documentFailure,
  type ManagedClusterSpec,
  type ManagedClusterStatus,
  maxMemberEvents,
  maxMessageLength,
  type MemberEvent,
  memberEvent,
} from './cluster-resource.ts'
import {
  computeDocumentDigest,
  type DesiredDocument,
  documentGeneration,
  type DocumentTrust,
  maxDocumentLength,
  readSignedDocument,
} from './desired-document.ts'

const memberState = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('FleetMemberState'),
  /** The last accepted document. Its generation is the fence: lower ones are refused. */
  accepted: z
    .strictObject({
      generation: documentGeneration,
      digest: z.string(),
      document: z.string().max(maxDocumentLength),
      signature: z.base64(),
    })
    .optional(),
  applied: z.strictObject({ generation: documentGeneration, at: z.iso.datetime() }).optional(),
  failed: documentFailure.optional(),
  /** Addons that documents may have created and that are removed if the accepted document lacks them. */
  ownedAddons: z.array(z.string()),
  /** Newest first. */
  events: z.array(memberEvent).max(maxMemberEvents),
})
/** What a managed cluster knows about its documents. It is stored in the cluster itself. */
export type MemberState = z.infer<typeof memberState>

export const memberStateFormat: Format<MemberState> = {
  kind: 'FleetMemberState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: memberState },
  older: [],
}

/** State of a cluster that has not accepted a document yet. */
export const initialMemberState: MemberState = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'FleetMemberState',
  ownedAddons: [],
  events: [],
}

export type OfferDecision =
  /** Nothing new is offered. */
  | { readonly type: 'known' }
  /** The document is valid, but no rollout permits it yet. */
  | { readonly type: 'not-permitted' }
  | { readonly type: 'accept'; readonly document: DesiredDocument }
  | { readonly type: 'refuse'; readonly generation: number; readonly error: HyperkubeError }

/**
 * Decides about the document that the management plane offers. Signature and fence are checked first, because
 * the management plane is trusted only with the time of a change.
 */
export function decideOffer(
  { accepted }: Pick<MemberState, 'accepted'>,
  { desired, permitted }: ManagedClusterSpec,
  trust: DocumentTrust,
): OfferDecision {
  if (desired === undefined) return { type: 'known' }
  const { generation } = desired
  try {
    const document = readSignedDocument(desired, trust)
    if (document.generation !== generation)
      throw new HyperkubeError(
        'FLEET_DOCUMENT_CONFLICT',
        `it is offered as generation ${generation}, but was signed as generation ${document.generation}`,
        { hint: publishHint },
      )
    if (accepted !== undefined) checkFence(accepted, generation, computeDocumentDigest(desired))
    if (accepted?.generation === generation) return { type: 'known' }
    return permitted?.generation === generation ? { type: 'accept', document } : { type: 'not-permitted' }
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    return { type: 'refuse', generation, error }
  }
}

const publishHint = 'on the machine with the key of the cluster: hyperkube fleet publish'

/** Throws if a document is older than the accepted one, or another one with the same number. */
function checkFence(
  accepted: NonNullable<MemberState['accepted']>,
  generation: number,
  digest: string,
): void {
  if (generation < accepted.generation)
    throw new HyperkubeError(
      'FLEET_DOCUMENT_STALE',
      `generation ${generation} is older than the accepted generation ${accepted.generation}`,
      { hint: publishHint },
    )
  if (generation === accepted.generation && digest !== accepted.digest)
    throw new HyperkubeError(
      'FLEET_DOCUMENT_CONFLICT',
      `it differs from the accepted document of the same generation ${generation}`,
      { hint: publishHint },
    )
}

/** Updates the state after a decision. Returns the same object if nothing changes. */
export function recordOffer(
  state: MemberState,
  { desired }: ManagedClusterSpec,
  decision: OfferDecision,
  now: Date,
): MemberState {
  const at = now.toISOString()
  switch (decision.type) {
    case 'accept': {
      if (desired === undefined) return state
      const { generation, document, signature } = desired
      const names = decision.document.addons.map(({ name }) => name)
      const { failed: _failed, ...rest } = state
      return {
        ...rest,
        accepted: { generation, digest: computeDocumentDigest(desired), document, signature },
        ownedAddons: [...new Set([...state.ownedAddons, ...names])],
        events: addEvent(state, { at, type: 'accepted', generation }),
      }
    }
    case 'refuse':
      return recordFailure(state, 'refused', decision.generation, decision.error, now)
    default: {
      // A valid document is offered, so the refusal of another one is over.
      const { failed, ...rest } = state
      const isOfOther = failed !== undefined && failed.generation !== state.accepted?.generation
      return isOfOther ? rest : state
    }
  }
}

/** Records why a document was refused or not applied. A repetition changes nothing. */
export function recordFailure(
  state: MemberState,
  type: 'refused' | 'failed',
  generation: number,
  error: unknown,
  now: Date,
): MemberState {
  const { code, message, hint } = toFailure(error)
  const failed: DocumentFailure = {
    generation,
    at: now.toISOString(),
    code,
    message: message.slice(0, maxMessageLength),
    ...(hint === undefined ? {} : { hint: hint.slice(0, maxMessageLength) }),
  }
  const { failed: known } = state
  if (known?.generation === generation && known.code === code && known.message === failed.message)
    return state
  const event = { at: failed.at, type, generation, message: failed.message }
  return { ...state, failed, events: addEvent(state, event) }
}

/** Records that all addons of a document are applied. */
export function recordApplied(
  state: MemberState,
  { generation, addons }: Pick<DesiredDocument, 'generation' | 'addons'>,
  now: Date,
): MemberState {
  const at = now.toISOString()
  const { failed, ...rest } = state
  const isNewest = state.accepted?.generation === generation
  return {
    ...rest,
    ...(failed === undefined || failed.generation === generation ? {} : { failed }),
    applied: { generation, at },
    // A document that was accepted meanwhile may have created other addons.
    ownedAddons: isNewest ? addons.map(({ name }) => name) : state.ownedAddons,
    events: addEvent(state, { at, type: 'applied', generation }),
  }
}

function addEvent({ events }: Pick<MemberState, 'events'>, event: MemberEvent): MemberEvent[] {
  return [event, ...events].slice(0, maxMemberEvents)
}

/** Builds what a managed cluster reports. */
export function buildMemberReport(
  { accepted, applied, failed, events }: MemberState,
  cluster: ClusterStatus | undefined,
): Omit<ManagedClusterStatus, 'heartbeat'> {
  return {
    ...(accepted === undefined
      ? {}
      : { accepted: { generation: accepted.generation, digest: accepted.digest } }),
    ...(applied === undefined ? {} : { applied }),
    ...(failed === undefined ? {} : { failed }),
    ...(cluster === undefined ? {} : { cluster }),
    events,
  }
}
