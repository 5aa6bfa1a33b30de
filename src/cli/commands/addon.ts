import { Argument } from 'commander'
import { isEmptyDifference } from '../../addons/addon-difference.ts'
import { hasErrors } from '../../contract/finding.ts'
import type { AddonStatus } from '../../lifecycle/addons/addon-status.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { formatFileFlag } from '../../workspace/cluster-paths.ts'
import { loadClusterInputs } from '../../workspace/load-inputs.ts'
import { listAddonSwitches, requireKnownAddon, setAddonEnabled } from '../addon/addon-switch.ts'
import { loadDesiredAddons } from '../addon/desired-addons.ts'
import { formatManifests, listShownManifests } from '../addon/manifests.ts'
import { observeClusterAddons } from '../addon/observe-addons.ts'
import {
  type CommandContext,
  type CommandGroup,
  type ExitCode,
  exitCodes,
  type Invocation,
  type LeafCommand,
  type Paint,
} from '../command/command.ts'
import { buildClusterCommand } from '../command/cluster-command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { addRunFlags } from '../command/run-flags.ts'
import { formatTable, type TableCell, type TableColumn } from '../command/table.ts'
import { formatAddonChanges } from '../text/addons-text.ts'

const stateCells: Readonly<Record<AddonStatus['state'], TableCell>> = {
  ready: { text: 'ready', colour: 'green' },
  unready: { text: 'not ready', colour: 'red' },
  changes: { text: 'change pending', colour: 'yellow' },
  absent: { text: 'not installed', colour: 'yellow' },
  undesired: { text: 'removal pending', colour: 'yellow' },
  off: { text: 'off', colour: 'dim' },
}

const columns: readonly TableColumn<AddonStatus>[] = [
  { head: 'NAME', cell: ({ name }) => ({ text: name }) },
  { head: 'STATE', cell: ({ state }) => stateCells[state] },
  { head: 'VERSION', cell: ({ version }) => ({ text: version ?? '-' }) },
  { head: 'DESCRIPTION', cell: ({ about }) => ({ text: about }) },
]

/** Formats a table of addons, followed by the reasons why addons are not ready. */
function formatAddonList(states: readonly AddonStatus[], paint: Paint): string {
  const reasons = states.flatMap(({ name, reason }) => (reason === undefined ? [] : [`${name}: ${reason}\n`]))
  const table = formatTable(columns, states, paint)
  return reasons.length === 0 ? table : `${table}\n${reasons.join('')}`
}

type Options = Invocation['options']
type AddonAction = (
  context: CommandContext,
  options: Options,
  cluster: Cluster,
  names: readonly string[],
) => Promise<ExitCode>

function buildAddonCommand(action: AddonAction, definition: Omit<LeafCommand, 'run'>): LeafCommand {
  return buildClusterCommand(
    async ({ context, options, cluster, args }) => action(context, options, cluster, args),
    definition,
  )
}

export const addonCommand: CommandGroup = {
  subcommands: [
    {
      name: 'list',
      summary: 'List addons and their health',
      definition: buildAddonCommand(listAddons, {
        examples: [['hyperkube addon list', 'list addons, their versions and their health']],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) => addRunFlags(command, 'refused'),
      }),
    },
    {
      name: 'diff',
      summary: 'Show addon changes of the next up, field by field',
      definition: buildAddonCommand(diffAddons, {
        examples: [
          ['hyperkube addon diff', 'show changes of all addons; exit code 3 if changes are pending'],
          ['hyperkube addon diff coredns', 'show changes of one addon'],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) =>
          addRunFlags(command.addArgument(new Argument('[addon]', 'addon name (default: all)')), 'refused'),
      }),
    },
    {
      name: 'show',
      summary: 'Print addon manifests without Secret values',
      definition: buildAddonCommand(showAddons, {
        examples: [
          ['hyperkube addon show', 'print all addon manifests; requires cluster.lock'],
          [
            'hyperkube addon show traefik local-path',
            'print some manifests; only coredns connects to hosts, unless dns.forward is set',
          ],
        ],
        sharedFlags: ['file', 'key', 'output'],
        configure: (command) =>
          addRunFlags(
            command.addArgument(new Argument('[addon...]', 'addon names (default: all)')),
            'refused',
          ),
      }),
    },
    {
      name: 'enable',
      summary: 'Enable an addon in cluster.yml',
      definition: buildAddonCommand(
        async (context, { file }, cluster, [name = '']) =>
          switchAddon(context, file, cluster, { name, on: true }),
        {
          examples: [['hyperkube addon enable traefik', 'enable traefik; the next up installs the addon']],
          sharedFlags: ['file'],
          configure: (command) => command.addArgument(new Argument('<addon>', 'addon name')),
        },
      ),
    },
    {
      name: 'disable',
      summary: 'Disable an addon in cluster.yml',
      definition: buildAddonCommand(
        async (context, { file }, cluster, [name = '']) =>
          switchAddon(context, file, cluster, { name, on: false }),
        {
          examples: [['hyperkube addon disable traefik', 'disable traefik; the next up removes the addon']],
          sharedFlags: ['file'],
          configure: (command) => command.addArgument(new Argument('<addon>', 'addon name')),
        },
      ),
    },
  ],
}

