import { z } from 'zod'
import { etcdRestoreProgress, etcdRestoreId } from './etcd-restore.ts'
import { findingSchema } from './finding.ts'
import { factsFormat } from './facts.ts'
import { healPause, hostHealth, maxHealPauseMs } from './health.ts'
import { nodePlanFormat } from './node-plan.ts'
import { opSchema } from './op.ts'
import {
  listening,
  listenSpec,
  maxProbeTargets,
  networkProbeResult,
  networkProbeTarget,
  probeToken,
} from './network-probe.ts'
import { stageSchema } from './stage.ts'
import { hostProvisionalChange, provisionalChange } from './provisional-change.ts'
import type { Format } from './versioned.ts'

/** The current holder of the operator lock. */
export const claimSchema = z.strictObject({
  holder: z.string().min(1),
  /** The agent refuses requests with a lower generation than it has seen. */
  generation: z.int().min(1),
})
export type Claim = z.infer<typeof claimSchema>

const plan = nodePlanFormat.newest.schema

/** Base64, by the name in the plan. */
const secrets = z.record(z.string(), z.base64())

/** An installed certificate, never its key. */
const installedCertificate = z.strictObject({
  component: z.string(),
  file: z.string(),
  ca: z.enum(['kubernetes', 'etcd', 'front-proxy']),
  /** PEM; absent if the file is gone. */
  certificate: z.string().optional(),
})
export type InstalledCertificate = z.infer<typeof installedCertificate>

const requestBody = z.discriminatedUnion('type', [
  /** Returns the agent's version and the holder of the operator lock. */
  z.strictObject({ type: z.literal('hello') }),
  /** `host` is the operator's name for the host. */
  z.strictObject({ type: z.literal('facts'), host: z.string() }),
  /**
   * What applying the plan would do. `fileContents` adds the current content of files that would change;
   * `renew` treats all certificates as due.
   */
  z.strictObject({
    type: z.literal('diff'),
    plan,
    fileContents: z.boolean().optional(),
    renew: z.boolean().optional(),
  }),
  /**
   * The last completely applied plan that differs from the given digest. Without a digest: the plan that a
   * provisional change would roll back to.
   */
  z.strictObject({ type: z.literal('previous-plan'), differentFrom: z.string().optional() }),
  /** With `force` also from an active holder. */
  z.strictObject({ type: z.literal('claim'), claim: claimSchema, force: z.boolean() }),
  z.strictObject({ type: z.literal('release'), claim: claimSchema }),
  /** All installed certificates in their current state. */
  z.strictObject({ type: z.literal('certificates') }),
  /** Creates missing keys and returns a signing request for each due certificate; with `renew` for all. */
  z.strictObject({
    type: z.literal('certificate-requests'),
    claim: claimSchema,
    plan,
    renew: z.boolean().optional(),
  }),
  /** Applies the plan up to and including a stage. The run continues if the connection is lost. */
  z.strictObject({
    type: z.literal('apply'),
    claim: claimSchema,
    run: z.uuid(),
    through: stageSchema,
    plan,
    secrets,
    /** PEM, by the path of the certificate file. */
    certificates: z.record(z.string(), z.string()),
  }),
  /** Events of a run, starting at a sequence number. */
  z.strictObject({ type: z.literal('attach'), run: z.uuid(), from: z.int().min(1) }),
  /** Stops the services of some components in reverse order. The next apply starts them again. */
  z.strictObject({
    type: z.literal('stop-services'),
    claim: claimSchema,
    run: z.uuid(),
    components: z.array(z.string()),
    /** Kill without a graceful stop. */
    immediately: z.boolean().optional(),
  }),
  /** Replaces the data of the etcd member, as a run: `sha256` names an uploaded archive. */
  z.strictObject({
    type: z.literal('restore-etcd-data'),
    claim: claimSchema,
    run: z.uuid(),
    restore: etcdRestoreId,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /**
   * Turns a host with a lost etcd member into one that never had any, as a run. Remaining data is moved
   * aside.
   */
  z.strictObject({ type: z.literal('wipe-etcd'), claim: claimSchema, run: z.uuid() }),
  /** Every member has its data and may start. */
  z.strictObject({ type: z.literal('end-restore'), claim: claimSchema, id: z.uuid() }),
  /**
   * The host rolls back to its current plan unless the change is confirmed. Repeating the request continues
   * the same change.
   */
  z.strictObject({
    type: z.literal('begin-provisional'),
    claim: claimSchema,
    provisional: provisionalChange,
  }),
  /** Changes the deadline of a provisional change. */
  z.strictObject({
    type: z.literal('move-provisional'),
    claim: claimSchema,
    id: z.uuid(),
    deadline: z.iso.datetime(),
  }),
  /** Confirms the change. */
  z.strictObject({ type: z.literal('confirm-provisional'), claim: claimSchema, id: z.uuid() }),
  /** Removes everything of hyperkube from the host, as a run. */
  z.strictObject({ type: z.literal('reset'), claim: claimSchema, run: z.uuid() }),
  /** Health as the agent knows it; with `fresh` every probe runs now. This never heals anything. */
  z.strictObject({ type: z.literal('health'), fresh: z.boolean().optional() }),
  /**
   * Suspends healing for so many milliseconds; 0 resumes it. Needs no claim, because a person may work on the
   * host without one.
   */
  z.strictObject({
    type: z.literal('pause-healing'),
    for: z.int().min(0).max(maxHealPauseMs),
    by: z.string().min(1),
  }),
  /** Reads the host's clock. */
  z.strictObject({ type: z.literal('clock') }),
  /**
   * Opens ports for probes of other hosts until the time is over, the connection ends, or `stop-listening`
   * arrives.
   */
  z.strictObject({ type: z.literal('listen'), ...listenSpec.shape }),
  /** Closes the ports that were opened with the token, and no others. */
  z.strictObject({ type: z.literal('stop-listening'), token: probeToken }),
  /** Probes ports of other hosts. */
  z.strictObject({ type: z.literal('probe'), targets: z.array(networkProbeTarget).max(maxProbeTargets) }),
])

const request = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AgentRequest'),
  body: requestBody,
})
/** A request of an operator's client to the agent of a host. */
export type AgentRequest = z.infer<typeof request>

