import { z } from 'zod'
import { certificateSubject, subjectAltNames } from './certificate-spec.ts'
import { certificateCa } from './component-plan.ts'
import { componentHealthValue, healAction } from './health.ts'
import type { Format } from './versioned.ts'

/**
 * Identifies the leader that sends a request. Each new leader has a higher `transitions` number. Hosts refuse
 * fences lower than the highest one they know, because a previous leader may not have noticed that it lost
 * its lease.
 */
export const fence = z.strictObject({
  holder: z.string().min(1),
  transitions: z.int().nonnegative(),
})
export type Fence = z.infer<typeof fence>

/**
 * True if a host that knows the fence `highest` may accept a request with the fence `presented`. If
 * `transitions` is equal, the holder must be the same.
 */
export function canAct(presented: Fence, highest: Fence | undefined): boolean {
  if (highest === undefined || presented.transitions > highest.transitions) return true
  return presented.transitions === highest.transitions && presented.holder === highest.holder
}

/** Id of a request. A host runs each id at most once. */
const id = z.string().regex(/^[a-z0-9][a-z0-9.-]{0,127}$/)

/** File name of a snapshot on a host. The pattern allows no path separators and no leading dot. */
export const snapshotFileName = z.string().regex(/^[a-z0-9][\w.-]{0,99}$/i)

/** Actions that controllers may request from a host. No action changes the desired state in the plan. */
export const hostAction = z.discriminatedUnion('type', [
  /** Run all probes now and return their results. */
  z.strictObject({ type: z.literal('check') }),
  /** Save recent logs of a component. */
  z.strictObject({ type: z.literal('capture-logs'), component: z.string().min(1) }),
  /** Renew due certificates now instead of at the next check. */
  z.strictObject({ type: z.literal('renew-certificates') }),
  /** Defragment the local etcd member. The member serves no requests until the action ends. */
  z.strictObject({ type: z.literal('defragment-etcd') }),
  /**
   * Save the database of the local etcd member. The snapshots in `remove` are deleted only after the new one
   * is verified.
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
  /** Fence of the leader that wrote the request. */
  fence,
  /**
   * Generation of the operator lock that the controller read. The host refuses the request if it knows a
   * higher generation.
   */
  generation: z.int().min(0),
  /** Latest time at which the host may start the action. The host keeps the result at least until then. */
  until: z.iso.datetime(),
  action: hostAction,
})
export type HostRequest = z.infer<typeof hostRequest>

/** Maximum number of pending requests of a host. Normal operation stays far below it. */
export const maxHostRequests = 32

/** A certificate that control planes renew at the request of the host. */
const renewableCertificate = z.object({ ca: certificateCa, subject: certificateSubject })
export type RenewableCertificate = z.infer<typeof renewableCertificate>

/**
 * Spec of a Host object. The client that plans the host writes it, except for `requests`, which controllers
 * write.
 */
export const hostSpec = z.object({
  /** Names and addresses of the host from its plan. Names that the host reports about itself are not used. */
  names: subjectAltNames.optional(),
  /** Certificates of the plan. Control planes renew no other certificate for the host. */
  certificates: z.array(renewableCertificate).optional(),
  /** True if the plan has an etcd member. Otherwise controllers ignore what the host reports about etcd. */
  etcdMember: z.boolean().optional(),
  /**
   * Each request is parsed separately, so an agent that does not know one action still runs the other
   * requests.
   */
  requests: z.array(z.unknown()).max(maxHostRequests).optional(),
})

export const hostRequestRefusal = z.enum([
  /** The host knows a higher fence. */
  'fence',
  /** An operator has changed the cluster since the request was written. */
  'generation',
  'late',
  /** The agent does not know the action. */
  'unknown',
])
export type HostRequestRefusal = z.infer<typeof hostRequestRefusal>

const hostResult = z.discriminatedUnion('outcome', [
  z.object({ id, outcome: z.literal('done'), at: z.iso.datetime(), details: z.array(z.string()) }),
  z.object({ id, outcome: z.literal('failed'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** The agent stopped during the action, which may be partly or completely done. */
  z.object({ id, outcome: z.literal('interrupted'), at: z.iso.datetime(), details: z.array(z.string()) }),
  /** The action was not started. The request can be corrected and sent again. */
  z.object({ id, outcome: z.literal('refused'), reason: hostRequestRefusal }),
])
export type HostResult = z.infer<typeof hostResult>

/** A condition as in the status of Kubernetes objects. */
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
  state: componentHealthValue,
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
  /** When the agent will renew the certificate. */
  renewAfter: z.iso.datetime(),
})
export type HostCertificate = z.infer<typeof certificate>

/** What the local etcd member reports about itself and about the other members. Ids are in hex. */
const etcd = z.object({
  id: z.string(),
  leader: z.string().optional(),
  learner: z.boolean(),
  /** True if the member sees a quorum and serves requests. */
  ready: z.boolean(),
  version: z.string(),
  /**
   * Database size in bytes, rounded to mebibytes, so that its constant growth does not cause constant
   * updates.
   */
  size: z.int(),
  inUse: z.int(),
  quota: z.int().optional(),
  members: z.array(z.object({ id: z.string(), name: z.string(), learner: z.boolean() })),
  alarms: z.array(z.object({ member: z.string(), alarm: z.enum(['NOSPACE', 'CORRUPT']) })),
})
export type HostEtcd = z.infer<typeof etcd>

const snapshot = z.object({ name: z.string(), takenAt: z.iso.datetime(), size: z.int() })
export type HostSnapshot = z.infer<typeof snapshot>

/**
 * Status of a Host object. The host's agent writes it, except for the conditions, which controllers write.
 */
export const hostStatus = z.object({
  agent: z.string().optional(),
  /**
   * Time of the last report, by the host's clock. Readers only check whether the value changes, because
   * clocks may differ.
   */
  heartbeat: z.iso.datetime().optional(),
  /** Highest generation of the operator lock that the host knows. */
  generation: z.int().min(0).optional(),
  /** Highest fence that the host knows. */
  highestFence: fence.optional(),
  /** Why healing is suspended. */
  suspended: z.string().optional(),
  components: z.array(component).optional(),
  /** Probes that are currently failing. */
  failing: z.array(failingProbe).optional(),
  /** Recent healing actions, newest first. */
  actions: z.array(healAction.pick({ at: true, component: true, action: true, because: true })).optional(),
  certificates: z.array(certificate).optional(),
  etcd: etcd.optional(),
  /** Snapshots on the host, oldest first. */
  snapshots: z.array(snapshot).optional(),
  results: z.array(hostResult).optional(),
  conditions: z.array(hostCondition).optional(),
})
export type HostStatus = z.infer<typeof hostStatus>

const stateSchema = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('HostRequestState'),
  /** Highest fence that the host knows. Requests with a lower fence are refused. */
  highestFence: fence.optional(),
  /**
   * Requests that were started, oldest first. Each is kept at least until some time after its deadline
   * (`until`). A request without a result may still be running.
   */
  started: z.array(
    z.strictObject({ id: hostRequest.shape.id, until: z.iso.datetime(), result: hostResult.optional() }),
  ),
})

/** Request state that survives a restart of the agent. Without it a host could run a request twice. */
export type HostRequestState = z.infer<typeof stateSchema>

export const hostRequestStateFormat: Format<HostRequestState> = {
  kind: 'HostRequestState',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: stateSchema },
  older: [],
}
