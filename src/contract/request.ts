import { z } from 'zod'
import { stageSchema } from './component-plan.ts'
import { etcdRestoreId, etcdRestoreProgress } from './etcd-restore.ts'
import { factsFormat } from './facts.ts'
import { findingSchema } from './finding.ts'
import { healPause, hostHealth, maxHealPauseMs } from './health.ts'
import {
  listening,
  listenSpec,
  maxProbeTargets,
  networkProbeResult,
  networkProbeTarget,
  probeToken,
} from './network-probe.ts'
import { nodePlanFormat } from './node-plan.ts'
import { opSchema } from './op.ts'
import { hostProvisionalChange, provisionalChange } from './provisional-change.ts'
import type { Format } from './versioned.ts'

/** Holder and generation of the operator lock. */
export const claimSchema = z.strictObject({
  holder: z.string().min(1),
  /**
   * Increases with each new holder. The agent refuses requests with a lower generation than the highest it
   * knows.
   */
  generation: z.int().min(1),
})
export type Claim = z.infer<typeof claimSchema>

const plan = nodePlanFormat.newest.schema

/** Secrets of the plan in base64. The key is the name of the secret in the plan. */
const secrets = z.record(z.string(), z.base64())

/** An installed certificate without its private key. */
const installedCertificate = z.strictObject({
  component: z.string(),
  file: z.string(),
  ca: z.enum(['kubernetes', 'etcd', 'front-proxy']),
  /** The certificate as PEM; absent if the file does not exist. */
  certificate: z.string().optional(),
})
export type InstalledCertificate = z.infer<typeof installedCertificate>

/** How an agent is installed. Windows hosts and agents of older releases do not report it. */
const agentInstallation = z.strictObject({
  /** Architecture of the running program. */
  arch: z.enum(['amd64', 'arm64']),
  /** True if the host rolls back to its previous agent unless an operator confirms this one. */
  provisional: z.boolean(),
})
export type AgentInstallation = z.infer<typeof agentInstallation>

const requestBody = z.discriminatedUnion('type', [
  /** Returns the agent's version and the holder of the operator lock. */
  z.strictObject({ type: z.literal('hello') }),
  /** `host` is the name of the host in cluster.yml. */
  z.strictObject({ type: z.literal('facts'), host: z.string() }),
  /**
   * Lists the ops that applying the plan would run. `fileContents` adds the current content of files that
   * would change. `renew` treats all certificates as due for renewal.
   */
  z.strictObject({
    type: z.literal('diff'),
    plan,
    fileContents: z.boolean().optional(),
    renew: z.boolean().optional(),
  }),
  /**
   * Returns the last completely applied plan whose digest is not `differentFrom`. Without `differentFrom`,
   * returns the plan that a provisional change would roll back to.
   */
  z.strictObject({ type: z.literal('previous-plan'), differentFrom: z.string().optional() }),
  /** Takes the operator lock. With `force`, it is taken even from an active holder. */
  z.strictObject({ type: z.literal('claim'), claim: claimSchema, force: z.boolean() }),
  z.strictObject({ type: z.literal('release'), claim: claimSchema }),
  /** Returns all installed certificates. */
  z.strictObject({ type: z.literal('certificates') }),
  /**
   * Creates missing keys and returns a certificate signing request for each certificate that is due. With
   * `renew`, all certificates are due.
   */
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
    /** Signed certificates as PEM. The key is the path of the certificate file. */
    certificates: z.record(z.string(), z.string()),
  }),
  /** Returns the events of a run from sequence number `from` on. */
  z.strictObject({ type: z.literal('attach'), run: z.uuid(), from: z.int().min(1) }),
  /** Stops the services of these components in reverse start order. The next apply starts them again. */
  z.strictObject({
    type: z.literal('stop-services'),
    claim: claimSchema,
    run: z.uuid(),
    components: z.array(z.string()),
    /** If true, the processes are killed instead of stopped gracefully. */
    immediately: z.boolean().optional(),
  }),
  /**
   * Replaces the data of the local etcd member. `sha256` identifies the uploaded archive. `run` is the id of
   * the run that records the progress.
   */
  z.strictObject({
    type: z.literal('restore-etcd-data'),
    claim: claimSchema,
    run: z.uuid(),
    restore: etcdRestoreId,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /**
   * Removes a lost etcd member from a host as if etcd had never run there. Remaining data is moved aside.
   * `run` is the id of the run that records the progress.
   */
  z.strictObject({ type: z.literal('wipe-etcd'), claim: claimSchema, run: z.uuid() }),
  /** Ends the restore after all members have their data, so etcd may start. */
  z.strictObject({ type: z.literal('end-restore'), claim: claimSchema, id: z.uuid() }),
  /**
   * Starts a provisional change: the host rolls back to its current plan unless the change is confirmed. A
   * repeated request with the same id does not replace the plan to roll back to.
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
  /** Confirms a provisional change, so the host does not roll back. */
  z.strictObject({ type: z.literal('confirm-provisional'), claim: claimSchema, id: z.uuid() }),
  /**
   * Removes all resources of hyperkube from the host. `run` is the id of the run that records the progress.
   */
  z.strictObject({ type: z.literal('reset'), claim: claimSchema, run: z.uuid() }),
  /**
   * Returns the host to what ran there before hyperkube, and removes all resources of hyperkube. Data and
   * containers of the cluster stay. `run` is the id of the run that records the progress.
   */
  z.strictObject({ type: z.literal('return-host'), claim: claimSchema, run: z.uuid() }),
  /**
   * Returns the last known health; with `fresh`, all probes run first. The request never triggers healing.
   */
  z.strictObject({ type: z.literal('health'), fresh: z.boolean().optional() }),
  /**
   * Suspends healing for `for` milliseconds; 0 resumes it. The operator lock is not needed, because people
   * may also work on a host without using hyperkube.
   */
  z.strictObject({
    type: z.literal('pause-healing'),
    for: z.int().min(0).max(maxHealPauseMs),
    by: z.string().min(1),
  }),
  /** Reads the host's clock. */
  z.strictObject({ type: z.literal('clock') }),
  /**
   * Opens ports so that other hosts can probe them. The ports are closed when the time is over, the
   * connection ends, or `stop-listening` arrives.
   */
  z.strictObject({ type: z.literal('listen'), ...listenSpec.shape }),
  /** Closes only the ports that were opened with this token. */
  z.strictObject({ type: z.literal('stop-listening'), token: probeToken }),
  /** Probes ports of other hosts. */
  z.strictObject({ type: z.literal('probe'), targets: z.array(networkProbeTarget).max(maxProbeTargets) }),
])

