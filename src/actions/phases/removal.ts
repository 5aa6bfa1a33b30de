import type { Finding } from '../../contract/finding.ts'
import type { Op } from '../../contract/op.ts'
import { joinNames } from '../../kit/text.ts'
import type { PlannedChanges } from '../../lifecycle/proposal/plan-approval.ts'
import { readRemovalOps } from '../../lifecycle/proposal/read-hosts.ts'
import type { ClusterConnection, ConnectClusterOptions } from './connect.ts'
import { buildUnreachableFindings } from './unreachable-findings.ts'

/** Options of actions that remove hyperkube from hosts. */
export interface RemovalOptions extends ConnectClusterOptions {
  /** Hosts to change; undefined for all hosts. */
  readonly limit: readonly string[] | undefined
  /** Codes of findings that do not stop the action. */
  readonly ignore: readonly string[]
  readonly forceUnlock: boolean
  /** Whether changes are only shown. */
  readonly dryRun: boolean
  /** Called with the planned changes in a dry run. */
  readonly onPlanned: (changes: PlannedChanges) => void
}

/** Reports those of the given hosts that are unreachable. */
export function checkUnreachable(
  { connected }: Pick<ClusterConnection, 'connected'>,
  hosts: readonly string[],
): readonly Finding[] {
  const requested = new Set(hosts)
  return buildUnreachableFindings(new Map([...connected.unreachable].filter(([host]) => requested.has(host))))
}

/** What an action that removes hyperkube reports if it reaches none of its hosts. */
interface NoHostReport {
  readonly code: 'RESET_NO_HOST' | 'ADOPT_NO_HOST'
  /** What the action does to hosts: `reset`, `return`. */
  readonly verb: string
  /** What did not happen, in the past tense. */
  readonly notDone: string
}

/** Returns an error if none of the hosts is reachable. Such an action cannot change anything. */
export function checkAnyReachable(
  { code, verb, notDone }: NoHostReport,
  hosts: readonly string[],
  reachable: readonly string[],
): Finding[] {
  if (reachable.length > 0) return []
  return [
    {
      code,
      severity: 'error',
      message: `no host to ${verb} is reachable: ${joinNames(hosts)}; nothing was ${notDone}`,
      hint: 'check the network between this machine and the hosts, then run the same command again',
    },
  ]
}

/** Reads what would be removed from the given hosts. */
export async function readOpsOfRemoval(
  { inputs, connected }: Pick<ClusterConnection, 'inputs' | 'connected'>,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, readonly Op[]>> {
  const sessions = new Map([...connected.sessions].filter(([host]) => hosts.includes(host)))
  return readRemovalOps(inputs.identity, sessions)
}
