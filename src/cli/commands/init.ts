import { dirname } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { readCluster } from '../../spec/read-cluster.ts'
import { dnsLabel } from '../../spec/scalars.ts'
import { newestKubernetes } from '../../spec/versions.ts'
import {
  type CommandDefinition,
  type Context,
  type ExitCode,
  exitCodes,
  type Invocation,
} from '../command.ts'
import { keepingAdvice, nextCommands } from '../init/advice.ts'
import { exampleFile } from '../init/example-file.ts'
import { firstFile } from '../init/cluster-draft.ts'
import { addHost, hostFlag } from '../init/host-flag.ts'
import { interview } from '../init/prompt-cluster-file.ts'
import { findIdentity, type IdentityState, makeIdentity } from '../init/identity-files.ts'
import { translate } from '../init/translate.ts'
import { loadCluster } from '../load-cluster.ts'
import { findingText, print } from '../print.ts'
import { whomToAsk } from '../prompts.ts'

const flags = z.object({
  name: z.string().optional(),
  host: z.array(hostFlag).optional(),
  fromRke: z.string().optional(),
  defaults: z.boolean().optional(),
})
type Flags = z.infer<typeof flags>
type Options = Invocation['options']

export const init: CommandDefinition = {
  examples: [
    ['hyperkube init', 'asks; or makes the identity for a cluster.yml that is there'],
    ['hyperkube init --host root@192.168.1.11=control-plane', 'a cluster of one machine'],
    ['hyperkube init --name shop --host 10.0.0.1=control-plane --host 10.0.0.2=worker', 'and of two'],
    ['hyperkube init --from-rke rke/cluster.yml', 'what a cluster.yml of RKE1 says, and what became of it'],
    ['hyperkube init --defaults', 'this machine as a cluster, to look at and change'],
  ],
  identity: true,
  configure(command) {
    command
      .option('--name <name>', 'the cluster’s name (default: "cluster")', nameFlag)
      .option('--host <[user@]address=role[,role]>', 'a machine and what it is for; once for each', addHost)
      .addOption(
        new Option('--from-rke <file>', 'translate a cluster.yml of RKE1').conflicts(['name', 'host']),
      )
      .addOption(new Option('--defaults', 'write an example of one machine').conflicts(['host', 'fromRke']))
  },
  async run(context, { options }) {
    const wish = flags.parse(options)
    if (!(await context.exists(options.file))) return newCluster(context, options, wish)
    if (Object.values(wish).every((value) => value === undefined)) return identityOnly(context, options)
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `${options.file} exists already`, {
      hint: 'it is never overwritten; -f names another, and hyperkube init alone makes the identity for it',
    })
  },
}

function nameFlag(text: string): string {
  const parsed = dnsLabel.safeParse(text)
  if (!parsed.success) throw new InvalidArgumentError(parsed.error.issues[0]?.message ?? '')
  return parsed.data
}

async function newCluster(context: Context, options: Options, wish: Flags): Promise<ExitCode> {
  const { file } = options
  if (!(await context.exists(dirname(file)))) {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `the directory of ${file} does not exist`, {
      hint: `mkdir -p ${dirname(file)}`,
    })
  }
  const text = await firstText(context, options, wish)
  if (typeof text === 'number') return text
  const { cluster, findings } = readCluster({ file, text })
  for (const finding of findings) context.stderr.write(findingText(finding))
  if (cluster === undefined) return exitCodes.failure

  const state = await findIdentity(context, options, cluster.metadata.name)
  const made = await makeIdentity(context, options, state)
  await context.createFile(file, text, 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `${file} could not be written`, {
      hint: `${state.paths.identity} and its key are there; the same command goes on`,
      cause,
    })
  })
  return finish(context, options, state, [...made, file])
}

/** Where the file comes from; an exit code when there is none. */
async function firstText(context: Context, options: Options, wish: Flags): Promise<string | ExitCode> {
  const { name = 'cluster', host: hosts, fromRke, defaults } = wish
  if (fromRke !== undefined) return (await translate(context, fromRke)) ?? exitCodes.failure
  if (defaults === true) return exampleFile(name)
  if (hosts !== undefined) return firstFile({ name, kubernetes: newestKubernetes, hosts })
  const questions = whomToAsk(context, options)
  if (questions !== undefined) {
    return (await interview(context, options, questions, wish.name)) ?? exitCodes.failure
  }
  context.stderr.write('USAGE: what shall be in the cluster? There is nobody to ask\n')
  context.stderr.write(
    '  → --host root@192.168.1.11=control-plane for each machine, --from-rke FILE, or --defaults\n',
  )
  return exitCodes.usage
}

/** For a file that somebody wrote by hand, or that is there from a former init. */
async function identityOnly(context: Context, options: Options): Promise<ExitCode> {
  const { cluster, findings } = await loadCluster(context, options.file)
  for (const finding of findings) context.stderr.write(findingText(finding))
  if (cluster === undefined) return exitCodes.failure
  const state = await findIdentity(context, options, cluster.metadata.name)
  const made = await makeIdentity(context, options, state)
  if (made.length > 0) {
    context.stderr.write(
      printable(
        `${state.paths.identity} makes this a new cluster; a cluster that runs already has another\n`,
      ),
    )
  }
  return finish(context, options, state, made)
}

function finish(
  { stdout, stderr }: Context,
  options: Options,
  { paths }: IdentityState,
  files: readonly string[],
): ExitCode {
  const document = { apiVersion: 'hyperkube.dev/v1', kind: 'FileList', items: files }
  print(stdout, options.output, document, () => printable(files.map((file) => `${file}\n`).join('')))
  stderr.write(
    files.length === 0
      ? printable(`nothing to do: ${options.file} is there, and ${paths.key} opens ${paths.identity}\n`)
      : keepingAdvice(options, paths),
  )
  stderr.write(nextCommands(options))
  return exitCodes.ok
}
