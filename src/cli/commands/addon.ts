import { Argument } from 'commander'
import { isNone } from '../../addons/addon-difference.ts'
import { hasErrors } from '../../contract/finding.ts'
import type { AddonState } from '../../lifecycle/addons/addon-status.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { lookAtAddons } from '../addon/observe-addons.ts'
import { manifestsText, shownManifests } from '../addon/manifests.ts'
import { wishedToShow } from '../addon/desired-addons.ts'
import { refuseUnknown, switched, switches } from '../addon/addon-switch.ts'
import { addonListText } from '../addon/format-addon-list.ts'
import { fileFlag } from '../cluster-paths.ts'
import {
  type CommandDefinition,
  type Context,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { loadCluster } from '../load-cluster.ts'
import { loadWish } from '../load-inputs.ts'
import { addonsText } from '../plan/addons-text.ts'
import { findingsText, print } from '../print.ts'
import { addRunFlags } from '../run-flags.ts'

const actions = ['list', 'diff', 'show', 'enable', 'disable'] as const
type Options = Invocation['options']

export const addon: CommandDefinition = {
  examples: [
    ['hyperkube addon list', 'those of the cluster, and how each is'],
    ['hyperkube addon diff', 'what up would change about them, field by field'],
    ['hyperkube addon diff coredns', 'the same of one'],
    ['hyperkube addon show', 'the manifests that up applies, without values of Secrets; needs cluster.lock'],
    [
      'hyperkube addon show traefik local-path',
      'of some; only coredns goes to hosts, to see whom they ask for names, unless dns.forward says it',
    ],
    ['hyperkube addon disable traefik', 'write into cluster.yml that it shall not be there; up removes it'],
    ['hyperkube addon enable traefik', 'and back'],
  ],
  identity: true,
  configure(command) {
    command
      .addArgument(new Argument('<action>', 'what to do').choices(actions))
      .addArgument(new Argument('[name...]', 'which one, for show also several; without it all'))
    addRunFlags(command)
  },
  async run(context, { args, options }) {
    const [action, ...names] = args
    const [name] = names
    if (names.length > 1 && action !== 'show') {
      context.stderr.write(`USAGE: one addon at a time: hyperkube addon ${action} NAME\n`)
      return exitCodes.usage
    }
    const { cluster, findings } = await loadCluster(context, options.file)
    context.stderr.write(findingsText(findings))
    if (cluster === undefined) return exitCodes.failure
    if (action === 'list') return list(context, options, cluster)
    if (action === 'diff') return diff(context, options, cluster, name)
    if (action === 'show') return show(context, options, cluster, names)
    if (name === undefined) {
      context.stderr.write(`USAGE: which addon? hyperkube addon ${action} NAME\n`)
      return exitCodes.usage
    }
    return turn(context, options, cluster, { name, on: action === 'enable' })
  },
}

async function list(context: Context, options: Options, cluster: Cluster): Promise<ExitCode> {
  const { code, looked } = await lookAtAddons(context, options, await loadWish(context, options, cluster))
  if (looked === undefined) return code
  const off = [...switches(cluster)]
    .filter(([name, isOn]) => !isOn && looked.states.every((state) => state.name !== name))
    .map(([name]): AddonState => ({ name, state: 'off', about: 'switched off in cluster.yml' }))
  const addons = [...looked.states, ...off]
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'AddonList', addons }
  print(context.stdout, options.output, document, () => addonListText(addons, context.paint))
  return addons.some(({ state }) => state === 'unready') ? exitCodes.failure : exitCodes.ok
}

async function diff(
  context: Context,
  options: Options,
  cluster: Cluster,
  name: string | undefined,
): Promise<ExitCode> {
  const { code, looked } = await lookAtAddons(context, options, await loadWish(context, options, cluster))
  if (looked === undefined) return code
  const differences = looked.proposal.differences.filter(
    (one) => (name === undefined || one.addon === name) && !isNone(one),
  )
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'AddonDifferences', addons: differences }
  print(context.stdout, options.output, document, () =>
    differences.length === 0
      ? 'nothing to do\n'
      : addonsText({ differences }, { wide: true, diff: true }, context.paint).trimStart(),
  )
  return differences.length === 0 ? exitCodes.ok : exitCodes.changesPending
}

/** For people and for kubectl, which takes either. */
async function show(
  context: Context,
  options: Options,
  cluster: Cluster,
  names: readonly string[],
): Promise<ExitCode> {
  for (const name of names) refuseUnknown(cluster, name)
  const { code, addons, findings } = await wishedToShow(context, options, cluster, names)
  if (code !== exitCodes.ok) return code
  context.stderr.write(findingsText(findings))
  if (hasErrors(findings)) return exitCodes.failure
  for (const name of names) {
    if (switches(cluster).get(name) === false) context.stderr.write(`${name} is off in ${options.file}\n`)
  }
  const manifests = addons.flatMap(shownManifests)
  const document = { apiVersion: 'v1', kind: 'List', items: manifests.map(({ manifest }) => manifest) }
  const format = options.output === 'yaml' ? 'table' : options.output
  print(context.stdout, format, document, () => manifestsText(manifests))
  return exitCodes.ok
}

/** Writes a wish into cluster.yml. Nothing is done to the cluster until `up`. */
async function turn(
  context: Context,
  { file }: Options,
  cluster: Cluster,
  { name, on }: { readonly name: string; readonly on: boolean },
): Promise<ExitCode> {
  const state = on ? 'on' : 'off'
  if (switches(cluster).get(name) === on) {
    context.stderr.write(`${name} is ${state} already\n`)
    return exitCodes.ok
  }
  await context.replaceFile(file, switched(await context.readFile(file), cluster, name, on), 0o644)
  const next = `hyperkube plan${fileFlag(file)} shows what that changes, hyperkube up${fileFlag(file)} does it`
  context.stderr.write(`${name} is ${state} in ${file}; ${next}\n`)
  return exitCodes.ok
}
