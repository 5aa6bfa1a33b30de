import { z } from 'zod'
import { clusterStatusSchema } from '../contract/cluster-status.ts'
import { documentGeneration, signedDocument } from './desired-document.ts'

/** Spec of a Cluster object of the management plane. */
export const managedClusterSpec = z.object({
  /** The newest document. `fleet publish` writes it. */
  desired: signedDocument.extend({ generation: documentGeneration }).optional(),
  /** The document that the cluster may apply now. The controller of rollouts writes it. */
  permitted: z.object({ generation: documentGeneration, rollout: z.string() }).optional(),
})
export type ManagedClusterSpec = z.infer<typeof managedClusterSpec>

export const maxMemberEvents = 20
export const maxMessageLength = 2000

export const memberEvent = z.strictObject({
  at: z.iso.datetime(),
  type: z.enum(['accepted', 'refused', 'applied', 'failed']),
  generation: documentGeneration,
  message: z.string().max(maxMessageLength).optional(),
})
export type MemberEvent = z.infer<typeof memberEvent>

/** Why a cluster refused a document, or could not apply it. */
export const documentFailure = z.strictObject({
  generation: documentGeneration,
  at: z.iso.datetime(),
  code: z.string().max(100),
  message: z.string().max(maxMessageLength),
  hint: z.string().max(maxMessageLength).optional(),
})
export type DocumentFailure = z.infer<typeof documentFailure>

/** Status of a Cluster object. Only the managed cluster writes it. */
export const managedClusterStatus = z.object({
  /** Time of the last report, by the clock of the managed cluster. Readers only check whether it changes. */
  heartbeat: z.iso.datetime().optional(),
  /** The highest document that the cluster has accepted. It refuses lower ones. */
  accepted: z.object({ generation: documentGeneration, digest: z.string() }).optional(),
  applied: z.object({ generation: documentGeneration, at: z.iso.datetime() }).optional(),
  failed: documentFailure.optional(),
  cluster: clusterStatusSchema.optional(),
  /** What happened to documents, newest first. */
  events: z.array(memberEvent).max(maxMemberEvents).optional(),
})
export type ManagedClusterStatus = z.infer<typeof managedClusterStatus>
