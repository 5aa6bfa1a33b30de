import { listAddonImages, listHostIndependentAddons } from '../../addons/desired-addons.ts'
import { type Catalog, findKubernetesRelease, type KubernetesRelease } from '../../catalog/catalog.ts'
import { pinnedImages } from '../../catalog/lock.ts'
import type { Facts } from '../../contract/facts.ts'
import { createIgnoreFilter, type Finding, hasErrors } from '../../contract/finding.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { toPublicIdentity } from '../../identity/public-identity.ts'
import { checkPlannedFlags } from '../../plan/checks/planned-flags.ts'
import { planCluster, type PlanResult } from '../../plan/plan.ts'
import type { RolloutInput } from '../../rollout/input.ts'
import { planRollout, type RolloutPlan } from '../../rollout/rollout.ts'
import type { RolloutStep } from '../../rollout/step.ts'
import { type Cluster, readWorkersVersion } from '../../spec/cluster.ts'
import { type AddonProposal, isFeasible, noAddons } from '../addons/proposal.ts'
import type { ClusterObjectChange } from '../cluster-objects/changes.ts'
import { type ClusterInputs, collectSecrets } from '../inputs/cluster-inputs.ts'
import { listDesiredRoles } from '../inputs/host-endpoints.ts'
import type { HostToRemove } from './hosts-to-remove.ts'

/** All planned changes of a cluster: ops by host, rollout steps in order, cluster objects and addons. */
export interface Proposal {
  readonly findings: readonly Finding[]
  readonly plans: readonly NodePlan[]
  /** Ops by host name, including hosts to remove. */
  readonly ops: ReadonlyMap<string, readonly Op[]>
  /**
   * Current contents of the files and units that would change, by host name and file name. Read only on
   * request.
   */
  readonly fileContents?: ReadonlyMap<string, ReadonlyMap<string, string>>
  readonly steps: readonly RolloutStep[]
  /** Hosts that are still part of the cluster although cluster.yml no longer contains them. */
  readonly hostsToRemove: readonly HostToRemove[]
  /** Changes that are made through the Kubernetes API and not with ops on hosts. */
  readonly clusterChanges: readonly ClusterObjectChange[]
  readonly addons: AddonProposal
  /** True if all certificates of changed hosts get new keys. */
  readonly renew?: boolean
}

/** A proposal without changes. */
export const emptyProposal: Proposal = {
  findings: [],
  plans: [],
  ops: new Map(),
  steps: [],
  hostsToRemove: [],
  clusterChanges: [],
  addons: noAddons,
}

/** True if the proposal contains any change. Addon changes that the API would refuse do not count. */
export function hasChanges({ steps, clusterChanges, addons }: Proposal): boolean {
  return steps.length > 0 || clusterChanges.length > 0 || addons.differences.some(isFeasible)
}

export function planFromInputs(
  inputs: ClusterInputs,
  facts: ReadonlyMap<string, Facts>,
  ignored: readonly string[],
): PlanResult {
  const { cluster, catalog, lock, identity, attachments, sources, charts, version } = inputs
  const { kubernetes, heldUpgrade } = cluster.spec
  const release = findKubernetesRelease(catalog, kubernetes)
  const images = pinnedImages(lock, release)
  const input = {
    cluster,
    release,
    workersRelease: findWorkersRelease(catalog, cluster),
    heldRelease: heldUpgrade && findKubernetesRelease(catalog, heldUpgrade.to),
    lock,
    images: listAddonImages(cluster, images),
    addons: listHostIndependentAddons({ cluster, images, sources, charts }),
    identity: toPublicIdentity(identity, collectSecrets(inputs)),
    facts,
    attachments,
    version,
  }
  const { plans, findings } = planCluster(input, ignored)
  const flagFindings = checkPlannedFlags(plans, catalog.flags).filter(createIgnoreFilter(ignored))
  return { plans: hasErrors(flagFindings) ? [] : plans, findings: [...findings, ...flagFindings] }
}

/** Returns the release of workers; undefined if they have the version of the control planes. */
function findWorkersRelease(catalog: Catalog, cluster: Cluster): KubernetesRelease | undefined {
  const version = readWorkersVersion(cluster)
  return version === cluster.spec.kubernetes ? undefined : findKubernetesRelease(catalog, version)
}

/**
 * State of hosts from which a proposal is computed: observed on hosts, or assumed from previous plans.
 */
export interface HostsState extends Pick<
  RolloutInput,
  'ops' | 'live' | 'removedHosts' | 'unreachable' | 'currentKubelets'
> {}

/** Plans the order of the changes. */
export function planSteps(cluster: Cluster, plans: readonly NodePlan[], state: HostsState): RolloutPlan {
  return planRollout({
    ...state,
    plans,
    desiredRoles: listDesiredRoles(cluster),
    maxUnavailable: cluster.spec.rollout.maxUnavailable,
  })
}

interface ProposalParts extends Omit<Proposal, 'steps'> {
  readonly rollout: RolloutPlan
  /** Findings from the running cluster about version changes, removed APIs and pods that must move. */
  readonly upgradeFindings: readonly Finding[]
  /** Codes of findings that the operator chose to ignore. */
  readonly ignored: readonly string[]
}

/**
 * Combines the parts of a proposal. If there are errors, the proposal contains no steps. Errors of the
 * rollout cannot be ignored, because each of them would harm the cluster.
 */
export function composeProposal({
  findings,
  rollout,
  upgradeFindings,
  ignored,
  ...parts
}: ProposalParts): Proposal {
  const all = [
    ...findings,
    ...rollout.findings.filter(createIgnoreFilter(ignored, () => true)),
    ...[...upgradeFindings, ...parts.addons.findings].filter(createIgnoreFilter(ignored)),
  ]
  if (hasErrors(all)) return { ...parts, findings: all, steps: [], clusterChanges: [], addons: noAddons }
  return { ...parts, findings: all, steps: rollout.steps }
}
