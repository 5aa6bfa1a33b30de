import { z } from 'zod'
import { type CatalogUpdate, prepareCatalogUpdate } from '../../actions/update-catalog.ts'
import type { CatalogSource } from '../../catalog/catalog.ts'
import type { KubernetesMinor } from '../../catalog/minor.ts'
import { toPrintable } from '../../kit/text.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import {
  type CommandContext,
  type CommandGroup,
  type ExitCode,
  exitCodes,
  type GlobalOptions,
  type LeafCommand,
} from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { formatChange, printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'

const flags = z.object({
  from: z.string().optional(),
  publicKey: z.string().optional(),
  acceptOlderCatalog: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

const listCommand: LeafCommand = {
  examples: [
    ['hyperkube catalog list', 'list the supported minors with a default patch of each'],
    ['hyperkube catalog list -o wide', 'include the versions of all components'],
  ],
  sharedFlags: ['file', 'output'],
  configure: () => undefined,
  async run(context, { options }) {
    const { source, minors } = await loadCatalog(context, options.file)
    const items = minors.map(({ minor, defaultPatch, components, images }) => ({
      minor,
      defaultPatch,
      components,
      images,
    }))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'CatalogList', source, items }
    const columns = buildColumns(source, options.output === 'wide')
    printResult(context.stdout, options.output, document, () => formatTable(columns, minors, context.paint))
    return exitCodes.ok
  },
}

const updateCommand: LeafCommand = {
  examples: [
    ['hyperkube catalog update --from new.catalog --dry-run', 'verify a catalog and show what would change'],
    [
      'hyperkube catalog update --from https://example.com/catalog --public-key KEY',
      'trust the key of a publisher from now on, and use its catalog',
    ],
    ['hyperkube catalog update', 'use the catalog of the mirror or bundle in spec.artifacts'],
  ],
  sharedFlags: ['file', 'output', 'confirm'],
  configure(command) {
    command
      .option('--from <file|url>', 'read the catalog from here (default: mirror or bundle in spec.artifacts)')
      .option('--public-key <key>', 'trust catalogs that this key has signed, and store the key')
      .option('--accept-older-catalog', 'accept a catalog with a lower serial; otherwise an error')
      .option('--dry-run', 'show what would change, without writing; exit code 3 if changes are pending')
  },
  async run(context, { options }) {
    const { dryRun, from, publicKey, acceptOlderCatalog } = flags.parse(options)
    const updateOptions = { files: options, from, publicKey, acceptOlderCatalog }
    const update = await prepareCatalogUpdate(context, updateOptions)
    printUpdate(context, options, update)
    if (!update.isChange) return exitCodes.ok
    return dryRun ? exitCodes.changesPending : confirmUpdate(context, options, update)
  },
}

async function confirmUpdate(
  context: CommandContext,
  options: GlobalOptions,
  update: CatalogUpdate,
): Promise<ExitCode> {
  const confirmation = await confirmChanges(context, options, true)
  if (confirmation !== 'confirmed') return exitCodeByConfirmation[confirmation]
  for (const path of await update.persist()) context.stderr.write(`wrote ${path}; commit it\n`)
  if (await context.exists(options.file)) context.stderr.write('next: hyperkube lock, then hyperkube plan\n')
  return exitCodes.ok
}

function printUpdate(context: CommandContext, options: GlobalOptions, update: CatalogUpdate): void {
  const { before, after, changes, newKey } = update
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'CatalogUpdate',
    before,
    after,
    ...(newKey === undefined ? {} : { newKey }),
    items: changes,
  }
  printResult(context.stdout, options.output, document, () => toPrintable(formatUpdate(update)))
}

function formatUpdate({ before, after, changes, newKey, isChange }: CatalogUpdate): string {
  if (!isChange) return `the cluster already has ${formatSource(after)}\n`
  return [
    `~ catalog: ${formatSource(before)} → ${formatSource(after)}\n`,
    ...(newKey === undefined ? [] : [`+ trusted key: ${newKey}\n`]),
    ...changes.map(formatChange),
  ].join('')
}

function formatSource(source: CatalogSource): string {
  const { serial, issued } = source
  const origin = source.from === 'file' ? `signed by ${source.publicKey}` : 'this hyperkube release'
  return `serial ${serial} (${issued}, ${origin})`
}

function buildColumns(source: CatalogSource, wide: boolean): readonly TableColumn<KubernetesMinor>[] {
  const column = (head: string, text: (minor: KubernetesMinor) => string): TableColumn<KubernetesMinor> => ({
    head,
    cell: (minor) => ({ text: text(minor) }),
  })
  return [
    column('MINOR', ({ minor }) => minor),
    column('DEFAULT', ({ defaultPatch }) => defaultPatch),
    column('ETCD', ({ components }) => components.etcd),
    column('CONTAINERD', ({ components }) => components.containerd),
    ...(wide
      ? [
          column('RUNC', ({ components }) => components.runc),
          column('CNI', ({ components }) => components.cniPlugins),
          column('FLANNEL', ({ components }) => components.flannel),
          column('CRICTL', ({ components }) => components.crictl),
          column('SHAWL', ({ components }) => components.shawl),
        ]
      : []),
    column('SOURCE', () => `${source.from} ${source.serial}`),
  ]
}

export const catalogCommand: CommandGroup = {
  subcommands: [
    {
      name: 'list',
      summary: 'List the supported Kubernetes minors and their components',
      definition: listCommand,
    },
    { name: 'update', summary: 'Use a newer signed catalog', definition: updateCommand },
  ],
}
