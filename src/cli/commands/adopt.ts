import { dirname } from 'node:path'
import { Option } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { openAdoption } from '../../actions/adopt.ts'
import { type Arch, archSchema } from '../../catalog/artifacts.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { type AdoptionReport, isPrevented } from '../../lifecycle/adoption/adoption-report.ts'
import { assessAdoption } from '../../lifecycle/adoption/assess-adoption.ts'
import { buildAdoptedCluster } from '../../lifecycle/adoption/cluster-settings.ts'
import { nameHosts } from '../../lifecycle/adoption/host-settings.ts'
import type { AdoptedHost } from '../../lifecycle/adoption/observation.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { dnsLabel } from '../../spec/scalars.ts'
import { buildLockPath, formatFileFlag } from '../../workspace/cluster-paths.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import { readCheckedCluster } from '../../workspace/load-cluster.ts'
import { listTargets, resolveClusterLock, writeLock } from '../../workspace/resolve-cluster-lock.ts'
import {
  adoptHostSchema,
  buildKubeadmTarget,
  parseAdoptHostFlag,
  readRke1Target,
} from '../adopt/adoption-target.ts'
import { commitAdoptionCommand } from '../adopt/commit-command.ts'
import { formatAdoptionReport, nextStep } from '../adopt/report-text.ts'
import { rollbackAdoptionCommand } from '../adopt/rollback-command.ts'
import {
  type CommandContext,
  type CommandGroup,
  type ExitCode,
  exitCodes,
  type Invocation,
  type LeafCommand,
} from '../command/command.ts'
import { confirmChanges, exitCodeByConfirmation } from '../command/confirm.ts'
import { formatFinding, printResult } from '../command/print.ts'
import { addFileHeader } from '../init/file-header.ts'
import { checkIdentityFiles, createIdentityFiles, type IdentityStatus } from '../init/identity-files.ts'
import { createActionRun } from '../run/run-action.ts'

const flags = z.looseObject({
  fromKubeadm: z.boolean().default(false),
  fromRke: z.string().optional(),
  state: z.string().optional(),
  host: z.array(adoptHostSchema).default([]),
  sshKey: z.string().optional(),
  name: dnsLabel.optional(),
  dryRun: z.boolean().default(false),
  lock: z.boolean().default(true),
})
type Flags = z.infer<typeof flags>
type Options = Invocation['options']

const readCommand: LeafCommand = {
  examples: [
    [
      'hyperkube adopt --from-kubeadm --host root@10.0.0.1 --host root@10.0.0.2 --dry-run',
      'read a kubeadm cluster and report whether it can be adopted',
    ],
    [
      'hyperkube adopt --from-kubeadm --host root@10.0.0.1 --host root@10.0.0.2',
      'prompt, then write cluster.yml, cluster.lock and the identity with its keys',
    ],
    [
      'hyperkube adopt --from-rke rke/cluster.yml --dry-run',
      'read an RKE1 cluster and report whether it can be adopted; its hosts are in the file',
    ],
    [
      'hyperkube adopt --from-rke rke/cluster.yml --state rke/cluster.rkestate',
      'prompt, then write the files, with the keys from the state file of RKE1',
    ],
    ['hyperkube up', 'afterwards: move the hosts to hyperkube, one by one'],
    [
      'hyperkube adopt rollback',
      'return hosts to kubeadm or RKE1; hyperkube adopt rollback --help explains it',
    ],
    [
      'hyperkube adopt commit',
      'or stay with hyperkube: hosts cannot return from then on; hyperkube adopt commit --help explains it',
    ],
  ],
  sharedFlags: ['new-file', 'key', 'output', 'confirm'],
  configure(command) {
    command
      .addOption(new Option('--from-kubeadm', 'read a cluster of kubeadm; needs --host').conflicts('fromRke'))
      .addOption(
        new Option('--from-rke <file>', 'read the RKE1 cluster of this cluster.yml').conflicts('host'),
      )
      .option(
        '--state <file>',
        'take the keys from this cluster.rkestate of RKE1 (default: from a control plane)',
      )
      .option(
        '--host <[user@]address[:port]>',
        'a host of the kubeadm cluster (repeatable); name all of them',
        parseAdoptHostFlag,
      )
      .option('--ssh-key <file>', 'private key for ssh (default: keys of the ssh agent)')
      .option('--name <name>', 'name of the cluster (default: the name that the other tool uses)')
      .option('--dry-run', 'only report; write nothing and read no keys of CAs or service accounts')
      .option('--no-lock', 'write no cluster.lock; hyperkube lock writes it later')
      .option('--accept-new-host-keys', 'accept the SSH host keys of unknown hosts without a prompt')
  },
  async run(context, { options }) {
    const parsed = flags.safeParse(options)
    const problem = parsed.success ? findUsageProblem(parsed.data) : '--name must be a DNS label'
    if (!parsed.success || problem !== undefined) {
      context.stderr.write(`USAGE: ${problem}\n  → hyperkube adopt --help\n`)
      return exitCodes.usage
    }
    return adopt(context, options, parsed.data)
  },
}

