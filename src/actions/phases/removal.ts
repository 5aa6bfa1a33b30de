import type { Finding } from '../../contract/finding.ts'
import type { Op } from '../../contract/op.ts'
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

/** Reads what would be removed from the given hosts. */
export async function readOpsOfRemoval(
  { inputs, connected }: Pick<ClusterConnection, 'inputs' | 'connected'>,
  hosts: readonly string[],
): Promise<ReadonlyMap<string, readonly Op[]>> {
  const sessions = new Map([...connected.sessions].filter(([host]) => hosts.includes(host)))
  return readRemovalOps(inputs.identity, sessions)
}
