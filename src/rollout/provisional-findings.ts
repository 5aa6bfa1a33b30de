import type { PlannedFile } from '../contract/component-plan.ts'
import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { computeDigest } from '../diff/resource.ts'
import { formatNames } from '../kit/text.ts'
import { diffRollback } from './rollback.ts'

/** A host that gets a provisional change. */
export interface ProvisionalHost {
  readonly plan: NodePlan
  /** Plan that the host returns to at a rollback. Undefined if no plan was ever applied completely. */
  readonly previous: NodePlan | undefined
  /** Ops that apply the provisional change. */
  readonly ops: readonly Op[]
}

export interface ProvisionalInput {
  readonly hosts: readonly ProvisionalHost[]
  /** Names of hosts to remove. */
  readonly removed: readonly string[]
  /** Short descriptions of changes to cluster objects. */
  readonly clusterChanges: readonly string[]
  /** Certificates and public keys of the identity, as PEM. */
  readonly keys: readonly string[]
}

/** Reports changes that agents could not roll back without an operator. */
export function provisionalFindings({ hosts, removed, clusterChanges, keys }: ProvisionalInput): Finding[] {
  const newHosts = hosts.filter(({ previous }) => previous === undefined)
  const known = hosts.flatMap(({ previous, ...host }): KnownHost[] =>
    previous === undefined ? [] : [{ ...host, previous }],
  )
  const namesWhere = (is: (host: KnownHost) => boolean): string[] =>
    known.filter(is).map(({ plan }) => plan.host)
  return [
    ...(known.length === 0 && newHosts.length > 0
      ? refuseFirst()
      : refuseHostChanges(listNames(newHosts), removed)),
    ...refuseComponents(namesWhere(changesComponents)),
    ...refusePrograms(namesWhere(changesPrograms)),
    ...refuseSecrets(namesWhere((host) => changesSecrets(host, keys))),
    ...refuseClusterChanges(clusterChanges),
  ]
}

type KnownHost = ProvisionalHost & { readonly previous: NodePlan }

/**
 * True if roles, components or their certificate files change. Such a change cannot be provisional: keys are
 * deleted with their component, and a rollback could not restore them.
 */
function changesComponents({ plan, previous }: KnownHost): boolean {
  const parts = ({ roles, components }: NodePlan): string =>
    computeDigest([
      roles,
      components.map(({ name, stage, certificates }) => [name, stage, listCertificateFiles(certificates)]),
    ])
  return parts(plan) !== parts(previous)
}

function listCertificateFiles(certificates: readonly { readonly certificateFile: string }[]): string[] {
  return certificates.map(({ certificateFile }) => certificateFile)
}

/**
 * True if programs or images change. Rollback ops are checked too, because a rollback must not depend on
 * downloading deleted files again.
 */
function changesPrograms({ plan, previous, ops }: KnownHost): boolean {
  return [...ops, ...diffRollback(previous, plan)].some(
    ({ target }) => target === 'artifact' || target === 'image',
  )
}

function changesSecrets({ plan, previous }: KnownHost, keys: readonly string[]): boolean {
  const digestSecrets = (nodePlan: NodePlan): ReadonlyMap<string, string> =>
    new Map(
      listFiles(nodePlan)
        .filter(({ content }) => holdsIdentity(content, keys))
        .map(({ path, content }) => [path, computeDigest(content)]),
    )
  const [now, before] = [digestSecrets(plan), digestSecrets(previous)]
  return now.size !== before.size || [...now].some(([path, digest]) => before.get(path) !== digest)
}

function listFiles({ components }: NodePlan): PlannedFile[] {
  return components.flatMap(({ files }) => files)
}

function holdsIdentity(content: PlannedFile['content'], keys: readonly string[]): boolean {
  return content.kind === 'secret' || keys.some((key) => content.text.includes(key.trim()))
}

function listNames(hosts: readonly ProvisionalHost[]): string[] {
  return hosts.map(({ plan }) => plan.host)
}

const withoutProvisional =
  'run hyperkube up without --provisional first; then apply the rest with --provisional'

function refuse(code: string, message: string, hint = withoutProvisional): Finding {
  return { code, severity: 'error', message, hint }
}

function refuseFirst(): Finding[] {
  const message = 'there is no cluster yet, so there is nothing to roll back to'
  return [refuse('PROVISIONAL_NO_PREVIOUS_PLAN', message, 'run hyperkube up without --provisional first')]
}

function refuseHostChanges(joining: readonly string[], removed: readonly string[]): Finding[] {
  const parts = [
    ...(joining.length === 0 ? [] : [`${formatNames(joining)} would join`]),
    ...(removed.length === 0 ? [] : [`${formatNames(removed)} would leave`]),
  ]
  if (parts.length === 0) return []
  return [refuse('PROVISIONAL_HOSTS', `a provisional change cannot add or remove hosts: ${parts.join(', ')}`)]
}

function refuseComponents(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `a component would be added or removed on ${formatNames(hosts)}, with its keys`
  const hint =
    'run hyperkube up without --provisional; to undo it, restore cluster.yml and run hyperkube up again'
  return [refuse('PROVISIONAL_COMPONENTS', message, hint)]
}

function refusePrograms(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `binaries or images would change on ${formatNames(hosts)}: a provisional change cannot change versions`
  const hint = `hyperkube upgrade rolls back a host that fails; for anything else ${withoutProvisional}`
  return [refuse('PROVISIONAL_PROGRAMS', message, hint)]
}

function refuseSecrets(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `keys or secrets would change on ${formatNames(hosts)}, and agents cannot restore the previous ones`
  return [refuse('PROVISIONAL_SECRETS', message)]
}

function refuseClusterChanges(changes: readonly string[]): Finding[] {
  if (changes.length === 0) return []
  return [
    refuse('PROVISIONAL_CLUSTER_OBJECTS', `hosts cannot roll back cluster objects: ${formatNames(changes)}`),
  ]
}