export const adoptCommand: CommandGroup = {
  own: readCommand,
  subcommands: [
    {
      name: 'rollback',
      summary: 'Return hosts of an adopted cluster to the previous tool',
      definition: rollbackAdoptionCommand,
    },
    {
      name: 'commit',
      summary: 'Make the adoption of a cluster final',
      definition: commitAdoptionCommand,
    },
  ],
}

function findUsageProblem({ fromKubeadm, fromRke, host, state }: Flags): string | undefined {
  if (state !== undefined && fromRke === undefined) return '--state needs --from-rke FILE'
  if (!fromKubeadm && fromRke === undefined) return 'adopt needs --from-kubeadm or --from-rke FILE'
  return fromKubeadm && host.length === 0
    ? '--from-kubeadm needs --host for each host of the cluster'
    : undefined
}

async function adopt(context: CommandContext, options: Options, adoptFlags: Flags): Promise<ExitCode> {
  const { sshKey, dryRun } = adoptFlags
  if (!dryRun) await checkNewFile(context, options.file)
  const rke1 =
    adoptFlags.fromRke === undefined
      ? undefined
      : await readRke1Target(context, adoptFlags.fromRke, adoptFlags)
  if (adoptFlags.fromRke !== undefined && rke1 === undefined) return exitCodes.failure
  const target = rke1?.target ?? buildKubeadmTarget(adoptFlags.host, sshKey)
  const acceptCommand = `hyperkube ${context.typedCommand ?? 'adopt'} --accept-new-host-keys`
  const reporter = { emit: () => undefined, print: (text: string) => void context.stderr.write(text) }
  const run = createActionRun(context, options, true, reporter)
  if (options.quiet !== true) context.stderr.write(`reading ${target.hosts.length} hosts\n`)
  await using opened = await openAdoption(context, target, { file: options.file, acceptCommand }, run)

  const { observation } = opened
  const name = adoptFlags.name ?? toClusterName(observation.name)
  const given = {
    name,
    ...(target.ssh === undefined ? {} : { ssh: target.ssh }),
    hostSsh: new Map(target.hosts.map(({ address, ssh }) => [address, ssh])),
    ...(rke1 === undefined ? {} : { spec: rke1.spec }),
  }
  const text = addFileHeader(stringify(buildAdoptedCluster(observation, given)))
  const catalog = await loadCatalog(context, options.file)
  const { cluster, findings } = await readCheckedCluster(context, { file: options.file, text }, catalog)
  const report = assessAdoption(observation, {
    name,
    minors: catalog.minors.map(({ minor }) => minor),
    etcdVersions: new Map(catalog.minors.map(({ minor, components }) => [minor, components.etcd])),
    findings,
  })
  const prevented = isPrevented(report) || cluster === undefined
  showReport(context, options, report, prevented || dryRun)
  if (prevented || dryRun) return prevented ? exitCodes.failure : exitCodes.ok

  for (const finding of findings) context.stderr.write(formatFinding(finding))
  const state = await checkIdentity(context, options, name)
  context.stderr.write(
    toPrintable(`to write: ${[options.file, state.paths.identity, state.paths.key].join(', ')}\n`),
  )
  const confirmation = await confirmChanges(context, options, true)
  if (confirmation !== 'confirmed') return exitCodeByConfirmation[confirmation]
  const names = nameHosts(observation)
  const hostNames = new Map(observation.hosts.map(({ address }, index) => [address, names[index] ?? address]))
  const files = [
    ...(await createIdentityFiles(context, options, state, async () => opened.importKeys(name, hostNames))),
    await createClusterFile(context, options.file, text),
    ...(adoptFlags.lock ? [await createLock(context, options, cluster, listArches(observation.hosts))] : []),
  ]
  if (isDocument(options)) printReport(context, options, report, files)
  context.stderr.write(toPrintable(`wrote ${files.join(', ')}\n`))
  return exitCodes.ok
}

