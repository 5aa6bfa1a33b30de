/**
 * Functions on data: they read no files, connect to no host and change nothing. Use them in checks, tests and
 * programs that have the contents of the files already.
 */
import packageFile from '../../package.json' with { type: 'json' }
import { type Lock, readLock } from '../catalog/lock.ts'
import { shippedCatalog } from '../catalog/shipped-catalog.ts'
import type { Facts } from '../contract/facts.ts'
import { errorCodes } from '../error-codes/error-codes.ts'
import { createIdentity, type Identity } from '../identity/identity.ts'
import { unsealIdentity } from '../identity/seal.ts'
import { parseKeyFile } from '../identity/sealing-key.ts'
import { buildOfflineProposal } from '../lifecycle/proposal/offline-proposal.ts'
import {
  buildPlanDocument,
  indexPlansByHost,
  type PlanDocument,
} from '../lifecycle/proposal/plan-approval.ts'
import type { RolloutStep } from '../rollout/step.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { ReadClusterResult } from '../spec/read-cluster.ts'
import { readCheckedCluster } from '../workspace/load-cluster.ts'

export type { Lock } from '../catalog/lock.ts'
export { HyperkubeError } from '../kit/errors.ts'
export { describeGate, describeStep } from '../rollout/describe.ts'
export type { RolloutInput } from '../rollout/input.ts'
export { planRollout, type RolloutPlan } from '../rollout/rollout.ts'
export type { Gate, RolloutStep } from '../rollout/step.ts'
export type { Cluster } from '../spec/cluster.ts'
export type { ReadClusterResult } from '../spec/read-cluster.ts'

/** Version of this package. */
export const version: string = packageFile.version

/**
 * Reads and checks the text of a cluster.yml, as `hyperkube validate` does with the catalog of this release.
 * Returns all findings at once, each with its line and column. `file` is the name in these positions.
 * `readFile` reads the fleet.yml of a cluster that names one in `metadata.fleet`.
 */
export async function readClusterText(
  text: string,
  file = 'cluster.yml',
  readFile: (path: string) => Promise<string> = refuseToRead,
): Promise<ReadClusterResult> {
  return readCheckedCluster({ readFile }, { file, text }, shippedCatalog)
}

async function refuseToRead(path: string): Promise<never> {
  throw new Error(`${path}: readClusterText has no function that reads files`)
}

/** Reads the text of a cluster.lock. Throws `LOCK_NOT_READ` if it is not a lock. */
export function readLockText(text: string, file = 'cluster.lock'): Lock {
  return readLock(file, text)
}

/** Input of `planChanges`. */
export interface PlanChangesInput {
  readonly cluster: Cluster
  readonly lock: Lock
  /** Facts of the hosts, from `hyperkube facts --host HOST -o json`. */
  readonly facts: readonly Facts[]
  /** The plan that is assumed to be applied. Without it, all hosts are assumed to be empty. */
  readonly previous?: PlanDocument
  /**
   * Text of cluster.identity and of its key file. Without it, `planChanges` plans with new keys. That is good
   * for checks where the key must not be available, but such a plan cannot be applied.
   */
  readonly identity?: { readonly text: string; readonly key: string }
  /** Contents of the files that cluster.yml refers to, by their path in cluster.yml. */
  readonly files?: Readonly<Record<string, string>>
  /** Codes of findings that do not stop the planning. */
  readonly ignore?: readonly string[]
}

/** Result of `planChanges`. */
export interface PlannedChangesResult {
  /** The plan as `hyperkube plan -o json` prints it. If a finding is an error, it has no steps. */
  readonly plan: PlanDocument
  /** Steps of the rollout in order. */
  readonly steps: readonly RolloutStep[]
}

/**
 * Plans the changes of a cluster from recorded facts, as `hyperkube plan --facts` does. Addons with Helm
 * charts are findings, because a program renders charts: plan them with `hyperkube/client`.
 */
export async function planChanges(input: PlanChangesInput): Promise<PlannedChangesResult> {
  const { cluster, lock, facts, previous, files = {}, ignore = [] } = input
  const contents = new Map(Object.entries(files))
  const inputs = {
    cluster,
    catalog: shippedCatalog,
    lock,
    identity: await openIdentityText(input),
    attachments: contents,
    sources: contents,
    charts: new Map(),
    version: () => packageFile.version,
  }
  const proposal = buildOfflineProposal(
    inputs,
    new Map(facts.map((one) => [one.host, one])),
    previous === undefined ? new Map() : indexPlansByHost(previous),
    { ignored: ignore, limited: false },
  )
  return { plan: buildPlanDocument(proposal), steps: proposal.steps }
}

async function openIdentityText({ cluster, identity }: PlanChangesInput): Promise<Identity> {
  if (identity === undefined) return createIdentity(cluster.metadata.name, new Date())
  return unsealIdentity(identity.text, parseKeyFile(identity.key))
}

/** Explanation of an error code. Commands in the texts are in backquotes. */
export interface CodeExplanation {
  /** What happened, in one sentence. */
  readonly summary: string
  /** Why it matters or what causes it, if the summary does not say so. */
  readonly meaning?: string
  /** What to do next. */
  readonly remedy: string
}

/** Explains an error code or the code of a finding. Returns undefined for an unknown code. */
export function explainCode(code: string): CodeExplanation | undefined {
  return Object.hasOwn(errorCodes, code) ? errorCodes[code] : undefined
}