const request = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AgentRequest'),
  body: requestBody,
})
/** A request from an operator's client to the agent of a host. */
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
    /** Progress of an unfinished etcd restore. */
    restore: etcdRestoreProgress.optional(),
    provisional: hostProvisionalChange.optional(),
    installation: agentInstallation.optional(),
  }),
  z.strictObject({ type: z.literal('facts'), facts: factsFormat.newest.schema }),
  z.strictObject({
    type: z.literal('diff'),
    ops: z.array(opSchema),
    findings: z.array(findingSchema),
    /**
     * Current content of files that would change. The key is the file's name in the op. Files with secrets
     * are not included.
     */
    fileContents: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ type: z.literal('previous-plan'), plan: plan.optional() }),
  z.strictObject({ type: z.literal('claimed'), claim: claimSchema }),
  z.strictObject({ type: z.literal('released') }),
  z.strictObject({ type: z.literal('restore-ended') }),
  /** Current state of the provisional change; absent if the host has no provisional change. */
  z.strictObject({ type: z.literal('provisional'), provisional: hostProvisionalChange.optional() }),
  z.strictObject({ type: z.literal('certificates'), certificates: z.array(installedCertificate) }),
  z.strictObject({
    type: z.literal('certificate-requests'),
    /** Certificate signing requests as PEM. The key is the path of the certificate file. */
    requests: z.record(z.string(), z.string()),
  }),
  z.strictObject({ type: z.literal('running'), run: z.uuid() }),
  z.strictObject({ type: z.literal('health'), health: hostHealth }),
  z.strictObject({ type: z.literal('healing'), paused: healPause.optional() }),
  /** The host's clock in milliseconds since 1970. */
  z.strictObject({ type: z.literal('clock'), time: z.number() }),
  z.strictObject({ type: z.literal('listening'), ...listening.shape }),
  z.strictObject({ type: z.literal('stopped-listening') }),
  /** `results` has the same order as the targets of the request. */
  z.strictObject({ type: z.literal('probed'), results: z.array(networkProbeResult) }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
    /** Current holder of the operator lock; absent if the lock is free. */
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
