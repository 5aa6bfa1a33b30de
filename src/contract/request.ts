import { z } from 'zod'
import { findingSchema } from './finding.ts'
import { factsFormat } from './facts.ts'
import { nodePlanFormat } from './node-plan.ts'
import { op } from './op.ts'
import { listening, listenWish, mostTargets, probeResult, probeTarget, token } from './peers.ts'
import { stage } from './stage.ts'
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

const ask = z.discriminatedUnion('type', [
  /** Which hyperkube it is, and who may change the cluster through it. */
  z.strictObject({ type: z.literal('hello') }),
  /** The name is the operator's for the host. */
  z.strictObject({ type: z.literal('facts'), host: z.string() }),
  /** What would be done, were the plan applied; with `texts` also what is in files that would change. */
  z.strictObject({ type: z.literal('diff'), plan, texts: z.boolean().optional() }),
  /** The last plan that the host was taken through as a whole, and that was another than the one with this digest. */
  z.strictObject({ type: z.literal('former-plan'), than: z.string() }),
  /** With `force` also from a holder who is still there. */
  z.strictObject({ type: z.literal('claim'), claim, force: z.boolean() }),
  z.strictObject({ type: z.literal('release'), claim }),
  /** Makes the keys that are missing, and answers with a request for each certificate that is due. */
  z.strictObject({ type: z.literal('certificate-requests'), claim, plan }),
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
  /** Stops the services of a stage and of all that come after it, the last first, because the host is about to leave. */
  z.strictObject({ type: z.literal('stop-services'), claim, run: z.uuid(), from: stage }),
  /** Takes everything of ours off the host, as a run that can be attached to. */
  z.strictObject({ type: z.literal('reset'), claim, run: z.uuid() }),
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
  z.strictObject({ type: z.literal('hello'), version: z.string(), claim: claim.optional() }),
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
  z.strictObject({
    type: z.literal('certificate-requests'),
    /** PEM, by the path of the certificate's file. */
    requests: z.record(z.string(), z.string()),
  }),
  z.strictObject({ type: z.literal('running'), run: z.uuid() }),
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
