/** What the agent of a host has done and will do about a problem. */
export interface HealingStatus {
  /** The last action and its time. */
  readonly lastAction?: string
  /** The next action, or why the agent will do nothing. */
  readonly nextAction: string
}

/** One problem. Its code is explained in the table of error codes. */
export interface Diagnosis {
  readonly code: string
  readonly severity: 'error' | 'warning'
  /** One sentence without a full stop. */
  readonly what: string
  /** The problem has existed at least since this time. Undefined if no such time is known. */
  readonly since?: string
  readonly host?: string
  readonly component?: string
  /** Observations that show the problem, one line each. */
  readonly evidence: readonly string[]
  /** Command that the operator should run. */
  readonly command: string
  readonly healing?: HealingStatus
  /** True if only an operator can fix the problem. */
  readonly needsOperator: boolean
  /** Key of the causing diagnosis, from `formatDiagnosisKey`. The problem ends when its cause is fixed. */
  readonly causedBy?: string
}

/** Formats code, host and component, which together identify a diagnosis. */
export function formatDiagnosisKey({
  code,
  host,
  component,
}: Pick<Diagnosis, 'code' | 'host' | 'component'>): string {
  const subject = [host, component].filter((part) => part !== undefined)
  return subject.length === 0 ? code : `${code} ${subject.join('/')}`
}

/**
 * All codes in the order of the report: outages of the cluster, outages of a host, missing dependencies of a
 * component, faults of a component, symptoms.
 */
const codeOrder: readonly string[] = [
  'ETCD_RESTORE_UNFINISHED',
  'ETCD_QUORUM_LOST',
  'API_DOWN',
  'NO_HOST_REACHABLE',
  'HOST_UNREACHABLE',
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
  'HEALTH_NO_RESPONSE',
  'HEALTH_CHECK_FAILED',
  'DISK_SLOW',
  'OVERLAY_INTERFACE',
  'OVERLAY_ROUTES',
  'RUNTIME_NOT_READY',
  'RUNTIME_NO_NETWORK',
  'SERVICE_RULES',
  'SANDBOX_NOT_JOINED',
  'ETCD_NO_QUORUM',
  'HEAL_EXHAUSTED',
  'HEAL_BUDGET_SPENT',
  'AGENT_UNREACHABLE',
  'API_NOT_READY',
  'API_UNREACHABLE',
  'NODE_LEASE_OLD',
  'NODE_NOT_READY',
  'NODE_DISK_PRESSURE',
  'NODE_MEMORY_PRESSURE',
  'NODE_PID_PRESSURE',
  'NODE_NETWORK_UNAVAILABLE',
  'PEERS_UNREACHABLE',
  'ADDON_NOT_READY',
  'INGRESS_ANNOTATIONS_UNSERVED',
  'CERTIFICATE_DUE',
  'AGENT_NO_HEALTH',
  'HEAL_PAUSED',
]

/** Codes of node conditions that must not be true, by type of the condition. */
export const nodeProblemCodes: Readonly<Record<string, string>> = {
  DiskPressure: 'NODE_DISK_PRESSURE',
  MemoryPressure: 'NODE_MEMORY_PRESSURE',
  PIDPressure: 'NODE_PID_PRESSURE',
  NetworkUnavailable: 'NODE_NETWORK_UNAVAILABLE',
}

/** Codes of problems that need no immediate action. */
const harmlessCodes = new Set(['CERTIFICATE_DUE', 'AGENT_NO_HEALTH', 'HEAL_PAUSED'])

/** Codes that only report the progress of healing another problem. */
export const healingProgressCodes: ReadonlySet<string> = new Set([
  'HEAL_EXHAUSTED',
  'HEAL_BUDGET_SPENT',
  'HEAL_NEEDS_OPERATOR',
])

/** Codes of problems that an agent must leave to an operator. */
const operatorCodes = new Set([
  'ETCD_DATA_LOST',
  'ETCD_DATA_DAMAGED',
  'ETCD_ALARM_CORRUPT',
  'ETCD_ALARM_SPACE',
  'HEAL_NEEDS_OPERATOR',
  'HEAL_EXHAUSTED',
  'CERTIFICATE_EXPIRED',
  'DISK_FULL',
  'CLOCK_OFF',
  'HOST_UNREACHABLE',
])

/**
 * Returns the position of a code in the report. Codes of failed ssh connections rank like an unreachable
 * host.
 */
export function rankCode(code: string): number {
  const index = codeOrder.indexOf(code.startsWith('SSH_') ? 'HOST_UNREACHABLE' : code)
  return index === -1 ? codeOrder.length : index
}

export function isHarmless(code: string): boolean {
  return harmlessCodes.has(code)
}

export function needsOperatorAction(code: string): boolean {
  return operatorCodes.has(code) || code.startsWith('SSH_')
}
