import { z } from 'zod'
import { etcdRestore, etcdRestoreId } from './etcd-restore.ts'
import { findingSchema } from './finding.ts'
import { factsFormat } from './facts.ts'
import { healPause, hostHealth, longestPause } from './health.ts'
import { nodePlanFormat } from './node-plan.ts'
import { op } from './op.ts'
import { listening, listenWish, mostTargets, probeResult, probeTarget, token } from './network-probe.ts'
import { stage } from './stage.ts'
import { hostTrial, trial } from './provisional-change.ts'
import type { Format } from './versioned.ts'

/** Who may change the cluster now. */
export const claim = z.strictObject({
  holder: z.string().min(1),
  /** A request with an older one than the agent has seen is refused. */
  generation: z.int().min(1),
})
export type Claim = z.infer<typeof claim>

const plan = nodePlanFormat.newest.schema

/** By the name that a plan gives it, in base64. */
const secrets = z.record(z.string(), z.base64())

/** A certificate where it was put, never its key. */
const installedCertificate = z.strictObject({
  component: z.string(),
  file: z.string(),
  authority: z.enum(['kubernetes', 'etcd', 'front-proxy']),
  /** PEM; none when the file is gone. */
  certificate: z.string().optional(),
})
export type InstalledCertificate = z.infer<typeof installedCertificate>

const ask = z.discriminatedUnion('type', [
  /** Which hyperkube it is, and who may change the cluster through it. */
  z.strictObject({ type: z.literal('hello') }),
  /** The name is the operator's for the host. */
  z.strictObject({ type: z.literal('facts'), host: z.string() }),
  /**
   * What would be done, were the plan applied; with `texts` also what is in files that would change, with `renew` were
   * all certificates due.
   */
  z.strictObject({
    type: z.literal('diff'),
    plan,
    texts: z.boolean().optional(),
    renew: z.boolean().optional(),
  }),
  /**
   * The last plan that the host was taken through as a whole, and that was another than the one with this digest. Without a
   * digest what a trial that begins now, or is under way, goes back to.
   */
  z.strictObject({ type: z.literal('former-plan'), than: z.string().optional() }),
  /** With `force` also from a holder who is still there. */
  z.strictObject({ type: z.literal('claim'), claim, force: z.boolean() }),
  z.strictObject({ type: z.literal('release'), claim }),
  /** The certificates that were put on the host, as they are now. */
  z.strictObject({ type: z.literal('certificates') }),
  /** Makes the keys that are missing, and answers with a request for each certificate that is due, or for all with `renew`. */
  z.strictObject({
    type: z.literal('certificate-requests'),
    claim,
    plan,
    renew: z.boolean().optional(),
  }),
  /** Takes a host through its plan, up to and with a stage. The run goes on when the connection is lost. */
  z.strictObject({
    type: z.literal('apply'),
    claim,
    run: z.uuid(),
    through: stage,
    plan,
    secrets,
    /** PEM, by the path of the certificate's file. */
    certificates: z.record(z.string(), z.string()),
  }),
  /** The events of a run, from one on. */
  z.strictObject({ type: z.literal('attach'), run: z.uuid(), from: z.int().min(1) }),
  /** Stops the services of some components, the last first. The next apply starts them again. */
  z.strictObject({
    type: z.literal('stop-services'),
    claim,
    run: z.uuid(),
    components: z.array(z.string()),
    /** Without time to end what they are at. */
    atOnce: z.boolean().optional(),
  }),
  /** Puts data in the place of what a member of etcd has, as a run: an archive that was brought, by its digest. */
  z.strictObject({
    type: z.literal('place-etcd'),
    claim,
    run: z.uuid(),
    restore: etcdRestoreId,
    sha256: z.string().regex(/^[0-9a-f]{64}$/),
  }),
  /** Makes a host whose member of etcd is lost one that never had any, as a run. What is left of its data is moved aside. */
  z.strictObject({ type: z.literal('clear-etcd'), claim, run: z.uuid() }),
  /** Every member has its data: from now on they may start. */
  z.strictObject({ type: z.literal('end-restore'), claim, id: z.uuid() }),
  /** From now on the host goes back to what it is now, unless that is kept. Again, it goes on with the same one. */
  z.strictObject({ type: z.literal('begin-trial'), claim, trial }),
  /** Gives a trial that is under way another end. */
  z.strictObject({ type: z.literal('move-trial'), claim, id: z.uuid(), deadline: z.iso.datetime() }),
  /** What was tried stays. */
  z.strictObject({ type: z.literal('keep-trial'), claim, id: z.uuid() }),
  /** Takes everything of ours off the host, as a run that can be attached to. */
  z.strictObject({ type: z.literal('reset'), claim, run: z.uuid() }),
  /** How it is, as far as the agent knows; with `fresh` every probe is asked now. Nothing is healed by that. */
  z.strictObject({ type: z.literal('health'), fresh: z.boolean().optional() }),
  /** Heals nothing for so many milliseconds, or again as ever with 0. A person is at work there, with or without a claim. */
  z.strictObject({
    type: z.literal('pause-healing'),
    for: z.int().min(0).max(longestPause),
    by: z.string().min(1),
  }),
  /** What time it is there. */
  z.strictObject({ type: z.literal('clock') }),
  /** Opens ports for other hosts to look for, until the time is over, the connection ends, or `hush` is said. */
  z.strictObject({ type: z.literal('listen'), ...listenWish.shape }),
  /** Ends what was opened under the token, and nothing else. */
  z.strictObject({ type: z.literal('hush'), token }),
  /** Looks for the ports of other hosts. */
  z.strictObject({ type: z.literal('probe'), targets: z.array(probeTarget).max(mostTargets) }),
])