export const requestFormat: Format<AgentRequest> = {
  kind: 'AgentRequest',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: request },
  older: [],
}

const responseBody = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    version: z.string(),
    claim: claimSchema.optional(),
    /** An unfinished restore. */
    restore: etcdRestoreProgress.optional(),
    provisional: hostProvisionalChange.optional(),
  }),
  z.strictObject({ type: z.literal('facts'), facts: factsFormat.newest.schema }),
  z.strictObject({
    type: z.literal('diff'),
    ops: z.array(opSchema),
    findings: z.array(findingSchema),
    /** By the names in the ops. Never includes secrets. */
    fileContents: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ type: z.literal('previous-plan'), plan: plan.optional() }),
  z.strictObject({ type: z.literal('claimed'), claim: claimSchema }),
  z.strictObject({ type: z.literal('released') }),
  z.strictObject({ type: z.literal('restore-ended') }),
  /** Current state of the provisional change. */
  z.strictObject({ type: z.literal('trial'), provisional: hostProvisionalChange.optional() }),
  z.strictObject({ type: z.literal('certificates'), certificates: z.array(installedCertificate) }),
  z.strictObject({
    type: z.literal('certificate-requests'),
    /** PEM, by the path of the certificate file. */
    requests: z.record(z.string(), z.string()),
  }),
  z.strictObject({ type: z.literal('running'), run: z.uuid() }),
  z.strictObject({ type: z.literal('health'), health: hostHealth }),
  z.strictObject({ type: z.literal('healing'), paused: healPause.optional() }),
  /** Milliseconds since 1970. */
  z.strictObject({ type: z.literal('clock'), time: z.number() }),
  z.strictObject({ type: z.literal('listening'), ...listening.shape }),
  z.strictObject({ type: z.literal('stopped-listening') }),
  /** In the order of the targets. */
  z.strictObject({ type: z.literal('probed'), results: z.array(networkProbeResult) }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
    /** Holder of the claim, if that is the reason. */
    holder: claimSchema.optional(),
  }),
])

const response = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AgentResponse'),
  body: responseBody,
})
export type AgentResponse = z.infer<typeof response>

export const responseFormat: Format<AgentResponse> = {
  kind: 'AgentResponse',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: response },
  older: [],
}
