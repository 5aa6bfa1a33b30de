import { type Finding, hasErrors } from '../../contract/finding.ts'
import { type LocatedDocument, readDocument, type SourceText } from '../document.ts'
import { rke1AddonRules } from './addons.ts'
import { applyRules, type RuleRow } from './apply-rules.ts'
import { defaultAssignments } from './defaults.ts'
import { readRke1Facts, type Rke1Facts, textAt } from './facts.ts'
import { rke1NetworkRules } from './network.ts'
import { rke1NodeRules, rke1SshRules } from './nodes.ts'
import { rke1RegistryRules } from './registries.ts'
import { type Assignment, type KeyReport, parsePattern } from './rule.ts'
import { rke1ServiceRules } from './services.ts'
import { rke1AuthenticationRules, rke1CloudRules, rke1RolloutRules, rke1TopLevelRules } from './top-level.ts'

const sections = [
  rke1TopLevelRules,
  rke1NodeRules,
  rke1SshRules,
  rke1ServiceRules,
  rke1NetworkRules,
  rke1AuthenticationRules,
  rke1RegistryRules,
  rke1AddonRules,
  rke1CloudRules,
  rke1RolloutRules,
]

/** Rules for every key that RKE1 knows. */
export const rke1Rules: readonly RuleRow[] = sections.flatMap((section) =>
  Object.entries(section).map(([pattern, rule]) => ({ pattern: parsePattern(pattern), rule })),
)

export interface ReadRke1Result {
  /** Undefined if the file does not describe a cluster. */
  readonly cluster: PlainCluster | undefined
  /** One entry for each key of the file, in file order. */
  readonly report: readonly KeyReport[]
  readonly findings: readonly Finding[]
}

/** Converts a cluster.yml of RKE1 to one of hyperkube, and reports the result for every key. */
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
  if (hosts.length === 0) return [error('RKE1_NO_NODES', 'the file has no nodes', document)]
  if (textAt(root, ['network', 'plugin']) !== undefined) return []
  return [
    {
      code: 'RKE1_NETWORK_POLICY',
      severity: 'warning',
      message:
        'without network.plugin RKE1 runs canal; it is replaced by flannel and kube-router, which enforces NetworkPolicy but no policies of Calico',
      hint: 'for your own plugin set network.plugin to none',
      position: document.positionOfKey([], 'network'),
    },
  ]
}

function error(code: string, message: string, document: LocatedDocument): Finding {
  return { code, severity: 'error', message, position: document.positionOf([]) }
}

/** Content of a cluster.yml before validation: maps, lists and scalars. */
type PlainCluster = Readonly<Record<string, unknown>>

type Tree = Map<string | number, unknown>

/**
 * Builds one document from assignments. If two assignments have the same path, the document has the later
 * value at the position of the earlier value.
 */
function assemble(assignments: readonly Assignment[]): PlainCluster {
  const root: Tree = new Map()
  for (const { path, value } of assignments) {
    const last = path.at(-1)
    if (last !== undefined) path.slice(0, -1).reduce(branch, root).set(last, value)
  }
  return Object.fromEntries(entries(root))
}

function branch(tree: Tree, part: string | number): Tree {
  const found = tree.get(part)
  if (found instanceof Map) return found
  const created: Tree = new Map()
  tree.set(part, created)
  return created
}

function entries(tree: Tree): [string | number, unknown][] {
  return [...tree]
    .map(([key, value]): [string | number, unknown] => [key, plain(value)])
    .filter(([, value]) => value !== undefined)
}

/**
 * Converts a tree to plain maps and lists. Gaps between list items are closed, and empty maps and lists are
 * dropped.
 */
function plain(value: unknown): unknown {
  if (!(value instanceof Map)) return value
  const items = entries(value)
  if (items.length === 0) return undefined
  return items.every(([key]) => typeof key === 'number')
    ? items.toSorted(([a], [b]) => Number(a) - Number(b)).map(([, item]) => item)
    : Object.fromEntries(items)
}