const request = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AgentRequest'),
  ask,
})
/** What an operator's side asks of the agent of a host. */
export type AgentRequest = z.infer<typeof request>

export const requestFormat: Format<AgentRequest> = {
  kind: 'AgentRequest',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: request },
  older: [],
}

const answer = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('hello'),
    version: z.string(),
    claim: claim.optional(),
    /** One that is not over. */
    restore: etcdRestore.optional(),
    trial: hostTrial.optional(),
  }),
  z.strictObject({ type: z.literal('facts'), facts: factsFormat.newest.schema }),
  z.strictObject({
    type: z.literal('diff'),
    ops: z.array(op),
    findings: z.array(findingSchema),
    /** By the names that ops give them. Never of secrets. */
    texts: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ type: z.literal('former-plan'), plan: plan.optional() }),
  z.strictObject({ type: z.literal('claimed'), claim }),
  z.strictObject({ type: z.literal('released') }),
  z.strictObject({ type: z.literal('restore-ended') }),
  /** How it is with it now. */
  z.strictObject({ type: z.literal('trial'), trial: hostTrial.optional() }),
  z.strictObject({ type: z.literal('certificates'), certificates: z.array(installedCertificate) }),
  z.strictObject({
    type: z.literal('certificate-requests'),
    /** PEM, by the path of the certificate's file. */
    requests: z.record(z.string(), z.string()),
  }),
  z.strictObject({ type: z.literal('running'), run: z.uuid() }),
  z.strictObject({ type: z.literal('health'), health: hostHealth }),
  z.strictObject({ type: z.literal('healing'), paused: healPause.optional() }),
  /** Milliseconds since 1970. */
  z.strictObject({ type: z.literal('clock'), time: z.number() }),
  z.strictObject({ type: z.literal('listening'), ...listening.shape }),
  z.strictObject({ type: z.literal('hushed') }),
  /** In the order of the targets. */
  z.strictObject({ type: z.literal('probed'), results: z.array(probeResult) }),
  z.strictObject({
    type: z.literal('refused'),
    code: z.string(),
    message: z.string(),
    hint: z.string().optional(),
    /** Who holds the claim, when that is why. */
    holder: claim.optional(),
  }),
])

const response = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AgentResponse'),
  answer,
})
export type AgentResponse = z.infer<typeof response>

export const responseFormat: Format<AgentResponse> = {
  kind: 'AgentResponse',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: response },
  older: [],
}
