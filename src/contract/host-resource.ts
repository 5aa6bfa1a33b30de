import { z } from 'zod'
import { fence } from './fence.ts'
import { healAction } from './health.ts'
import { alternativeNames } from './certificate-spec.ts'

/** The name of a request is its identity: nothing is ever done twice under the same one. */
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,127}$/)

/** What a snapshot on a host may be called: nothing that leads out of its directory, or is hidden in it. */
export const snapshotFile = z.string().regex(/^[a-z0-9][\w.-]{0,99}$/i)

/** What may be asked of a host while no operator is near. Nothing here changes what its plan says. */
export const hostAsk = z.discriminatedUnion('type', [
  /** To look at everything anew, and to say how it is. */
  z.strictObject({ type: z.literal('check') }),
  /** To keep what a component has logged of late. */
  z.strictObject({ type: z.literal('capture-logs'), component: z.string().min(1) }),
  /** To renew what is due now, and not at the next look. */
  z.strictObject({ type: z.literal('renew-certificates') }),
  /** To have its own member of etcd give back the space that it does not use. It answers nobody meanwhile. */
  z.strictObject({ type: z.literal('defragment-etcd') }),
  /** To keep the database of its own member of etcd under a name, and only once that one is good to remove others. */
  z.strictObject({
    type: z.literal('take-snapshot'),
    name: snapshotFile,
    remove: z.array(z.string()).max(100),
  }),
])
export type HostAsk = z.infer<typeof hostAsk>

export const hostRequest = z.strictObject({
  id,
  /** In whose name. */
  fence,
  /** Of the operators' claim that whoever asks knew of: where an operator came since, it was decided on something old. */
  generation: z.int().min(0),
  /** Nobody begins with it later; so long it is remembered, too. */
  until: z.iso.datetime(),
  ask: hostAsk,
})
export type HostRequest = z.infer<typeof hostRequest>

/** More wait for an answer at once only when something is wrong. */
export const mostRequests = 32

/** Written by whoever plans the host, but for the requests, which controllers write. */
export const hostSpec = z.object({
  /** What the plan says that the host is called, and where it is: its own word does not count. */
  names: alternativeNames.optional(),
  /** They are looked at one by one: an agent that does not know one of them answers the others. */
  requests: z.array(z.unknown()).max(mostRequests).optional(),
})

export const refusal = z.enum([
  /** A higher number has been shown. */
  'fence',
  /** An operator was here since. */
  'generation',
  'late',
  /** This agent does not know what is asked. */
  'unknown',
])
export type Refusal = z.infer<typeof refusal>

export const hostResult = z.discriminatedUnion('outcome', [
  z.object({ id, outcome: z.literal('done'), at: z.iso.datetime(), details: z.array(z.string()) }),
  z.object({ id, outcome: z.literal('failed'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** The agent ended over it: it may have been done, in part or as a whole. */
  z.object({ id, outcome: z.literal('interrupted'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** Nothing was done. Asked anew as it should be, it is done. */
  z.object({ id, outcome: z.literal('refused'), reason: refusal }),
])
export type HostResult = z.infer<typeof hostResult>

/** As Kubernetes writes them everywhere. */
export const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
})
export type Condition = z.infer<typeof condition>

const component = z.object({
  component: z.string(),
  state: z.enum(['well', 'unwell', 'healing', 'held', 'given-up']),
  since: z.iso.datetime(),
  because: z.string().optional(),
  code: z.string().optional(),
})

const failing = z.object({
  component: z.string(),
  probe: z.string(),
  since: z.iso.datetime(),
  code: z.string().optional(),
  seen: z.string().optional(),
})

const certificate = z.object({
  component: z.string(),
  file: z.string(),
  notAfter: z.iso.datetime(),
  /** From when on the agent renews it. */
  renewAfter: z.iso.datetime(),
})
export type KnownCertificate = z.infer<typeof certificate>

/** What the host's own member of etcd says of itself, and of the others. Ids are in hex. */
const etcd = z.object({
  id: z.string(),
  leader: z.string().optional(),
  learner: z.boolean(),
  /** It hears a quorum, and serves. */
  ready: z.boolean(),
  version: z.string(),
  /** In bytes, to the mebibyte: what grows all the time must not be told all the time. */
  size: z.int(),
  inUse: z.int(),
  quota: z.int().optional(),
  members: z.array(z.object({ id: z.string(), name: z.string(), learner: z.boolean() })),
  alarms: z.array(z.object({ member: z.string(), alarm: z.enum(['NOSPACE', 'CORRUPT']) })),
})
export type HostEtcd = z.infer<typeof etcd>

const snapshot = z.object({ name: z.string(), taken: z.iso.datetime(), size: z.int() })
export type HostSnapshot = z.infer<typeof snapshot>

/** Written by the host's agent, but for the conditions, which controllers write. */
export const hostStatus = z.object({
  agent: z.string().optional(),
  /** By the clock of the host: only that it changes counts. */
  heartbeat: z.iso.datetime().optional(),
  /** The highest generation of the operators' claim that it has seen. */
  generation: z.int().min(0).optional(),
  /** The highest that it has been shown. */
  highest: fence.optional(),
  /** Why nothing is healed at present. */
  idle: z.string().optional(),
  components: z.array(component).optional(),
  /** Probes that fail now. */
  failing: z.array(failing).optional(),
  /** Of late, the newest first. */
  actions: z.array(healAction.pick({ at: true, component: true, action: true, because: true })).optional(),
  certificates: z.array(certificate).optional(),
  etcd: etcd.optional(),
  /** The oldest first. */
  snapshots: z.array(snapshot).optional(),
  results: z.array(hostResult).optional(),
  conditions: z.array(condition).optional(),
})
export type HostStatus = z.infer<typeof hostStatus>
