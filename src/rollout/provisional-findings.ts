import type { PlannedFile } from '../contract/component-plan.ts'
import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { digestOf } from '../diff/digest.ts'
import { opsBack } from './provisional-rollback.ts'
import { list } from './format-names.ts'

/** A host on which something is to be tried. */
export interface TriedHost {
  readonly plan: NodePlan
  /** What it would go back to; none when it was never taken through a whole plan. */
  readonly former: NodePlan | undefined
  /** What is to be done on it. */
  readonly ops: readonly Op[]
}

export interface TrialInput {
  readonly hosts: readonly TriedHost[]
  /** Names of hosts that are to leave. */
  readonly leaving: readonly string[]
  /** What is to be changed in the cluster itself, in a few words each. */
  readonly inside: readonly string[]
  /** Certificates and public keys of the identity, as PEM. */
  readonly keys: readonly string[]
}

/** All that keeps a change from being tried: what agents could not take back with nobody near. */
export function trialFindings({ hosts, leaving, inside, keys }: TrialInput): Finding[] {
  const fresh = hosts.filter(({ former }) => former === undefined)
  const known = hosts.flatMap(({ former, ...host }) => (former === undefined ? [] : [{ ...host, former }]))
  const having = (is: (host: Known) => boolean): string[] => known.filter(is).map(({ plan }) => plan.host)
  return [
    ...(known.length === 0 && fresh.length > 0 ? first() : comingAndGoing(namesOf(fresh), leaving)),
    ...ofComponents(having(changesComponents)),
    ...ofPrograms(having(changesPrograms)),
    ...ofSecrets(having((host) => changesSecrets(host, keys))),
    ...ofCluster(inside),
  ]
}

type Known = TriedHost & { readonly former: NodePlan }

/** With a component its keys come and go, too. */
function changesComponents({ plan, former }: Known): boolean {
  const parts = ({ roles, components }: NodePlan): string =>
    digestOf([
      roles,
      components.map(({ name, stage, certificates }) => [name, stage, placesOf(certificates)]),
    ])
  return parts(plan) !== parts(former)
}

function placesOf(certificates: readonly { readonly certificateFile: string }[]): string[] {
  return certificates.map(({ certificateFile }) => certificateFile)
}

/** There and back: who goes back could not fetch what is gone. */
function changesPrograms({ plan, former, ops }: Known): boolean {
  return [...ops, ...opsBack(former, plan)].some(({ target }) => target === 'artifact' || target === 'image')
}

function changesSecrets({ plan, former }: Known, keys: readonly string[]): boolean {
  const contents = (of: NodePlan): ReadonlyMap<string, string> =>
    new Map(
      filesOf(of)
        .filter(({ content }) => isOfIdentity(content, keys))
        .map(({ path, content }) => [path, digestOf(content)]),
    )
  const [now, before] = [contents(plan), contents(former)]
  return now.size !== before.size || [...now].some(([path, digest]) => before.get(path) !== digest)
}

function filesOf({ components }: NodePlan): PlannedFile[] {
  return components.flatMap(({ files }) => files)
}

function isOfIdentity(content: PlannedFile['content'], keys: readonly string[]): boolean {
  return content.kind === 'secret' || keys.some((key) => content.text.includes(key.trim()))
}

function namesOf(hosts: readonly TriedHost[]): string[] {
  return hosts.map(({ plan }) => plan.host)
}

const firstWithout = 'without --trial first: hyperkube up; then try the rest'

function refusal(code: string, message: string, hint = firstWithout): Finding {
  return { code, severity: 'error', message, hint }
}

function first(): Finding[] {
  const message = 'there is no cluster yet, and so nothing to go back to'
  return [refusal('TRIAL_FIRST', message, 'without --trial first: hyperkube up')]
}

function comingAndGoing(coming: readonly string[], leaving: readonly string[]): Finding[] {
  const parts = [
    ...(coming.length === 0 ? [] : [`${list(coming)} would join`]),
    ...(leaving.length === 0 ? [] : [`${list(leaving)} would leave`]),
  ]
  if (parts.length === 0) return []
  return [refusal('TRIAL_HOSTS', `hosts do not come and go on trial: ${parts.join(', ')}`)]
}

function ofComponents(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `a component would come or go on ${list(hosts)}, and its keys with it`
  const hint = 'without --trial: hyperkube up; the way back is to change cluster.yml back'
  return [refusal('TRIAL_COMPONENTS', message, hint)]
}

function ofPrograms(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `programs or images would change on ${list(hosts)}: versions are not tried`
  const hint = `hyperkube upgrade goes back by itself where a host does not come up; anything else ${firstWithout}`
  return [refusal('TRIAL_PROGRAMS', message, hint)]
}

function ofSecrets(hosts: readonly string[]): Finding[] {
  if (hosts.length === 0) return []
  const message = `keys or secrets would change on ${list(hosts)}, and nobody would be near to bring the former ones`
  return [refusal('TRIAL_SECRETS', message)]
}

function ofCluster(changes: readonly string[]): Finding[] {
  if (changes.length === 0) return []
  return [
    refusal('TRIAL_INSIDE', `this is inside the cluster, where no host takes it back: ${list(changes)}`),
  ]
}