async function listAddons(context: CommandContext, options: Options, cluster: Cluster): Promise<ExitCode> {
  const { code, observation } = await observeClusterAddons(
    context,
    options,
    await loadClusterInputs(context, options, cluster, { beforeCommit: true }),
  )
  if (observation === undefined) return code
  const disabledAddons = [...listAddonSwitches(cluster)]
    .filter(([name, isOn]) => !isOn && observation.states.every((state) => state.name !== name))
    .map(([name]): AddonStatus => ({ name, state: 'off', about: 'disabled in cluster.yml' }))
  const addons = [...observation.states, ...disabledAddons]
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'AddonList', addons }
  printResult(context.stdout, options.output, document, () => formatAddonList(addons, context.paint))
  return addons.some(({ state }) => state === 'unready') ? exitCodes.failure : exitCodes.ok
}

async function diffAddons(
  context: CommandContext,
  options: Options,
  cluster: Cluster,
  [name]: readonly string[],
): Promise<ExitCode> {
  const { code, observation } = await observeClusterAddons(
    context,
    options,
    await loadClusterInputs(context, options, cluster, { beforeCommit: true }),
  )
  if (observation === undefined) return code
  const differences = observation.proposal.differences.filter(
    (one) => (name === undefined || one.addon === name) && !isEmptyDifference(one),
  )
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'AddonDifferences', addons: differences }
  printResult(context.stdout, options.output, document, () =>
    differences.length === 0
      ? 'no changes\n'
      : formatAddonChanges({ differences }, { wide: true, diff: true }, context.paint).trimStart(),
  )
  return differences.length === 0 ? exitCodes.ok : exitCodes.changesPending
}

/** Prints the manifests. Text and YAML output are the same YAML documents, for both people and kubectl. */
async function showAddons(
  context: CommandContext,
  options: Options,
  cluster: Cluster,
  names: readonly string[],
): Promise<ExitCode> {
  for (const name of names) requireKnownAddon(cluster, name)
  const { code, addons, findings } = await loadDesiredAddons(context, options, cluster, names)
  if (code !== exitCodes.ok) return code
  context.stderr.write(formatFindings(findings))
  if (hasErrors(findings)) return exitCodes.failure
  for (const name of names) {
    if (listAddonSwitches(cluster).get(name) === false)
      context.stderr.write(`${name} is disabled in ${options.file}\n`)
  }
  const manifests = addons.flatMap(listShownManifests)
  const document = { apiVersion: 'v1', kind: 'List', items: manifests.map(({ manifest }) => manifest) }
  const format = options.output === 'yaml' ? 'table' : options.output
  printResult(context.stdout, format, document, () => formatManifests(manifests))
  return exitCodes.ok
}

/** Enables or disables an addon in cluster.yml only. `up` applies the change to the cluster. */
async function switchAddon(
  context: CommandContext,
  file: string,
  cluster: Cluster,
  { name, on }: { readonly name: string; readonly on: boolean },
): Promise<ExitCode> {
  const state = on ? 'enabled' : 'disabled'
  if (listAddonSwitches(cluster).get(name) === on) {
    context.stderr.write(`${name} is already ${state}\n`)
    return exitCodes.ok
  }
  await context.replaceFile(file, setAddonEnabled(await context.readFile(file), cluster, name, on), 0o644)
  const next = `preview: hyperkube plan${formatFileFlag(file)}; apply: hyperkube up${formatFileFlag(file)}`
  context.stderr.write(`${name} is ${state} in ${file}; ${next}\n`)
  return exitCodes.ok
}