const isDocument = ({ output }: Options): boolean => output === 'json' || output === 'yaml'

/**
 * Shows the report before the prompt. A document goes to stdout once, at the end of the command; until then
 * people read the text.
 */
function showReport(
  context: CommandContext,
  options: Options,
  report: AdoptionReport,
  isLast: boolean,
): void {
  if (isLast || !isDocument(options)) printReport(context, options, report, [])
  else context.stderr.write(formatAdoptionReport(report, context.paintProgress))
}

function printReport(
  { stdout, paint }: CommandContext,
  { output }: Options,
  report: AdoptionReport,
  files: readonly string[],
): void {
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AdoptionReport',
    ...report,
    next: nextStep,
    files,
  }
  printResult(stdout, output, document, () => formatAdoptionReport(report, paint))
}

async function checkNewFile({ exists }: CommandContext, file: string): Promise<void> {
  if (await exists(file)) {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `${file} already exists`, {
      hint: 'hyperkube never overwrites it; use another file with -f FILE, or only read the cluster with --dry-run',
    })
  }
  if (!(await exists(dirname(file)))) {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `the directory of ${file} does not exist`, {
      hint: `mkdir -p ${dirname(file)}`,
    })
  }
}

/** Checks the identity files. An existing identity would belong to another cluster. */
async function checkIdentity(
  context: CommandContext,
  options: Options,
  name: string,
): Promise<IdentityStatus> {
  const state = await checkIdentityFiles(context, options, name)
  if (!state.complete) return state
  throw new HyperkubeError('ADOPT_IDENTITY_EXISTS', `${state.paths.identity} already exists`, {
    hint: `use another directory with -f FILE; after an interrupted adopt, remove it: rm ${state.paths.identity}`,
  })
}

/** Makes a DNS label of the name that the other tool uses. */
function toClusterName(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return label === '' ? 'cluster' : label
}

async function createClusterFile(
  { createFile }: CommandContext,
  file: string,
  text: string,
): Promise<string> {
  await createFile(file, text, 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `cannot write ${file}`, {
      hint: 'the identity and its key were written; remove the identity before you run the same command again',
      cause,
    })
  })
  return file
}

async function createLock(
  context: CommandContext,
  options: Options,
  cluster: Cluster,
  arches: readonly Arch[],
): Promise<string> {
  const path = buildLockPath(options.file)
  const report = (line: string): void => {
    if (options.quiet !== true) context.stderr.write(`${line}\n`)
  }
  try {
    const targets = listTargets(cluster, arches)
    const lockOptions = { files: options, cluster, targets, previous: undefined, acceptChangedDigests: false }
    const lock = await resolveClusterLock(context, lockOptions, report)
    await writeLock(context, path, lock, report)
  } catch (cause) {
    context.signal.throwIfAborted()
    throw new HyperkubeError(
      'ADOPT_LOCK_NOT_WRITTEN',
      `${options.file} and the identity are complete, but ${path} is not`,
      {
        hint: `check spec.artifacts and spec.registries, then run: hyperkube lock${formatFileFlag(options.file)}`,
        cause,
      },
    )
  }
  return path
}

const archNames: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' }

function listArches(hosts: readonly AdoptedHost[]): readonly Arch[] {
  return [...new Set(hosts.flatMap(({ arch }) => archSchema.safeParse(archNames[arch]).data ?? []))]
}
