import { dirname } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { listDefaultVersions } from '../../catalog/catalog.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { dnsLabel } from '../../spec/scalars.ts'
import { loadCatalog } from '../../workspace/load-catalog.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import {
  type CommandContext,
  type LeafCommand,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command/command.ts'
import { formatFileAdvice, formatNextCommands } from '../init/advice.ts'
import { renderClusterDraft } from '../init/cluster-draft.ts'
import { renderExampleFile } from '../init/example-file.ts'
import { hostFlagSchema, parseHostFlag } from '../init/host-flag.ts'
import { checkIdentityFiles, createIdentityFiles, type IdentityStatus } from '../init/identity-files.ts'
import { promptClusterFile } from '../init/prompt-cluster-file.ts'
import { translateRke1 } from '../init/translate.ts'
import { formatFinding, printResult } from '../command/print.ts'
import { choosePrompts } from '../command/prompts.ts'

const flags = z.object({
  name: z.string().optional(),
  host: z.array(hostFlagSchema).optional(),
  fromRke: z.string().optional(),
  defaults: z.boolean().optional(),
})
type Flags = z.infer<typeof flags>
type Options = Invocation['options']

export const initCommand: LeafCommand = {
  examples: [
    ['hyperkube init', 'prompt for all settings; with an existing cluster.yml, create only the identity'],
    ['hyperkube init --host root@192.168.1.11=control-plane', 'create a cluster.yml with one host'],
    [
      'hyperkube init --name shop --host 10.0.0.1=control-plane --host 10.0.0.2=worker',
      'create a cluster.yml with two hosts and a name',
    ],
    [
      'hyperkube init --from-rke rke/cluster.yml',
      'convert an RKE1 cluster.yml and report each converted setting',
    ],
    ['hyperkube init --defaults', 'write an example cluster.yml with one host, for editing'],
  ],
  sharedFlags: ['new-file', 'key', 'output', 'confirm'],
  configure(command) {
    command
      .option('--name <name>', 'set the cluster name (default: "cluster")', parseNameFlag)
      .option('--host <[user@]address=role[,role]>', 'add a host with its roles (repeatable)', parseHostFlag)
      .addOption(new Option('--from-rke <file>', 'convert an RKE1 cluster.yml').conflicts(['name', 'host']))
      .addOption(
        new Option('--defaults', 'write an example cluster.yml with one host').conflicts(['host', 'fromRke']),
      )
  },
  async run(context, { options }) {
    const initFlags = flags.parse(options)
    if (!(await context.exists(options.file))) return createCluster(context, options, initFlags)
    if (Object.values(initFlags).every((value) => value === undefined))
      return createIdentityOnly(context, options)
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `${options.file} already exists`, {
      hint: 'hyperkube never overwrites it; use another file with -f FILE, or create only its identity: hyperkube init',
    })
  },
}

function parseNameFlag(text: string): string {
  const parsed = dnsLabel.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? '')
  return parsed.data
}

async function createCluster(context: CommandContext, options: Options, initFlags: Flags): Promise<ExitCode> {
  const { file } = options
  if (!(await context.exists(dirname(file)))) {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `the directory of ${file} does not exist`, {
      hint: `mkdir -p ${dirname(file)}`,
    })
  }
  const text = await createClusterText(context, options, initFlags)
  if (typeof text === 'number') return text
  const { cluster, findings } = readCluster({ file, text })
  for (const finding of findings) context.stderr.write(formatFinding(finding))
  if (cluster === undefined) return exitCodes.failure

  const state = await checkIdentityFiles(context, options, cluster.metadata.name)
  const created = await createIdentityFiles(context, options, state)
  await context.createFile(file, text, 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `cannot write ${file}`, {
      hint: `${state.paths.identity} and its key exist; run the same command again to continue`,
      cause,
    })
  })
  return printCreated(context, options, state, [...created, file])
}

/** Creates the text of cluster.yml. Returns an exit code if the text cannot be created. */
async function createClusterText(
  context: CommandContext,
  options: Options,
  initFlags: Flags,
): Promise<string | ExitCode> {
  const { name = 'cluster', host: hosts, fromRke, defaults } = initFlags
  if (fromRke !== undefined) return (await translateRke1(context, fromRke)) ?? exitCodes.failure
  const versions = listDefaultVersions(await loadCatalog(context, options.file))
  const [kubernetes = ''] = versions
  if (defaults === true) return renderExampleFile(name, kubernetes)
  if (hosts !== undefined) return renderClusterDraft({ name, kubernetes, hosts })
  const questions = choosePrompts(context, options)
  if (questions !== undefined) {
    return (
      (await promptClusterFile(context, options, questions, initFlags.name, versions)) ?? exitCodes.failure
    )
  }
  context.stderr.write('USAGE: without a terminal, flags must set the hosts of the cluster\n')
  context.stderr.write(
    '  → --host root@192.168.1.11=control-plane for each machine, --from-rke FILE, or --defaults\n',
  )
  return exitCodes.usage
}

/** Creates the identity for a cluster.yml that was written by hand or by an earlier init. */
async function createIdentityOnly(context: CommandContext, options: Options): Promise<ExitCode> {
  const { cluster, findings } = await loadCluster(context, options.file)
  for (const finding of findings) context.stderr.write(formatFinding(finding))
  if (cluster === undefined) return exitCodes.failure
  const state = await checkIdentityFiles(context, options, cluster.metadata.name)
  const created = await createIdentityFiles(context, options, state)
  if (created.length > 0) {
    context.stderr.write(
      toPrintable(
        `${state.paths.identity} is for a new cluster; a running cluster needs its own identity file\n`,
      ),
    )
  }
  return printCreated(context, options, state, created)
}

function printCreated(
  { stdout, stderr }: CommandContext,
  options: Options,
  { paths }: IdentityStatus,
  files: readonly string[],
): ExitCode {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'FileList', items: files }
  printResult(stdout, options.output, document, () => toPrintable(files.map((file) => `${file}\n`).join('')))
  stderr.write(
    files.length === 0
      ? toPrintable(`nothing to do: ${options.file} exists, and ${paths.key} decrypts ${paths.identity}\n`)
      : formatFileAdvice(options, paths),
  )
  stderr.write(formatNextCommands(options))
  return exitCodes.ok
}
