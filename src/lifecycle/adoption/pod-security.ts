import { formatNames, joinNames, quoteShellIfNeeded } from '../../kit/text.ts'
import { type PodSecurityLevel, podSecurityLevels } from '../../spec/security.ts'
import { isPluginEnabled } from './admission-plugins.ts'
import { type AdoptionItem, lost } from './adoption-report.ts'
import {
  type AdoptionObservation,
  findComponent,
  listAdoptedControlPlanes,
  type PodSecurityDefaults,
} from './observation.ts'

/** What Kubernetes does without a configuration of PodSecurity. */
export const unrestricted: PodSecurityDefaults = {
  enforce: 'privileged',
  version: 'latest',
  audit: 'privileged',
  warn: 'privileged',
  namespaces: [],
  usernames: [],
  runtimeClasses: [],
}

/** The namespace that API servers of hyperkube exempt. */
const exemptNamespace = 'kube-system'

interface PodSecurityPlan {
  /** Level of cluster.yml. */
  readonly level: PodSecurityLevel
  readonly items: readonly AdoptionItem[]
}

/**
 * Chooses the level of cluster.yml. It is that of the cluster only if no pod would be refused that was accepted
 * before. Otherwise it is `privileged`, and the items say what is lost.
 */
export function planPodSecurity(observation: AdoptionObservation): PodSecurityPlan {
  const all = new Map(
    listAdoptedControlPlanes(observation).map(({ components, admission }) => {
      const args = findComponent({ components }, 'kube-apiserver')?.args ?? {}
      const settings = isPluginEnabled('PodSecurity', args) ? admission?.podSecurity : undefined
      return [JSON.stringify(settings ?? unrestricted), settings ?? unrestricted]
    }),
  )
  const [settings = unrestricted] = all.values()
  if (all.size < 2) return planFor(settings)
  const levels = [...new Set([...all.values()].map(({ enforce }) => enforce))]
  const message = `Pod Security of namespaces without a label, which differs between control planes: ${joinNames(levels)}`
  const next = 'give all control planes the same file first, or set spec.security.podSecurity in cluster.yml'
  return { level: 'privileged', items: [lostPodSecurity(message, next)] }
}

function planFor(settings: PodSecurityDefaults): PodSecurityPlan {
  const { enforce, namespaces } = settings
  if (enforce === 'privileged') return { level: enforce, items: listLostWarnings(settings, enforce) }
  const others = listOtherExemptions(settings)
  if (others.length === 0) {
    const isExempt = namespaces.includes(exemptNamespace)
    const message = `Pod Security level ${enforce} of ${exemptNamespace}, which hyperkube exempts`
    const next = `if ${exemptNamespace} needs it: kubectl label namespace ${exemptNamespace} pod-security.kubernetes.io/warn=${enforce}`
    return {
      level: enforce,
      items: [...(isExempt ? [] : [lostPodSecurity(message, next)]), ...listLostWarnings(settings, enforce)],
    }
  }
  return {
    level: 'privileged',
    items: [
      lostPodSecurity(
        `Pod Security level ${enforce} of namespaces without a label, because cluster.yml cannot have ${joinNames(others)}`,
        suggestLabels(settings),
      ),
      ...listLostWarnings(settings, enforce),
    ],
  }
}

/** Lists exemptions that cluster.yml cannot have. Without them, pods would be refused. */
function listOtherExemptions({
  namespaces,
  usernames,
  runtimeClasses,
  version,
}: PodSecurityDefaults): string[] {
  const others = namespaces.filter((name) => name !== exemptNamespace)
  return [
    ...(others.length === 0 ? [] : [`the exempt namespaces ${formatNames(others, 20)}`]),
    ...(usernames.length === 0 ? [] : [`the exempt users ${formatNames(usernames, 20)}`]),
    ...(runtimeClasses.length === 0 ? [] : [`the exempt runtime classes ${formatNames(runtimeClasses, 20)}`]),
    ...(version === 'latest' ? [] : [`the rules of version ${version}`]),
  ]
}

function suggestLabels({ enforce, namespaces }: PodSecurityDefaults): string {
  const others = namespaces.filter((name) => name !== exemptNamespace).map(quoteShellIfNeeded)
  const step = `set spec.security.podSecurity: ${enforce} in cluster.yml before hyperkube up`
  return others.length === 0
    ? `check that all pods comply without them, then ${step}`
    : `kubectl label namespace ${others.join(' ')} pod-security.kubernetes.io/enforce=privileged; then ${step}`
}

/** Lists modes that warn or audit at a stricter level than `level`. hyperkube has one level for all modes. */
function listLostWarnings({ warn, audit }: PodSecurityDefaults, level: PodSecurityLevel): AdoptionItem[] {
  const rank = (one: PodSecurityLevel): number => podSecurityLevels.indexOf(one)
  const modes = Object.entries({ warn, audit }).filter(([, own]) => rank(own) > rank(level))
  if (modes.length === 0) return []
  const text = modes.map(([mode, own]) => `${mode}: ${own}`)
  return [
    lostPodSecurity(
      `other modes of Pod Security of namespaces without a label: ${text.join(', ')}`,
      'label namespaces that need them, such as pod-security.kubernetes.io/warn=restricted',
    ),
  ]
}

function lostPodSecurity(message: string, next: string): AdoptionItem {
  return lost('ADOPT_LOSES_POD_SECURITY', message, next)
}

/** Lists what the files for admission plugins configure and cluster.yml does not keep. */
export function listLostAdmission(observation: AdoptionObservation): AdoptionItem[] {
  const plugins = listAdoptedControlPlanes(observation).flatMap(({ components, admission }) => {
    const args = findComponent({ components }, 'kube-apiserver')?.args ?? {}
    return (admission?.plugins ?? []).filter((plugin) => isPluginEnabled(plugin, args))
  })
  const { items } = planPodSecurity(observation)
  if (plugins.length === 0) return [...items]
  return [
    ...items,
    lost(
      'ADOPT_LOSES_ADMISSION',
      `settings of admission plugins: ${joinNames([...new Set(plugins)])}`,
      'cluster.yml has no settings of admission plugins; check that the cluster works without them',
    ),
  ]
}
