import { type Finding, hasErrors } from '../../contract/finding.ts'
import { readDocument, type ReadDocument, type Source } from '../document.ts'
import { assemble, type PlainCluster } from './assemble.ts'
import { defaults } from './defaults.ts'
import { type Facts, factsOf, textAt } from './facts.ts'
import type { KeyReport } from './report.ts'
import { rows } from './table.ts'
import { walk } from './apply-rules.ts'

export interface ReadRke1 {
  /** Only when the file holds a cluster at all. */
  readonly cluster: PlainCluster | undefined
  /** Each key of the file once, in the file's order. */
  readonly report: readonly KeyReport[]
  readonly findings: readonly Finding[]
}

/** Translates the cluster.yml of RKE1 into ours, and says of every key what became of it. */
export function readRke1(source: Source): ReadRke1 {
  const reading = readDocument(source)
  if (!reading.ok) return { cluster: undefined, report: [], findings: reading.findings }
  const { document } = reading
  if (typeof document.value !== 'object' || document.value === null || Array.isArray(document.value)) {
    const message = 'a cluster.yml of RKE1 is a map of settings'
    return { cluster: undefined, report: [], findings: [error('RKE1_NOT_A_MAP', message, document)] }
  }
  const facts = factsOf(document.value)
  const { report, puts } = walk(document, facts, rows)
  const findings = check(document, facts)
  const cluster = hasErrors(findings) ? undefined : assemble([...defaults(facts), ...puts])
  return { cluster, report, findings }
}

function check(document: ReadDocument, { hosts, root }: Facts): Finding[] {
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

function error(code: string, message: string, document: ReadDocument): Finding {
  return { code, severity: 'error', message, position: document.positionOf([]) }
}
