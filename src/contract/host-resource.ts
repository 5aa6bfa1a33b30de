import { z } from 'zod'
import { fence } from './fence.ts'
import { healAction } from './health.ts'
import { subjectAltNames } from './certificate-spec.ts'

/** Identity of a request: a host runs each id at most once. */
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,127}$/)

/** File name of a snapshot on a host: it cannot leave the directory or be hidden. */
export const snapshotFileName = z.string().regex(/^[a-z0-9][\w.-]{0,99}$/i)

/** Actions that controllers may request of a host. None of them changes what its plan says. */
export const hostAction = z.discriminatedUnion('type', [
  /** Check everything again and report. */
  z.strictObject({ type: z.literal('check') }),
  /** Save recent logs of a component. */
  z.strictObject({ type: z.literal('capture-logs'), component: z.string().min(1) }),
  /** Renew due certificates now instead of at the next check. */
  z.strictObject({ type: z.literal('renew-certificates') }),
  /** Defragment the local etcd member. It serves no requests meanwhile. */
  z.strictObject({ type: z.literal('defragment-etcd') }),
  /**
   * Save the database of the local etcd member. Other snapshots are removed only after the new one is
   * verified.
   */
  z.strictObject({
    type: z.literal('take-snapshot'),
    name: snapshotFileName,
    remove: z.array(z.string()).max(100),
  }),
])
export type HostAction = z.infer<typeof hostAction>

export const hostRequest = z.strictObject({
  id,
  /** Fence of the requesting leader. */
  fence,
  /** Claim generation that the requester saw; stale if lower than the host's. */
  generation: z.int().min(0),
  /** The host must not start later. The result is also kept until then. */
  until: z.iso.datetime(),
  action: hostAction,
})
export type HostRequest = z.infer<typeof hostRequest>

/** More pending requests than this mean that something is wrong. */
export const maxHostRequests = 32

/** Written by the client that plans the host, except for the requests, which controllers write. */
export const hostSpec = z.object({
  /** Names and addresses from the plan: what the host itself claims does not count. */
  names: subjectAltNames.optional(),
  /** Parsed one by one: an agent that does not know one of them still runs the others. */
  requests: z.array(z.unknown()).max(maxHostRequests).optional(),
})

export const hostRequestRefusal = z.enum([
  /** A higher fence was seen. */
  'fence',
  /** An operator has changed the cluster since. */
  'generation',
  'late',
  /** The agent does not know the action. */
  'unknown',
])
export type HostRequestRefusal = z.infer<typeof hostRequestRefusal>

export const hostResult = z.discriminatedUnion('outcome', [
  z.object({ id, outcome: z.literal('done'), at: z.iso.datetime(), details: z.array(z.string()) }),
  z.object({ id, outcome: z.literal('failed'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** The agent ended during the action: it may be done partly or completely. */
  z.object({ id, outcome: z.literal('interrupted'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** Nothing was done. A corrected request can be sent again. */
  z.object({ id, outcome: z.literal('refused'), reason: hostRequestRefusal }),
])
export type HostResult = z.infer<typeof hostResult>

/** A condition in the form that Kubernetes uses everywhere. */
export const hostCondition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.iso.datetime(),
})
export type HostCondition = z.infer<typeof hostCondition>

const component = z.object({
  component: z.string(),
  state: z.enum(['healthy', 'unhealthy', 'healing', 'blocked', 'exhausted']),
  since: z.iso.datetime(),
  because: z.string().optional(),
  code: z.string().optional(),
})

const failingProbe = z.object({
  component: z.string(),
  probe: z.string(),
  since: z.iso.datetime(),
  code: z.string().optional(),
  message: z.string().optional(),
})

const certificate = z.object({
  component: z.string(),
  file: z.string(),
  notAfter: z.iso.datetime(),
  /** When the agent will renew it. */
  renewAfter: z.iso.datetime(),
})
export type HostCertificate = z.infer<typeof certificate>

/** What the local etcd member reports about itself and the others. Ids are in hex. */
const etcd = z.object({
  id: z.string(),
  leader: z.string().optional(),
  learner: z.boolean(),
  /** It sees a quorum and serves requests. */
  ready: z.boolean(),
  version: z.string(),
  /** Bytes, rounded to mebibytes: a value that always grows must not cause constant updates. */
  size: z.int(),
  inUse: z.int(),
  quota: z.int().optional(),
  members: z.array(z.object({ id: z.string(), name: z.string(), learner: z.boolean() })),
  alarms: z.array(z.object({ member: z.string(), alarm: z.enum(['NOSPACE', 'CORRUPT']) })),
})
export type HostEtcd = z.infer<typeof etcd>

const snapshot = z.object({ name: z.string(), takenAt: z.iso.datetime(), size: z.int() })
export type HostSnapshot = z.infer<typeof snapshot>

/** Written by the host's agent, except for the conditions, which controllers write. */
export const hostStatus = z.object({
  agent: z.string().optional(),
  /** By the host's clock: only a change of the value matters. */
  heartbeat: z.iso.datetime().optional(),
  /** Highest claim generation that the host has seen. */
  generation: z.int().min(0).optional(),
  /** Highest fence that the host has seen. */
  highestFence: fence.optional(),
  /** Why healing does nothing at present. */
  suspended: z.string().optional(),
  components: z.array(component).optional(),
  /** Probes that fail now. */
  failing: z.array(failingProbe).optional(),
  /** Recent actions, newest first. */
  actions: z.array(healAction.pick({ at: true, component: true, action: true, because: true })).optional(),
  certificates: z.array(certificate).optional(),
  etcd: etcd.optional(),
  /** Oldest first. */
  snapshots: z.array(snapshot).optional(),
  results: z.array(hostResult).optional(),
  conditions: z.array(hostCondition).optional(),
})
export type HostStatus = z.infer<typeof hostStatus>
