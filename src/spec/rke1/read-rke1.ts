import { type Finding, hasErrors } from '../../contract/finding.ts'
import { readDocument, type LocatedDocument, type SourceText } from '../document.ts'
import { assemble, type PlainCluster } from './assemble.ts'
import { defaultAssignments } from './defaults.ts'
import { type Rke1Facts, readRke1Facts, textAt } from './facts.ts'
import type { KeyReport } from './report.ts'
import { rke1Rules } from './table.ts'
import { applyRules } from './apply-rules.ts'

export interface ReadRke1Result {
  /** Undefined if the file describes no cluster. */
  readonly cluster: PlainCluster | undefined
  /** Every key of the file once, in the order of the file. */
  readonly report: readonly KeyReport[]
  readonly findings: readonly Finding[]
}

/** Translates an RKE1 cluster.yml into ours and reports what became of every key. */
export function readRke1(source: SourceText): ReadRke1Result {
  const result = readDocument(source)
  if (!result.ok) return { cluster: undefined, report: [], findings: result.findings }
  const { document } = result
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const message = 'a cluster.yml of RKE1 is a map of settings'
    return { cluster: undefined, report: [], findings: [error('RKE1_NOT_A_MAP', message, document)] }
  }
  const facts = readRke1Facts(document.value)
  const { report, assignments } = applyRules(document, facts, rke1Rules)
  const findings = check(document, facts)
  const cluster = hasErrors(findings) ? undefined : assemble([...defaultAssignments(facts), ...assignments])
  return { cluster, report, findings }
}

function check(document: LocatedDocument, { hosts, root }: Rke1Facts): Finding[] {
  if (hosts.length === 0) return [error('RKE1_NO_NODES', 'there are no nodes in the file', document)]
  if (textAt(root, ['network', 'plugin']) !== undefined) return []
  return [
    {
      code: 'RKE1_NETWORK_POLICY',
      severity: 'warning',
      message: 'without network.plugin RKE1 runs canal; flannel is written, which enforces no NetworkPolicy',
      hint: 'set network.plugin to none to bring a plugin of your own',
      position: document.positionOfKey([], 'network'),
    },
  ]
}

function error(code: string, message: string, document: LocatedDocument): Finding {
  return { code, severity: 'error', message, position: document.positionOf([]) }
}
