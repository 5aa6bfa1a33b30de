/**
 * All that hosts and operators tell of, in the order in which a person wants to hear it: what stops the cluster as a whole,
 * what takes a host, what a program needs, the program, and last what only shows that something is wrong elsewhere.
 */
const order: readonly string[] = [
  'ETCD_QUORUM_LOST',
  'API_DOWN',
  'HOST_AWAY',
  'HOST_CUT_OFF',
  'DISK_FULL',
  'CLOCK_OFF',
  'CERTIFICATE_EXPIRED',
  'ETCD_DATA_LOST',
  'ETCD_DATA_DAMAGED',
  'ETCD_ALARM_CORRUPT',
  'ETCD_ALARM_SPACE',
  'OVERLAY_SUBNET',
  'SERVICE_DRIFT',
  'HEAL_NEEDS_OPERATOR',
  'HEALTH_NOT_RUNNING',
  'HEALTH_NO_ANSWER',
  'HEALTH_UNWELL',
  'DISK_SLOW',
  'OVERLAY_INTERFACE',
  'OVERLAY_ROUTES',
  'RUNTIME_NOT_READY',
  'RUNTIME_NO_NETWORK',
  'SERVICE_RULES',
  'SANDBOX_NOT_JOINED',
  'ETCD_NO_QUORUM',
  'HEAL_GAVE_UP',
  'HEAL_BUDGET_SPENT',
  'AGENT_SILENT',
  'API_NOT_READY',
  'API_NOT_REACHED',
  'NODE_LEASE_OLD',
  'NODE_NOT_READY',
  'NEIGHBOURS_SILENT',
  'CERTIFICATE_DUE',
  'AGENT_NO_HEALTH',
  'HEAL_PAUSED',
]

/** What nobody has to do anything about today. */
const harmless = new Set(['CERTIFICATE_DUE', 'AGENT_NO_HEALTH', 'HEAL_PAUSED'])

/** Those that only say of what is wrong anyway how far healing has come. */
export const aboutHealing: ReadonlySet<string> = new Set([
  'HEAL_GAVE_UP',
  'HEAL_BUDGET_SPENT',
  'HEAL_NEEDS_OPERATOR',
])

/** An agent does nothing about these, and must not. */
const forPeople = new Set([
  'ETCD_DATA_LOST',
  'ETCD_DATA_DAMAGED',
  'ETCD_ALARM_CORRUPT',
  'ETCD_ALARM_SPACE',
  'HEAL_NEEDS_OPERATOR',
  'HEAL_GAVE_UP',
  'CERTIFICATE_EXPIRED',
  'DISK_FULL',
  'CLOCK_OFF',
  'HOST_AWAY',
])

/** What is wrong with the way to a host stands where its being away does. */
export function rankOf(code: string): number {
  const at = order.indexOf(code.startsWith('SSH_') ? 'HOST_AWAY' : code)
  return at === -1 ? order.length : at
}

export function isHarmless(code: string): boolean {
  return harmless.has(code)
}

export function isForPeople(code: string): boolean {
  return forPeople.has(code) || code.startsWith('SSH_')
}
