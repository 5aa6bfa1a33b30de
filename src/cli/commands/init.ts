import { InvalidArgumentError, Option } from 'commander'
import { stringify } from 'yaml'
import { z } from 'zod'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import { role } from '../../spec/host.ts'
import { readCluster } from '../../spec/read.ts'
import { readRke1 } from '../../spec/rke1/read.ts'
import { countVerdicts, type KeyReport, reportLine, type Verdict, verdicts } from '../../spec/rke1/report.ts'
import { newestKubernetes } from '../../spec/versions.ts'
import { type CommandDefinition, type Context, type ExitCode, exitCodes } from '../command.ts'
import { findingText } from '../print.ts'
import { readSource } from '../source.ts'

const hostFlag = z.object({ user: z.string().optional(), address: z.string(), roles: z.array(role) })
type HostFlag = z.infer<typeof hostFlag>

const flags = z.object({ name: z.string(), host: z.array(hostFlag), fromRke: z.string().optional() })

export const init: CommandDefinition = {
  examples: [
    ['hyperkube init --host root@192.168.1.11=control-plane', 'a cluster of one machine'],
    ['hyperkube init --name shop --host 10.0.0.1=control-plane --host 10.0.0.2=worker', 'and of two'],
    ['hyperkube init --from-rke rke/cluster.yml', 'what a cluster.yml of RKE1 says, and what became of it'],
  ],
  configure(command) {
    command
      .option('--name <name>', 'the cluster’s name', 'cluster')
      .option(
        '--host <[user@]address=role[,role]>',
        'a machine and what it is for; once for each',
        addHost,
        [],
      )
      .addOption(
        new Option('--from-rke <file>', 'translate a cluster.yml of RKE1').conflicts(['name', 'host']),
      )
  },
  async run(context, { options }) {
    const { name, host, fromRke } = flags.parse(options)
    return fromRke === undefined
      ? writeCluster(context, options.file, firstFile(name, host))
      : translate(context, fromRke, options.file)
  },
}

/** Writes a new file, unless something is wrong with what would be in it. */
async function writeCluster(context: Context, file: string, text: string): Promise<ExitCode> {
  const { cluster, findings } = readCluster({ file, text })
  for (const finding of findings) context.stderr.write(findingText(finding))
  if (cluster === undefined) return exitCodes.failure
  await context.createFile(file, text, 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('SPEC_NOT_WRITTEN', `${file} could not be written`, {
      hint: 'an existing file is never overwritten; -f names another',
      cause,
    })
  })
  context.stdout.write(`${file}\n`)
  context.stderr.write(`wrote ${file}; commit it\n  → hyperkube validate -f ${file}\n`)
  return exitCodes.ok
}

const headings: Readonly<Record<Verdict, string>> = {
  mapped: 'mapped: it has a place in the new file',
  dropped: 'dropped: hyperkube needs no such setting',
  unsupported: 'unsupported: you must decide',
  unknown: 'unknown: no key of RKE1',
}

async function translate(context: Context, from: string, to: string): Promise<ExitCode> {
  const { cluster, report, findings } = readRke1(await readSource(context, from))
  for (const verdict of verdicts) context.stderr.write(group(report, verdict))
  for (const finding of findings) context.stderr.write(findingText(finding))
  if (report.length > 0) context.stderr.write(`${totals(report)}\n`)
  return cluster === undefined ? exitCodes.failure : writeCluster(context, to, stringify(cluster))
}

function group(report: readonly KeyReport[], verdict: Verdict): string {
  const lines = report.filter((key) => key.verdict === verdict).map((key) => `  ${reportLine(key)}\n`)
  return lines.length === 0 ? '' : printable(`${headings[verdict]}\n${lines.join('')}\n`)
}

function totals(report: readonly KeyReport[]): string {
  const counts = countVerdicts(report)
  return verdicts.map((verdict) => `${counts[verdict]} ${verdict}`).join(', ')
}

function addHost(text: string, hosts: readonly HostFlag[]): readonly HostFlag[] {
  const [, user, address, names] = /^(?:([^@=]+)@)?([^@=]+)=(.+)$/.exec(text) ?? []
  if (address === undefined || names === undefined) {
    throw new InvalidArgumentError('write it as root@192.168.1.11=control-plane')
  }
  const roles = names.split(',').map((name) => {
    const parsed = role.safeParse(name)
    if (!parsed.success) throw new InvalidArgumentError(`a role is one of ${role.options.join(', ')}`)
    return parsed.data
  })
  return [...hosts, { user, address, roles }]
}

/** Names hosts by what they are for: cp1, cp2, etcd1, w1. */
function firstFile(name: string, hosts: readonly HostFlag[]): string {
  const counts = new Map<string, number>()
  const named = hosts.map(({ user, address, roles }) => {
    const prefix = roles.includes('control-plane') ? 'cp' : roles.includes('etcd') ? 'etcd' : 'w'
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return { name: `${prefix}${count}`, address, roles, ...(user === undefined ? {} : { ssh: { user } }) }
  })
  return stringify({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Cluster',
    metadata: { name },
    spec: { kubernetes: newestKubernetes, hosts: named },
  })
}
